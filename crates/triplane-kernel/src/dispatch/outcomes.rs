//! What the handlers of one emission came to, while they come to it.

use std::convert::Infallible;
use std::time::Duration;

use tokio::time::Instant;

use crate::dispatch::outcome::HandlerOutcome;

/// Outcomes by their place in the roster.
///
/// While every handler returns a value, in the order of registration, the place of a value is its
/// index and nothing else is kept: a report of `()` allocates nothing.
pub(crate) struct Outcomes<T> {
    pub(crate) values: Vec<T>,
    rest: Option<Box<Rest>>,
}

/// What is kept once something else happened, or when handlers are timed.
#[derive(Default)]
struct Rest {
    /// The places beside the values; `None` while they are the indices.
    places: Option<Vec<usize>>,
    others: Vec<(usize, Other)>,
    /// The others that the error around the report raises, by index.
    raised: Vec<usize>,
    deadline_exceeded: bool,
    clocks: Option<Clocks>,
}

/// An outcome that is not a value. Values stand apart, since an outcome is as large as the largest
/// failure.
pub(crate) type Other = HandlerOutcome<Infallible>;

/// How long handlers take, by place.
#[derive(Default)]
struct Clocks {
    running: Vec<(usize, Instant)>,
    took: Vec<(usize, Duration)>,
}

impl<T> Outcomes<T> {
    /// Nothing yet, with room for the values of this many handlers.
    #[inline]
    pub(crate) fn new(handlers: usize, timed: bool) -> Self {
        Self {
            values: Vec::with_capacity(handlers),
            rest: timed.then(|| Box::new(Rest::with_clocks())),
        }
    }

    /// Starts the clock of a handler. Asked only of outcomes that are timed.
    #[cold]
    pub(crate) fn began(&mut self, at: usize) {
        if let Some(clocks) = self.rest_mut().clocks.as_mut() {
            clocks.running.push((at, Instant::now()));
        }
    }

    #[inline]
    pub(crate) fn value(&mut self, at: usize, value: T) {
        if self.rest.is_some() || at != self.values.len() {
            self.irregular(at);
        }
        self.values.push(value);
    }

    #[cold]
    fn irregular(&mut self, at: usize) {
        let values = self.values.len();
        let rest = self.rest_mut();
        rest.stop_clock(at);
        if at != values || rest.places.is_some() {
            let indices = || (0..values).collect();
            rest.places.get_or_insert_with(indices).push(at);
        }
    }

    pub(crate) fn note(&mut self, at: usize, outcome: HandlerOutcome<T>) {
        let other = match outcome.split() {
            Ok(value) => return self.value(at, value),
            Err(other) => other,
        };
        let rest = self.rest_mut();
        rest.stop_clock(at);
        rest.others.push((at, other));
    }

    pub(crate) fn deadline_ran_out(&mut self) {
        self.rest_mut().deadline_exceeded = true;
    }

    fn rest_mut(&mut self) -> &mut Rest {
        self.rest.get_or_insert_default()
    }

    /// Puts what came in the order of time into the order of registration.
    #[inline]
    pub(crate) fn sorted(mut self) -> Self {
        if self.rest.is_some() {
            self.sort_rest();
        }
        // Part by part: the number of values has just been written, and reading it together with
        // what stands beside it waits for that write.
        let Self { values, rest } = self;
        Self { values, rest }
    }

    #[cold]
    fn sort_rest(&mut self) {
        let Some(rest) = &mut self.rest else { return };
        rest.others.sort_unstable_by_key(|(at, _)| *at);
        if let Some(places) = &mut rest.places
            && !places.is_sorted()
        {
            let values = std::mem::take(&mut self.values);
            let mut pairs: Vec<_> = std::mem::take(places).into_iter().zip(values).collect();
            pairs.sort_unstable_by_key(|(at, _)| *at);
            (*places, self.values) = pairs.into_iter().unzip();
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.values.len() + self.others().len()
    }

    /// Places and values, in the order of registration once sorted.
    pub(crate) fn values(&self) -> impl Iterator<Item = (usize, &T)> {
        let places = self.rest.as_ref().and_then(|rest| rest.places.as_ref());
        let place = move |index| places.map_or(index, |places: &Vec<usize>| places[index]);
        let values = self.values.iter().enumerate();
        values.map(move |(index, value)| (place(index), value))
    }

    /// Places and outcomes that are no values, in the order of registration once sorted.
    pub(crate) fn others(&self) -> &[(usize, Other)] {
        self.rest.as_ref().map_or(&[], |rest| &rest.others)
    }

    /// Those of the others that are raised.
    pub(crate) fn raised(&self) -> impl ExactSizeIterator<Item = &(usize, Other)> {
        let raised: &[usize] = self.rest.as_ref().map_or(&[], |rest| &rest.raised);
        raised.iter().map(|index| &self.others()[*index])
    }

    pub(crate) fn deadline_exceeded(&self) -> bool {
        self.rest
            .as_ref()
            .is_some_and(|rest| rest.deadline_exceeded)
    }

    /// How long the handler took, if handlers are timed and it was called and has answered.
    pub(crate) fn took(&self, at: usize) -> Option<Duration> {
        let clocks = self.rest.as_ref()?.clocks.as_ref()?;
        let (_, took) = clocks.took.iter().find(|(place, _)| *place == at)?;
        Some(*took)
    }

    /// The same without the values, raising those at these places.
    pub(crate) fn raising(mut self, places: &[usize]) -> Outcomes<()> {
        let rest = self.rest_mut();
        let raised = |index: &usize| places.contains(&rest.others[*index].0);
        rest.raised = (0..rest.others.len()).filter(raised).collect();
        Outcomes {
            values: vec![(); self.values.len()],
            rest: self.rest,
        }
    }
}

impl Rest {
    #[cold]
    fn with_clocks() -> Self {
        Self {
            clocks: Some(Clocks::default()),
            ..Self::default()
        }
    }

    fn stop_clock(&mut self, at: usize) {
        let Some(clocks) = &mut self.clocks else {
            return;
        };
        // The last that was started is nearly always the first to stop.
        if let Some(index) = clocks.running.iter().rposition(|(place, _)| *place == at) {
            let (_, began) = clocks.running.swap_remove(index);
            clocks.took.push((at, began.elapsed()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(places: &[usize], written_down: bool) {
        let mut outcomes = Outcomes::new(places.len(), false);
        for &at in places {
            outcomes.value(at, at * 10);
        }
        let outcomes = outcomes.sorted();
        let mut wanted = places.to_vec();
        wanted.sort_unstable();
        let wanted: Vec<_> = wanted.into_iter().map(|at| (at, at * 10)).collect();
        let got: Vec<_> = outcomes.values().map(|(at, value)| (at, *value)).collect();
        assert_eq!(got, wanted);
        assert_eq!(outcomes.rest.is_some(), written_down, "{places:?}");
    }

    #[test]
    fn places_are_written_down_only_when_they_are_not_the_indices() {
        check(&[], false);
        check(&[0, 1, 2], false);
        check(&[1, 2], true);
        check(&[0, 2, 3], true);
        check(&[2, 0, 1], true);
        check(&[0, 1, 5, 3], true);
    }
}
