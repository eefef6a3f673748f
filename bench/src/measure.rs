//! How a case is measured: many short rounds, the case and its limit next to each other in each.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// Runs a subject this many times.
pub type Subject = Box<dyn FnMut(u64)>;

/// What is asked of a ratio.
#[derive(Debug, Clone, Copy)]
pub enum Bound {
    /// At most this many times the limit.
    Times(f64),
    /// At most this many nanoseconds and this many times the limit.
    Plus(f64, f64),
}

impl Bound {
    fn ratio(self, limit_ns: f64) -> f64 {
        match self {
            Self::Times(times) => times,
            Self::Plus(nanoseconds, times) => nanoseconds / limit_ns + times,
        }
    }
}

/// A subject beside its limit.
#[expect(missing_debug_implementations, reason = "a case is a pair of closures")]
pub struct Case {
    /// What is measured, and beside what.
    pub name: &'static str,
    /// How many handlers.
    pub n: usize,
    /// What is measured.
    pub subject: Subject,
    /// What it is measured beside.
    pub limit: Subject,
    /// What is wished for.
    pub goal: Bound,
    /// What is required.
    pub must: Bound,
}

/// What one case came to.
#[derive(Debug)]
#[expect(missing_docs, reason = "see the program's documentation")]
pub struct Row {
    pub case: &'static str,
    pub n: usize,
    pub ns: f64,
    pub limit_ns: f64,
    pub ratio: f64,
    pub goal: f64,
    pub must: f64,
}

impl Row {
    /// The row as one JSON object.
    pub fn json(&self, allocs: Option<u64>) -> Value {
        let round = |number: f64| (number * 1000.0).round() / 1000.0;
        json!({
            "case": self.case,
            "n": self.n,
            "ns": round(self.ns),
            "limit_ns": round(self.limit_ns),
            "ratio": round(self.ratio),
            "goal": round(self.goal),
            "must": round(self.must),
            "allocs": allocs,
        })
    }
}

const ROUNDS: usize = 61;
const SAMPLE: Duration = Duration::from_millis(1);

/// Measures cases interleaved: each is sampled once in every round.
pub fn measure(mut cases: Vec<Case>) -> Vec<Row> {
    let mut samples: Vec<Vec<(f64, f64)>> = vec![Vec::new(); cases.len()];
    let iterations: Vec<_> = cases
        .iter_mut()
        .map(|case| (calibrate(&mut case.subject), calibrate(&mut case.limit)))
        .collect();
    for round in 0..ROUNDS {
        for (index, case) in cases.iter_mut().enumerate() {
            let (subject_iterations, limit_iterations) = iterations[index];
            // Turned about, so that neither always finds the other's caches.
            let (subject, limit) = if round % 2 == 0 {
                let subject = sample(&mut case.subject, subject_iterations);
                (subject, sample(&mut case.limit, limit_iterations))
            } else {
                let limit = sample(&mut case.limit, limit_iterations);
                (sample(&mut case.subject, subject_iterations), limit)
            };
            samples[index].push((subject, limit));
        }
    }
    let rows = cases.into_iter().zip(samples).map(|(case, samples)| {
        let limit_ns = calm(samples.iter().map(|(_, limit)| *limit));
        let ns = calm(samples.iter().map(|(subject, _)| *subject));
        Row {
            case: case.name,
            n: case.n,
            ns,
            limit_ns,
            ratio: ns / limit_ns,
            goal: case.goal.ratio(limit_ns),
            must: case.must.ratio(limit_ns),
        }
    });
    rows.collect()
}

/// How many iterations fill one sample.
fn calibrate(subject: &mut Subject) -> u64 {
    let mut iterations = 1;
    loop {
        let began = Instant::now();
        subject(iterations);
        let took = began.elapsed();
        if took >= SAMPLE / 4 || iterations >= 1 << 24 {
            let scale = SAMPLE.as_secs_f64() / took.as_secs_f64().max(1e-9);
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                clippy::cast_precision_loss,
                reason = "an approximate count of iterations"
            )]
            return ((iterations as f64 * scale) as u64).max(1);
        }
        iterations *= 4;
    }
}

#[expect(clippy::cast_precision_loss, reason = "iterations are far below 2^52")]
fn sample(subject: &mut Subject, iterations: u64) -> f64 {
    let began = Instant::now();
    subject(iterations);
    began.elapsed().as_secs_f64() * 1e9 / iterations as f64
}

/// The tenth percentile: what the case costs when nothing else has the core. Above it a shared
/// machine measures its neighbours.
fn calm(samples: impl Iterator<Item = f64>) -> f64 {
    let mut samples: Vec<f64> = samples.collect();
    samples.sort_by(f64::total_cmp);
    samples[samples.len() / 10]
}
