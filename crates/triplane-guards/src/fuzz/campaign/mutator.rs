//! Inputs made of seeds, changed at random by fragments of their own language.

/// A small generator of numbers.
pub(super) struct Numbers(pub(super) u64);

impl Numbers {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % end as u64).unwrap()
    }
}

/// Changes seeds by fragments of their own language.
pub(super) struct Mutator {
    pub(super) seeds: Vec<Vec<u8>>,
    pub(super) fragments: &'static [&'static str],
    pub(super) numbers: Numbers,
}

impl Mutator {
    pub(super) fn next(&mut self) -> Vec<u8> {
        let numbers = &mut self.numbers;
        let mut input = self.seeds[numbers.below(self.seeds.len())].clone();
        for _ in 0..=numbers.below(6) {
            let at = numbers.below(input.len() + 1);
            match numbers.below(7) {
                0 | 1 => {
                    let count = match numbers.below(20) {
                        0 => 1 + numbers.below(3_000),
                        1..4 => 1 + numbers.below(100),
                        _ => 1 + numbers.below(4),
                    };
                    let fragment = self.fragments[numbers.below(self.fragments.len())];
                    input.splice(at..at, fragment.repeat(count).into_bytes());
                }
                2 => {
                    let end = (at + numbers.below(8)).min(input.len());
                    input.drain(at..end);
                }
                3 => {
                    let other = &self.seeds[numbers.below(self.seeds.len())];
                    input.splice(at..at, other.iter().copied());
                }
                4 => {
                    // A part of it, several times over.
                    let end = (at + numbers.below(24)).min(input.len());
                    let part = input[at..end].to_vec().repeat(1 + numbers.below(40));
                    input.splice(at..at, part);
                }
                5 if !input.is_empty() => {
                    let at = numbers.below(input.len());
                    input[at] = u8::try_from(numbers.below(256)).unwrap();
                }
                _ => {
                    // The beginning of one and the end of another.
                    let other = &self.seeds[numbers.below(self.seeds.len())];
                    let from = numbers.below(other.len() + 1);
                    input.truncate(at);
                    input.extend_from_slice(&other[from..]);
                }
            }
        }
        input.truncate(70_000);
        input
    }
}
