//! The closed vocabulary of ADR-0120 D2, with its wire strings.

use std::fmt;

use serde::{Deserialize, Serialize};

macro_rules! axis {
    ($(#[$doc:meta])* $axis:ident { $($(#[$value_doc:meta])* $value:ident = $wire:literal),+ $(,)? }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
        pub enum $axis {
            $($(#[$value_doc])* #[serde(rename = $wire)] $value,)+
        }

        #[allow(deprecated, reason = "the vocabulary holds the deprecated value too")]
        impl $axis {
            /// Every value, in the order of the record.
            pub const ALL: &'static [Self] = &[$(Self::$value),+];

            /// The wire string.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$value => $wire),+ }
            }
        }

        impl fmt::Display for $axis {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.as_str())
            }
        }
    };
}

axis! {
    /// How a call of an interceptor ends: the kind of a [`Decision`](crate::Decision), without its
    /// content.
    InterceptorDisposition {
        /// Ask the next.
        Continue = "continue",
        /// Ask nobody further; the operation may happen.
        Stop = "stop",
        /// Ask nobody further; the operation must not happen.
        Deny = "deny",
    }
}

axis! {
    /// Whether the handlers of a phase run one after the other or beside each other.
    DispatchConcurrency {
        /// The next is called when the one before has answered.
        Sequential = "sequential",
        /// All are called, in the order of registration, before any is waited for.
        Concurrent = "concurrent",
    }
}

axis! {
    /// What an ordinary failure of a handler means for the emission.
    DispatchFailure {
        /// The failure leaves the emission as its error.
        Propagate = "propagate",
        /// Failures are kept until the stage has completed, and then surfaced.
        Collect = "collect",
        /// A failure stays with its handler.
        Isolate = "isolate",
    }
}

axis! {
    /// Where handlers that are declared sync run.
    SyncHandlerMode {
        /// In the emission itself.
        Inline = "inline",
        /// Through the dispatcher's [`Offload`](crate::Offload).
        Offload = "offload",
    }
}

axis! {
    /// When a stage is complete.
    CompletionTiming {
        /// When every handler has answered.
        AwaitAll = "await_all",
        /// At the first failure: no further handler is called.
        StopOnFailure = "stop_on_failure",
        /// At the first failure: the handlers that still run are cancelled.
        CancelRemainingOnFailure = "cancel_remaining_on_failure",
        /// At the deadline at the latest: what still runs goes on without the emission, owned by
        /// the dispatcher, as far as the dispatcher has room.
        DetachBounded = "detach_bounded",
    }
}

axis! {
    /// In which form the failures of a stage reach the emitter.
    ErrorSurface {
        /// As entries of the report.
        ReturnReport = "return_report",
        /// The first one is the error.
        RaiseFirst = "raise_first",
        /// All of them are one error, even when there is one.
        RaiseGroup = "raise_group",
        /// One is the error itself, several are one error.
        UnwrapSingleElseGroup = "unwrap_single_else_group",
        /// As entries of the report, and in the log.
        LogOnly = "log_only",
    }
}

axis! {
    /// What a handler's own cancellation means for the emission. A fatal failure follows this axis
    /// too: like a cancellation it is no ordinary failure.
    HandlerCancellation {
        /// It ends the emission as a cancellation; handlers that still run are cancelled.
        Propagate = "propagate",
        /// The others go on; in the end it is raised as [`DispatchError::HandlerCancelled`], with
        /// ordinary failures as its cause.
        ///
        /// [`DispatchError::HandlerCancelled`]: crate::DispatchError::HandlerCancelled
        Translate = "translate",
        /// It is kept beside the failures.
        Collect = "collect",
    }
}

axis! {
    /// What happens when the shared deadline of a phase runs out. In each case the handlers that
    /// still run are stopped, or let go, and later phases do not run.
    DeadlineDisposition {
        /// The emission answers [`DispatchError::DeadlineExceeded`](crate::DispatchError::DeadlineExceeded).
        Raise = "raise",
        /// The emission answers its report, which says so.
        ReturnReport = "return_report",
        /// The same, and it is logged.
        LogAndStop = "log_and_stop",
        /// The same as `ReturnReport` for the kernel; the record keeps it apart for owners whose
        /// callers are told nothing.
        SilentStop = "silent_stop",
    }
}

axis! {
    /// What an ordinary failure of a predicate means.
    PredicateFailure {
        /// It ends the emission as its error.
        Propagate = "propagate",
        /// It counts as a failure of the handler, which is not called.
        CollectAsHandlerFailure = "collect_as_handler_failure",
        /// It is logged, and the registration does not match.
        NoMatch = "no_match",
        /// It is logged and stays in the report; the handler is not called.
        Isolate = "isolate",
    }
}

axis! {
    /// What tells a handler that must be awaited from one that need not.
    HandlerClassification {
        /// Its declaration.
        ByDeclaration = "by_declaration",
        /// What it returned.
        ByReturnValue = "by_return_value",
    }
}

axis! {
    /// Which returned values are taken for awaitables.
    ReturnedValueClassifier {
        /// Everything that can be awaited.
        InspectAwaitable = "inspect_awaitable",
        /// Only [`AwaitableKind::Coroutine`](crate::AwaitableKind::Coroutine).
        AsyncioCoroutineOnly = "asyncio_coroutine_only",
        /// None: a returned awaitable is a value like others.
        NotInspected = "not_inspected",
    }
}

axis! {
    /// What is done with an awaitable that a handler returned.
    ReturnedAwaitableDisposition {
        /// It is awaited in the handler's turn.
        AwaitInInvocation = "await_in_invocation",
        /// It is kept until all handlers have been called; then all are awaited beside each other.
        GatherAfterInvocations = "gather_after_invocations",
        /// It is dropped: its work never runs.
        #[deprecated(note = "work that a handler returned is dropped unrun; await it, or reject it")]
        DiscardUnawaited = "discard_unawaited",
        /// It is a failure of the handler.
        Reject = "reject",
    }
}

axis! {
    /// Whether an owner that cannot wait may emit.
    SyncEntryPolicy {
        /// It may not.
        Unavailable = "unavailable",
        /// It may; a handler that answers later has failed.
        Allow = "allow",
        /// It may, unless a registration is declared async, which
        /// [`preflight_sync`](crate::FanoutDispatcher::preflight_sync) says before the owner acts.
        RejectDeclaredAsyncBeforeOwnerEffect = "reject_declared_async_before_owner_effect",
    }
}

axis! {
    /// Which registrations a phase calls.
    PhaseSelector {
        /// All.
        All = "all",
        /// Those that are declared sync.
        DeclaredSync = "declared_sync",
        /// Those that are declared async.
        DeclaredAsync = "declared_async",
    }
}

/// How a handler is declared. What is made of the declaration, the policy says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Declared {
    /// A plain function.
    Sync,
    /// A function whose answer is awaited.
    Async,
}

impl PhaseSelector {
    /// Whether the selector takes handlers of this declaration.
    pub const fn selects(self, declared: Declared) -> bool {
        matches!(
            (self, declared),
            (Self::All, _)
                | (Self::DeclaredSync, Declared::Sync)
                | (Self::DeclaredAsync, Declared::Async)
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wire_strings_are_what_serde_reads_and_writes() {
        for timing in CompletionTiming::ALL {
            let wire = serde_json::to_string(timing).unwrap();
            assert_eq!(wire, format!("\"{timing}\""));
            assert_eq!(
                serde_json::from_str::<CompletionTiming>(&wire).unwrap(),
                *timing
            );
        }
        assert!(serde_json::from_str::<CompletionTiming>("\"AWAIT_ALL\"").is_err());
        let words: Vec<_> = InterceptorDisposition::ALL
            .iter()
            .map(|d| d.as_str())
            .collect();
        assert_eq!(words, ["continue", "stop", "deny"]);
    }
}
