//! What every commit participant keeps, whatever it stages.

use std::collections::HashSet;
use std::path::Path;

use triplane_state::commit::{CommitParticipant, PendingFact};
use triplane_state::{Committed, StateError, Store, StoreOptions};

use crate::suite::fact::Refuses;

/// Holds `participant` against its contract, over a store that is made at `path`.
///
/// 1. Its name says who it is, and stays the same.
/// 2. What it stages can be committed, for every one of `facts`, and no public id comes twice.
/// 3. A unit that is dropped leaves nothing of it, and neither does one that another participant
///    refuses.
/// 4. A fact that is told again stages nothing new.
///
/// # Panics
///
/// When the participant breaks one of these; the message says which.
///
/// # Cancel safety
///
/// Dropping the future ends the check; the store at `path` is left behind.
pub async fn check(
    participant: &dyn CommitParticipant,
    facts: impl Fn() -> Vec<PendingFact>,
    path: &Path,
) {
    let name = participant.name().to_owned();
    assert!(!name.trim().is_empty(), "a participant has a name");
    assert_eq!(participant.name(), name, "a participant keeps its name");
    let store = Store::open(StoreOptions::new(path))
        .await
        .expect("a store at the path");
    for fact in facts() {
        let mut unit = store.begin(fact.clone());
        unit.stage(participant)
            .unwrap_or_else(|error| panic!("{name}: {error}"));
        drop(unit);
        let mut unit = store.begin(fact);
        unit.stage(participant)
            .unwrap_or_else(|error| panic!("{name}: {error}"));
        let refused = unit.stage(&Refuses);
        assert!(matches!(refused, Err(StateError::Stage(_))), "{refused:?}");
        assert!(
            unit.commit().await.is_err(),
            "a refused unit is not committed"
        );
    }
    let stats = store.stats().await.expect("counts");
    assert_eq!(
        (
            stats.operations,
            stats.audits,
            stats.signals,
            stats.intents.total()
        ),
        (0, 0, 0, 0),
        "{name} leaves something of a unit that was not committed"
    );
    let mut ids = HashSet::new();
    for fact in facts() {
        let key = fact.identity.key.clone();
        let mut unit = store.begin(fact);
        let refs = unit
            .stage(participant)
            .unwrap_or_else(|error| panic!("{name}: {key}: {error}"));
        for id in refs.ids {
            assert!(ids.insert(id), "{name}: {key}: the id {id} came before");
        }
        match unit.commit().await {
            Ok(Committed::Recorded(_)) => {}
            other => panic!("{name}: {key} cannot be committed: {other:?}"),
        }
    }
    let before = store.stats().await.expect("counts");
    for fact in facts() {
        let mut unit = store.begin(fact);
        unit.stage(participant)
            .unwrap_or_else(|error| panic!("{name}: {error}"));
        let again = unit.commit().await.expect("looks it up");
        assert!(
            matches!(again, Committed::AlreadyRecorded(_)),
            "{name}: told twice: {again:?}"
        );
    }
    assert_eq!(
        store.stats().await.expect("counts"),
        before,
        "{name}: told twice"
    );
    assert_eq!(
        store.check().await.expect("looks"),
        [],
        "{name}: the store contradicts itself"
    );
    store.close().await.expect("closes");
}
