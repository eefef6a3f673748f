//! Finding secrets in one text: all literals in one pass, then the patterns of those that were met.

use std::ops::Range;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use aho_corasick::{AhoCorasick, AhoCorasickKind, MatchKind};

use crate::redaction::shape::{OPENING, Shape};

/// After this many bytes the literals are compiled once more, into a form that is dearer to build
/// and quicker to run: a hook call never gets there, a replay soon does.
const DENSE_AFTER_BYTES: usize = 256 << 10;

/// The longest text that stands in place of a secret: the opening, an id, the bracket.
const MARK_BYTES_MAX: usize = OPENING.len() + 65;

/// How much of the text around a secret is looked at once more, in bytes.
const TOUCHING_BYTES_MAX: usize = 512;

/// How many secrets that touch each other in a row are found one by one.
const ROUNDS_MAX: usize = 16;

/// A text shorter than this holds no secret of any shape.
const TEXT_BYTES_MIN: usize = 8;

/// The shapes of a policy, ready to be searched for.
#[derive(Debug)]
pub(crate) struct Scanner {
    shapes: Vec<Shape>,
    anchors: Vec<(usize, usize)>,
    sparse: AhoCorasick,
    dense: OnceLock<AhoCorasick>,
    scanned: AtomicUsize,
}

/// A secret in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Found {
    pub(crate) span: Range<usize>,
    /// The shape, or `None` for the text of a secret that was found elsewhere.
    pub(crate) shape: Option<usize>,
}

/// What a search needs, kept from one text to the next.
#[derive(Debug, Default)]
pub(crate) struct Scratch {
    /// Where the first literal of each shape stands.
    first: Vec<Option<usize>>,
    met: Vec<usize>,
}

impl Scanner {
    pub(crate) fn new(shapes: Vec<Shape>) -> Self {
        let anchors = shapes
            .iter()
            .enumerate()
            .flat_map(|(shape, it)| it.anchors.iter().map(move |anchor| (shape, anchor.len())))
            .collect();
        let sparse = literals(&shapes, AhoCorasickKind::NoncontiguousNFA);
        Self {
            shapes,
            anchors,
            sparse,
            dense: OnceLock::new(),
            scanned: AtomicUsize::new(0),
        }
    }

    pub(crate) fn id(&self, shape: usize) -> &str {
        &self.shapes[shape].id
    }

    pub(crate) fn position(&self, id: &str) -> Option<usize> {
        self.shapes.iter().position(|shape| shape.id == id)
    }

    /// Adds the secrets in `text` to `found`, but for those of shapes in `off`.
    ///
    /// Two secrets that run into each other hide each other's ends, so that a pattern sees only one
    /// of them. What touches a secret is therefore looked at once more, as the text that it is when
    /// that secret is gone.
    pub(crate) fn find(
        &self,
        text: &[u8],
        off: &[usize],
        scratch: &mut Scratch,
        found: &mut Vec<Found>,
    ) {
        let mut fresh = Vec::new();
        self.search(text, off, scratch, &mut fresh);
        for round in 0.. {
            let edges = Edges::of(text, found, &fresh);
            if round == ROUNDS_MAX {
                // So many in a row are no accident: what still touches goes with them.
                found.extend(edges.runs(text));
            }
            let touching = if round < ROUNDS_MAX {
                self.touching(text, &edges, off, scratch)
            } else {
                Vec::new()
            };
            found.append(&mut fresh);
            if touching.is_empty() {
                break;
            }
            fresh = touching;
        }
    }

    /// The secrets that end or begin exactly at one of the edges.
    fn touching(
        &self,
        text: &[u8],
        edges: &Edges,
        off: &[usize],
        scratch: &mut Scratch,
    ) -> Vec<Found> {
        let mut touching = Vec::new();
        let mut window = Vec::new();
        for &Edge { at, .. } in &edges.after {
            let end = text.len().min(at + TOUCHING_BYTES_MAX);
            self.search(&text[at..end], off, scratch, &mut window);
            let begins = window.drain(..).filter(|it| it.span.start == 0);
            touching.extend(begins.map(|it| Found {
                span: at..at + it.span.end,
                ..it
            }));
        }
        for &Edge { at, .. } in &edges.before {
            let start = at.saturating_sub(TOUCHING_BYTES_MAX);
            self.search(&text[start..at], off, scratch, &mut window);
            let ends = window.drain(..).filter(|it| start + it.span.end == at);
            touching.extend(ends.map(|it| Found {
                span: start + it.span.start..at,
                ..it
            }));
        }
        touching
    }

    fn search(&self, text: &[u8], off: &[usize], scratch: &mut Scratch, found: &mut Vec<Found>) {
        if text.len() < TEXT_BYTES_MIN {
            return;
        }
        let Scratch { first, met } = scratch;
        first.resize(self.shapes.len(), None);
        for hit in self.literals(text.len()).find_overlapping_iter(text) {
            let (shape, length) = self.anchors[hit.pattern().as_usize()];
            if first[shape].is_none() {
                first[shape] = Some(hit.end() - length);
                met.push(shape);
            }
        }
        for shape in met.drain(..) {
            let anchor = first[shape].take().unwrap_or_default();
            if off.contains(&shape) {
                continue;
            }
            self.shapes[shape].secrets(text, anchor, |span| {
                if !is_mark(text, &span) {
                    found.push(Found {
                        span,
                        shape: Some(shape),
                    });
                }
            });
        }
    }

    fn literals(&self, bytes: usize) -> &AhoCorasick {
        if let Some(dense) = self.dense.get() {
            return dense;
        }
        let before = self.scanned.fetch_add(bytes, Ordering::Relaxed);
        if before.saturating_add(bytes) < DENSE_AFTER_BYTES {
            return &self.sparse;
        }
        self.dense
            .get_or_init(|| literals(&self.shapes, AhoCorasickKind::DFA))
    }
}

/// Puts what was found in order, and makes one of those that overlap: the first lends its name.
pub(crate) fn merge(found: &mut Vec<Found>) {
    found.sort_unstable_by_key(|it| (it.span.start, std::cmp::Reverse(it.span.end), it.shape));
    found.dedup_by(|next, kept| {
        let overlaps = next.span.start < kept.span.end;
        if overlaps {
            kept.span.end = kept.span.end.max(next.span.end);
        }
        overlaps
    });
}

/// Where the text runs on from a secret that was just found into text that is none so far.
struct Edges {
    after: Vec<Edge>,
    before: Vec<Edge>,
}

struct Edge {
    at: usize,
    shape: Option<usize>,
}

impl Edges {
    fn of(text: &[u8], found: &[Found], fresh: &[Found]) -> Self {
        let mut starts: Vec<usize> = Vec::with_capacity(fresh.len());
        let mut ends: Vec<usize> = Vec::with_capacity(fresh.len());
        for Found { span, .. } in found.iter().chain(fresh) {
            starts.push(span.start);
            ends.push(span.end);
        }
        starts.sort_unstable();
        ends.sort_unstable();
        // A byte lies in a secret if more secrets begin at or before it than have ended by then.
        let is_free = |at: usize| {
            starts.partition_point(|&start| start <= at) == ends.partition_point(|&end| end <= at)
        };
        let edge = |at, found: &Found| Edge {
            at,
            shape: found.shape,
        };
        let after = fresh
            .iter()
            .filter(|it| joined(text, it.span.end) && is_free(it.span.end));
        let before = fresh
            .iter()
            .filter(|it| joined(text, it.span.start) && is_free(it.span.start - 1));
        Self {
            after: after.map(|it| edge(it.span.end, it)).collect(),
            before: before.map(|it| edge(it.span.start, it)).collect(),
        }
    }

    /// All that runs on from the edges.
    fn runs(&self, text: &[u8]) -> impl Iterator<Item = Found> {
        let after = self.after.iter().map(|&Edge { at, shape }| {
            let length = text[at..].iter().take_while(|&&byte| is_word(byte)).count();
            (at..at + length, shape)
        });
        let before = self.before.iter().map(|&Edge { at, shape }| {
            let run = text[..at].iter().rev().take_while(|&&byte| is_word(byte));
            (at - run.count()..at, shape)
        });
        after
            .chain(before)
            .map(|(span, shape)| Found { span, shape })
    }
}

/// Whether the text runs on across `at`: a pattern sees no end of a word there.
fn joined(text: &[u8], at: usize) -> bool {
    at > 0 && is_word(text[at - 1]) && text.get(at).is_some_and(|&byte| is_word(byte))
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'+' | b'/' | b'=')
}

fn literals(shapes: &[Shape], kind: AhoCorasickKind) -> AhoCorasick {
    let anchors = shapes.iter().flat_map(|shape| &shape.anchors);
    AhoCorasick::builder()
        .match_kind(MatchKind::Standard)
        .kind(Some(kind))
        .prefilter(false)
        .build(anchors.map(|anchor| anchor.as_bytes()))
        .expect("some hundred short literals make an automaton")
}

/// Whether the span is, or lies in, what stands in place of a secret.
fn is_mark(text: &[u8], span: &Range<usize>) -> bool {
    let opening = OPENING.as_bytes();
    if text[span.clone()].starts_with(opening) {
        return true;
    }
    let before = &text[span.start.saturating_sub(MARK_BYTES_MAX)..span.start];
    memchr::memmem::rfind(before, opening).is_some_and(|at| !before[at..].contains(&b']'))
}
