use std::collections::HashSet;

use futures::future::join_all;

use crate::commit::{PendingFact, Repeat};
use crate::engine::commit::Committed;
use crate::engine::testing::{TestStore, fact, judgement, receipt};

/// Commits the facts in order and answers the identity that each was written under, or `-`.
async fn identities(facts: Vec<PendingFact>) -> Vec<String> {
    let one_by_one = {
        let test = TestStore::open().await;
        let mut written = Vec::new();
        for fact in facts.clone() {
            written.push(test.commit(fact).await);
        }
        written
    };
    // The same facts in one transaction must come out the same.
    let together = {
        let test = TestStore::open().await;
        let mut submitted = Vec::new();
        for fact in facts {
            submitted.push(test.unit(fact).submit().await.expect("submits"));
        }
        join_all(submitted)
            .await
            .into_iter()
            .map(|it| it.expect("commits"))
            .collect()
    };
    let names = |all: Vec<Committed>| -> Vec<String> {
        let name = |committed| match committed {
            Committed::Recorded(receipt) => receipt.identity().to_owned(),
            Committed::AlreadyRecorded(_) => "-".to_owned(),
        };
        all.into_iter().map(name).collect()
    };
    let one_by_one = names(one_by_one);
    assert_eq!(one_by_one, names(together));
    one_by_one
}

fn shaped(key: &str, digest: &str, shape: &str) -> PendingFact {
    let mut fact = fact(key, digest);
    fact.identity.shape = shape.to_owned();
    fact
}

fn judged(key: &str, digest: &str, decision: &str) -> PendingFact {
    let mut fact = fact(key, digest);
    fact.repeat = Repeat::SameContentAndJudgement;
    fact.judgement = Some(judgement(decision, None));
    fact
}

#[tokio::test]
async fn a_fact_that_is_told_again_is_not_written_again() {
    let told = vec![
        fact("k", "d1"),
        fact("k", "d1"),
        fact("k", "d2"),
        fact("k", "d2"),
        fact("k", "d1"),
    ];
    assert_eq!(identities(told).await, ["k", "-", "k#d2", "-", "-"]);
    let other_shape = vec![shaped("k", "d1", "hooks"), shaped("k", "d2", "transcript")];
    assert_eq!(identities(other_shape).await, ["k", "-"]);
}

#[tokio::test]
async fn another_judgement_of_the_same_content_is_another_fact_for_those_who_wait_for_it() {
    let told = vec![
        judged("k", "d1", "allowed"),
        judged("k", "d1", "allowed"),
        judged("k", "d1", "denied"),
        judged("k", "d1", "denied"),
        judged("k", "d2", "allowed"),
        judged("k", "d2", "denied"),
        judged("k", "d1", "allowed"),
    ];
    let written = identities(told).await;
    assert_eq!(written[0], "k");
    assert_eq!(written[1], "-");
    assert!(
        written[2].starts_with("k#") && written[2].len() == 66,
        "{written:?}"
    );
    assert_eq!(written[3], "-");
    assert_eq!(written[4], "k#d2");
    assert!(
        written[5].starts_with("k#") && written[5] != written[2],
        "{written:?}"
    );
    assert_eq!(written[6], "-");
}

#[tokio::test]
async fn how_units_are_grouped_changes_nothing() {
    // A small generator of its own (Knuth's constants): the same facts at every run.
    let mut state = 7_u64;
    let mut next = |below: u64| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % below
    };
    let mut told = Vec::new();
    for _ in 0..150 {
        let (key, digest) = (format!("k{}", next(5)), format!("d{}", next(3)));
        let mut fact = match next(2) {
            0 => fact(&key, &digest),
            _ => judged(
                &key,
                &digest,
                ["allowed", "denied"][usize::from(next(2) == 0)],
            ),
        };
        if next(8) == 0 {
            fact.identity.shape = "transcript".to_owned();
        }
        told.push(fact);
    }
    let written = identities(told).await;
    let new: Vec<_> = written.iter().filter(|identity| *identity != "-").collect();
    assert_eq!(
        new.len(),
        new.iter().collect::<HashSet<_>>().len(),
        "no identity comes twice"
    );
    assert!((10..75).contains(&new.len()), "{new:?}");
}

#[tokio::test]
async fn what_was_recorded_before_is_told_with_its_decision() {
    let test = TestStore::open().await;
    let first = receipt(test.commit(fact("k", "d")).await);
    let Committed::AlreadyRecorded(recorded) = test.commit(fact("k", "d")).await else {
        panic!("must be on record");
    };
    assert_eq!(recorded.operation, first.operation());
    assert_eq!(recorded.decision.as_deref(), Some("denied"));
    assert_eq!(recorded.rule.as_deref(), Some("rm.root"));
    assert_eq!(recorded.committed_at_us, first.committed_at_us());
}
