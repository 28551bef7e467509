//! A shard as the command line names it: `2/8` is the second of eight.

use std::fmt;
use std::num::NonZeroU32;
use std::str::FromStr;

use super::places::Places;
use super::record::{ShardHeader, ShardRecord};

/// One of several parts of a benchmark's cases.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shard {
    /// From 1.
    index: NonZeroU32,
    of: NonZeroU32,
}

impl Shard {
    /// Removes the cases of the other shards. The order stays. Cases of one `unit`, such as a conversation, are in one shard.
    pub fn retain<T>(
        self,
        items: &mut Vec<T>,
        id: impl for<'t> Fn(&'t T) -> &'t str,
        unit: impl for<'t> Fn(&'t T) -> Option<&'t str>,
    ) -> ShardRecord {
        let shard = ShardHeader {
            index: self.index.get(),
            of: self.of.get(),
            cases: items.len(),
        };
        let all: Vec<&str> = items.iter().map(&id).collect();
        let ids = ShardRecord::digest(&all);
        let mut places = Places::default();
        let mut place = 0;
        items.retain(|item| {
            let is_taken = shard.takes(unit(item).unwrap_or(id(item)));
            if is_taken {
                places.add(place);
            }
            place += 1;
            is_taken
        });
        ShardRecord { shard, ids, places }
    }
}

impl FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wanted = "write a shard as `I/N`, e.g. `2/8` for the second of eight";
        let (index, of) = text.split_once('/').ok_or(wanted)?;
        let number = |text: &str| text.parse::<u32>().map_err(|_| wanted.to_owned());
        let (index, of) = (number(index)?, number(of)?);
        let of = NonZeroU32::new(of).ok_or("there has to be at least 1 shard")?;
        let index = NonZeroU32::new(index).ok_or("shards count from 1")?;
        if index > of {
            return Err(format!("there is no shard {index} of {of}"));
        }
        Ok(Self { index, of })
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}/{}", self.index, self.of)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(ids: &[&str], shard: &str) -> (String, ShardRecord) {
        let mut ids = ids.to_vec();
        let record = shard.parse::<Shard>().unwrap().retain(
            &mut ids,
            |id| id,
            |id| id.split_once('-').map(|(unit, _)| unit),
        );
        (ids.join(" "), record)
    }

    /// `printf a | sha256sum` begins with ca978112ca1bbdca, `b` with 3e23e8160039594a, `c` with 2e7d2c03a9507ae2 and `d` with
    /// 18ac3e7343f01689 (coreutils 9.1), so modulo 3 they are 1, 1, 2 and 2.
    #[test]
    fn the_shard_of_a_case_follows_from_its_digest() {
        let ids = ["a", "b", "c", "d"];
        assert_eq!(of(&ids, "1/3").0, "");
        assert_eq!(of(&ids, "2/3").0, "a b");
        assert_eq!(of(&ids, "3/3").0, "c d");
        let turns = ["a-1", "c-1", "a-2", "d"];
        assert_eq!(of(&turns, "2/3").0, "a-1 a-2");
        assert_eq!(of(&turns, "3/3").0, "c-1 d");
    }

    #[test]
    fn shards_share_no_case_and_leave_none_out() {
        let ids: Vec<String> = (0..1000).map(|number| format!("q{number}")).collect();
        let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
        let mut taken = vec![0; ids.len()];
        for index in 1..=7 {
            let (_, record) = of(&ids, &format!("{index}/7"));
            assert_eq!((record.shard.index, record.shard.of), (index, 7));
            assert_eq!(record.shard.cases, 1000);
            let own = record.places.iter().count();
            assert!((100..190).contains(&own), "{own} of 1000 in shard {index}");
            record.places.iter().for_each(|place| taken[place] += 1);
        }
        assert!(taken.iter().all(|&times| times == 1));
    }

    #[test]
    fn the_order_and_the_other_cases_do_not_matter() {
        let (taken, record) = of(&["b", "d", "a", "c"], "3/3");
        assert_eq!(taken, "d c");
        assert_eq!(record.places.iter().collect::<Vec<_>>(), [1, 3]);
    }

    #[test]
    fn what_is_no_shard_is_refused() {
        let error = |text: &str| text.parse::<Shard>().unwrap_err();
        assert_eq!(error("3/2"), "there is no shard 3 of 2");
        assert_eq!(error("0/4"), "shards count from 1");
        assert_eq!(error("1/0"), "there has to be at least 1 shard");
        for text in ["a/b", "2", "", "/", "1/", "-1/2", "1/2/3", "1.0/2"] {
            assert!(error(text).starts_with("write a shard as"), "{text}");
        }
        assert_eq!("8/8".parse::<Shard>().unwrap().to_string(), "8/8");
    }
}
