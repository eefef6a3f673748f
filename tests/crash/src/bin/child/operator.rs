//! Consumers that acknowledge, and operators that retry, purge and copy.

use std::sync::PoisonError;

use triplane_referee::journal::Entry;
use triplane_state::{Acknowledgement, IntentSelection, OutboxStatus};

use crate::desk::{Desk, key};
use crate::destination::Destination;

impl Desk {
    /// Acknowledges everything that a token came for.
    pub(crate) async fn confirm(&self, destination: &Destination) -> anyhow::Result<()> {
        let tokens = std::mem::take(
            &mut *destination
                .tokens
                .lock()
                .unwrap_or_else(PoisonError::into_inner),
        );
        for (intent, token) in tokens {
            let wrong = self.store.acknowledge(&intent, "wrong").await?;
            anyhow::ensure!(
                !matches!(wrong, Acknowledgement::Acked { .. }),
                "a wrong token acknowledged {intent}"
            );
            let answer = self.store.acknowledge(&intent, &token).await;
            let answer = self.heed("an acknowledgement", answer)?;
            if let Some(Acknowledgement::Acked { .. } | Acknowledgement::Before) = answer {
                self.journal.write(&[Entry::Confirmed { intent }])?;
            }
        }
        Ok(())
    }

    /// Sends again what was given up.
    pub(crate) async fn send_again(&self) -> anyhow::Result<()> {
        let given_up = IntentSelection::new().status(OutboxStatus::DeadLetter);
        let retried = self.store.retry(given_up, Some("the campaign")).await;
        self.heed("a retry", retried)?;
        Ok(())
    }

    /// Takes away what was rejected and what was delivered to the file.
    pub(crate) async fn purge(&self) -> anyhow::Result<()> {
        self.journal.write(&[Entry::Purging])?;
        for selection in [
            IntentSelection::new().status(OutboxStatus::DeadLetter),
            IntentSelection::new()
                .status(OutboxStatus::Delivered)
                .sink("file"),
        ] {
            let purged = self.store.purge(selection, Some("the campaign")).await;
            if let Some(report) = self.heed("a purge", purged)? {
                let intents = report.intents;
                self.journal.write(&[Entry::Purged { intents }])?;
            }
        }
        Ok(())
    }

    /// Copies the store.
    pub(crate) async fn back_up(&self) -> anyhow::Result<()> {
        let to = self.folder.join(format!("{}.db", key("backup")?));
        let copied = self.store.backup(&to).await;
        if let Some(copy) = self.heed("a backup", copied)? {
            self.journal.write(&[Entry::BackedUp {
                path: copy.path.display().to_string(),
                signals: copy.signals,
            }])?;
        }
        Ok(())
    }
}
