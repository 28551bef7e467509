//! The places of a shard's cases among all cases.

use serde::{Deserialize, Serialize};

/// The places of a shard's cases among all cases of the benchmark, from 0, ascending.
///
/// In JSON a text of places that count from 1, with runs of places joined: `1 4-6 9`. A manifest is printed with one element of a list in
/// a line, which would be too long for a large benchmark.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Places(Vec<usize>);

impl Places {
    /// Adds a place behind the last one.
    pub(super) fn add(&mut self, place: usize) {
        self.0.push(place);
    }

    /// The places, ascending, from 0.
    pub fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        self.0.iter().copied()
    }
}

impl From<Places> for String {
    fn from(Places(places): Places) -> Self {
        let runs = places.chunk_by(|one, next| one + 1 == *next);
        let runs = runs.map(|run| match run {
            [first, .., last] => format!("{}-{}", first + 1, last + 1),
            _ => (run[0] + 1).to_string(),
        });
        runs.collect::<Vec<_>>().join(" ")
    }
}

impl TryFrom<String> for Places {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        /// No benchmark has more cases than this; a damaged text must not take all memory.
        const MOST: usize = 100_000_000;
        let mut places = Vec::new();
        for run in text.split_whitespace() {
            let (first, last) = run.split_once('-').unwrap_or((run, run));
            let first: Option<usize> = first.parse().ok();
            let last: Option<usize> = last.parse().ok();
            let (Some(first), Some(last)) = (first, last) else {
                return Err(format!("`{run}` in `places` is not a place"));
            };
            // The last place, counted from 1.
            let before = places.last().map_or(0, |last| last + 1);
            if first <= before || last < first || last > MOST {
                return Err(format!(
                    "`{run}` in `places` is not behind the place before it"
                ));
            }
            places.extend(first - 1..last);
        }
        Ok(Self(places))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Vec<usize>, String> {
        Places::try_from(text.to_owned()).map(|places| places.0)
    }

    #[test]
    fn places_are_written_and_read_alike() {
        for (places, text) in [
            (vec![], ""),
            (vec![0], "1"),
            (vec![0, 3, 4, 5, 8], "1 4-6 9"),
            (vec![1, 2], "2-3"),
        ] {
            assert_eq!(String::from(Places(places.clone())), text);
            assert_eq!(read(text).unwrap(), places);
        }
    }

    #[test]
    fn other_texts_are_refused() {
        for text in [
            "0",
            "2 1",
            "1 1",
            "3-2",
            "1-3 3",
            "x",
            "1-",
            "1-99999999999",
        ] {
            assert!(read(text).is_err(), "{text}");
        }
    }
}
