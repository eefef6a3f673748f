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
    pub(crate) fn find(
        &self,
        text: &[u8],
        off: &[usize],
        scratch: &mut Scratch,
        found: &mut Vec<Found>,
    ) {
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
