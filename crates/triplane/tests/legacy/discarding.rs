//! `docs/discard-unawaited.md` beside the code.

use std::collections::BTreeSet;

use futures::future::BoxFuture;
use triplane::HandlerFailure;
use triplane_kernel::policy::Declared;
use triplane_kernel::profile::{self, ProfileName, TERMINAL_BUDGET};
use triplane_kernel::{
    DispatchPolicy, FanoutDispatcher, Key, Keyed, Registration, RegistrationName, Scope,
    async_handler_fn, handler_fn,
};

use crate::page::{code, rows, sources, text};

struct Nothing;

impl Keyed for Nothing {
    fn keys(&self) -> impl Iterator<Item = Key> {
        std::iter::empty()
    }
}

/// The policy of a profile; the two of the hook bus are plans, which discard nothing.
fn policy(name: ProfileName) -> Option<DispatchPolicy> {
    match name {
        ProfileName::HookbusBlocking | ProfileName::HookbusObservational => None,
        ProfileName::Broadcaster => Some(profile::broadcaster()),
        ProfileName::SessionObserver => Some(profile::session_observer()),
        ProfileName::MessageAddedSync => Some(profile::message_added_sync()),
        ProfileName::MessageAddedAsync => Some(profile::message_added_async()),
        ProfileName::SchedulerSignalBus => Some(profile::scheduler_signal_bus()),
        ProfileName::TerminalCallbacks => Some(profile::terminal_callbacks(TERMINAL_BUDGET)),
    }
}

/// The registrations, one of each declaration, whose awaitables the policy discards.
fn discarded(policy: DispatchPolicy) -> Vec<String> {
    fn later<'a>(_: &'a Nothing, _: &'a Scope) -> BoxFuture<'a, Result<(), HandlerFailure>> {
        Box::pin(async { Ok(()) })
    }
    let name = |text| RegistrationName::new(text).expect("a name");
    let dispatcher = FanoutDispatcher::<Nothing, ()>::new(policy);
    let plain = handler_fn(|_: &Nothing| Ok(()));
    dispatcher.register(Registration::sync(name("sync"), plain));
    let awaited = async_handler_fn(later);
    let awaited = std::sync::Arc::new(awaited);
    dispatcher.register(Registration::new(name("async"), Declared::Async, awaited));
    let found = dispatcher.discarding();
    found
        .iter()
        .map(|one| one.name.as_str().to_owned())
        .collect()
}

#[test]
fn the_page_lists_every_profile_that_discards_and_no_other() {
    let page = text("docs/discard-unawaited.md");
    let mut listed = BTreeSet::new();
    for row in rows(&page) {
        let [place, what, flip, owner] = row.as_slice() else {
            panic!("a row has four cells: {row:?}");
        };
        listed.insert(code(place)[0].to_owned());
        assert!(!what.is_empty() && !flip.is_empty(), "{row:?}");
        assert!(!code(owner).is_empty(), "a row has an owner: {row:?}");
    }
    let mut discarding = BTreeSet::new();
    for name in ProfileName::ALL {
        let found = policy(*name).map(discarded).unwrap_or_default();
        // What is declared async is awaited in its turn, or refused before.
        assert!(!found.contains(&"async".to_owned()), "{}", name.as_str());
        if found.contains(&"sync".to_owned()) {
            discarding.insert(name.as_str().to_owned());
        }
    }
    assert_eq!(listed, discarding);
    for plain in [
        DispatchPolicy::isolated_in_order(),
        DispatchPolicy::raising_in_order(),
    ] {
        assert_eq!(discarded(plain), Vec::<String>::new());
    }
}

#[test]
fn nothing_else_asks_for_the_disposition() {
    let asks: BTreeSet<_> = sources()
        .into_iter()
        .filter(|(_, source)| source.contains("DiscardUnawaited"))
        .map(|(path, _)| {
            path.file_name()
                .expect("a name")
                .to_string_lossy()
                .into_owned()
        })
        .collect();
    // The vocabulary, its rules, what the kernel does for it, and the two profiles.
    let known = ["axes.rs", "phase.rs", "call.rs", "message_added.rs"];
    assert_eq!(asks, BTreeSet::from(known.map(str::to_owned)));
}
