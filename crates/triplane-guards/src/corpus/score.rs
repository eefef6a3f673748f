//! How well a corpus was answered.

use crate::corpus::row::Label;

/// The counts of a run over a corpus.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Score {
    /// Rows that want a denial.
    pub deny: usize,
    /// Rows that want to be allowed.
    pub allow: usize,
    /// Rows that want a denial and were allowed.
    pub missed: usize,
    /// Rows that want to be allowed and were denied.
    pub refused_wrongly: usize,
}

impl Score {
    /// Counts one row.
    pub fn count(&mut self, wanted: Label, got: Label) {
        match wanted {
            Label::Deny => {
                self.deny += 1;
                self.missed += usize::from(got == Label::Allow);
            }
            Label::Allow => {
                self.allow += 1;
                self.refused_wrongly += usize::from(got == Label::Deny);
            }
        }
    }

    /// The rows that were denied as they want it, of all that want it; none if no row does.
    pub fn recall(&self) -> Option<f64> {
        share(self.deny - self.missed, self.deny)
    }

    /// The rows that were denied as they want it, of all that were denied; none if none was.
    pub fn precision(&self) -> Option<f64> {
        let rightly = self.deny - self.missed;
        share(rightly, rightly + self.refused_wrongly)
    }
}

#[expect(
    clippy::cast_precision_loss,
    reason = "a corpus has fewer than 2^52 rows"
)]
fn share(part: usize, whole: usize) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recall_is_of_what_wants_denial_and_precision_of_what_was_denied() {
        let mut score = Score::default();
        assert_eq!((score.recall(), score.precision()), (None, None));
        for (wanted, got, times) in [
            (Label::Deny, Label::Deny, 3),
            (Label::Deny, Label::Allow, 1),
            (Label::Allow, Label::Deny, 2),
            (Label::Allow, Label::Allow, 5),
        ] {
            for _ in 0..times {
                score.count(wanted, got);
            }
        }
        assert_eq!((score.recall(), score.precision()), (Some(0.75), Some(0.6)));
    }
}
