//! The closed vocabulary of what a signal can say.

use serde::{Deserialize, Serialize};
use triplane_kernel::Key;

macro_rules! kinds {
    ($($(#[$doc:meta])* $kind:ident = $wire:literal in $family:literal),+ $(,)?) => {
        /// What happened. Wire strings are stable; see [`SignalKind::as_str`].
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
        #[non_exhaustive]
        pub enum SignalKind {
            $($(#[$doc])* #[serde(rename = $wire)] $kind,)+
        }

        impl SignalKind {
            /// Every kind, in order of declaration.
            pub const ALL: &'static [Self] = &[$(Self::$kind),+];

            /// The wire string, for example `operation.denied`.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$kind => $wire),+ }
            }

            /// The family that the kind belongs to, for example `operation`.
            pub const fn family(self) -> &'static str {
                match self { $(Self::$kind => $family),+ }
            }

            /// The key of the kind itself.
            pub const fn key(self) -> Key {
                Key::from_static(self.as_str())
            }

            /// The key of the kind's family: an observer under it hears every kind of the family.
            pub const fn family_key(self) -> Key {
                Key::from_static(self.family())
            }
        }
    };
}

kinds! {
    /// An operation was proposed and may happen; its caller waits for this answer.
    OperationAllowed = "operation.allowed" in "operation",
    /// An operation was proposed and may happen with other arguments.
    OperationRewritten = "operation.rewritten" in "operation",
    /// An operation was proposed and must not happen.
    OperationDenied = "operation.denied" in "operation",
    /// An operation that triplane performed came to its result.
    OperationSucceeded = "operation.succeeded" in "operation",
    /// An operation that triplane performed failed.
    OperationFailed = "operation.failed" in "operation",
    /// An operation that triplane performed was cancelled.
    OperationCancelled = "operation.cancelled" in "operation",
    /// A provider told of something that it did or saw. Never evidence of a permission.
    ProviderObserved = "provider.observed" in "provider",
}
