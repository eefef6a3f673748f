//! Many hooks at the same moment, on one store.

use crate::program::{Place, denial, shell_question, text};
use crate::rows::Rows;

const TOGETHER: usize = 64;

/// Starts every hook before the first is answered; half of them ask what is denied.
fn storm(place: &Place) {
    let questions: Vec<String> = (0..TOGETHER)
        .map(|n| shell_question(if n % 2 == 0 { "git status" } else { "rm -rf /" }))
        .collect();
    let asked: Vec<_> = questions
        .iter()
        .map(|question| place.ask(&["--timeout", "60s"], question.as_bytes()))
        .collect();
    for (n, child) in asked.into_iter().enumerate() {
        let output = child.wait_with_output().expect("the program answers");
        assert!(
            output.status.success(),
            "hook {n}: {}",
            text(&output.stderr)
        );
        let reason = denial(&output);
        assert_eq!(reason.is_some(), n % 2 == 1, "hook {n}: {reason:?}");
        if let Some(reason) = reason {
            assert!(!reason.contains("cannot judge"), "hook {n}: {reason}");
        }
    }
}

#[tokio::test]
async fn sixty_four_hooks_on_a_store_that_does_not_exist_yet() {
    let place = Place::new();
    storm(&place);
    let mut rows = Rows::open(&place.store()).await;
    assert_eq!(rows.count("operation").await, 64);
    assert_eq!(rows.count("outbox").await, 64);
}

#[tokio::test]
async fn sixty_four_hooks_on_a_warm_store() {
    let place = Place::new();
    let first = place.hook(&[], shell_question("true").as_bytes());
    assert!(first.status.success(), "{}", text(&first.stderr));
    storm(&place);
    let mut rows = Rows::open(&place.store()).await;
    assert_eq!(rows.count("operation").await, 65);
    assert_eq!(rows.count("signal_log").await, 65);
}
