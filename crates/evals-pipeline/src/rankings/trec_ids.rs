//! Encodes ids for TREC files, whose fields are separated by white space.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::io::{self, Write};
use std::iter;

use evals_metrics::trec::{WriteError, is_plain_id};
use evals_metrics::{Judgements, Qrels, Ranking, Run, ScoredDocument, trec};

/// How the ids of one run are written: unchanged, or encoded if a reader would not read each of them as one field.
///
/// trec_eval breaks ties by the order of document ids, so an encoding must preserve it. All ids of the run are encoded character by
/// character, with a code that is prefix-free and ordered like the characters. Encoded ids therefore sort like the ids.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TrecIds {
    /// No id needs an encoding.
    Unchanged,
    /// Some id contains a blank, or is empty. Every character up to and including `%` becomes `%` and two hexadecimal digits, which keeps
    /// these characters below all others.
    Percent,
    /// Some id contains a non-ASCII space such as U+00A0. In addition, every character from `~` on becomes `~` and six hexadecimal
    /// digits, which keeps these characters above all others.
    Ascii,
}

impl TrecIds {
    /// The encoding that changes least and makes every id of a run and its judgements plain.
    pub(crate) fn of(qrels: &Qrels, run: &Run) -> Self {
        let fits = |way: &Self| ids(qrels, run).all(|id| is_plain_id(&way.encode(id)));
        let ways = [Self::Unchanged, Self::Percent];
        // `Ascii` makes any id plain: its output is printable ASCII without blanks.
        ways.into_iter().find(fits).unwrap_or(Self::Ascii)
    }

    /// Writes a run file.
    pub(crate) fn write_run(self, out: &mut dyn Write, run: &Run, tag: &str) -> io::Result<()> {
        let written = match self {
            Self::Unchanged => trec::write_run(out, run, tag),
            Self::Percent | Self::Ascii => trec::write_run(out, &self.encoded_run(run), tag),
        };
        written.map_err(into_io)
    }

    /// Writes a qrels file.
    pub(crate) fn write_qrels(self, out: &mut dyn Write, qrels: &Qrels) -> io::Result<()> {
        let written = match self {
            Self::Unchanged => trec::write_qrels(out, qrels),
            Self::Percent | Self::Ascii => trec::write_qrels(out, &self.encoded_qrels(qrels)),
        };
        written.map_err(into_io)
    }

    fn encoded_run(self, run: &Run) -> Run {
        let ranking = |ranking: &Ranking| {
            let documents = ranking.iter().map(|document| ScoredDocument {
                id: self.encode(&document.id).into_owned(),
                score: document.score,
            });
            Ranking::new(documents)
                .expect("different ids stay different and scores are those of a ranking")
        };
        run.iter()
            .map(|(query, documents)| (self.encode(query).into_owned(), ranking(documents)))
            .collect()
    }

    fn encoded_qrels(self, qrels: &Qrels) -> Qrels {
        let judgements = |judgements: &Judgements| -> Judgements {
            judgements
                .iter()
                .map(|(document, grade)| (self.encode(document).into_owned(), grade))
                .collect()
        };
        qrels
            .iter()
            .map(|(query, documents)| (self.encode(query).into_owned(), judgements(documents)))
            .collect()
    }

    fn encode(self, id: &str) -> Cow<'_, str> {
        if self == Self::Unchanged {
            return Cow::Borrowed(id);
        }
        if id.is_empty() {
            // No other id has this encoding, and it sorts first like the empty id.
            return Cow::Borrowed("%");
        }
        let mut encoded = String::with_capacity(id.len());
        for character in id.chars() {
            match character {
                ..='%' => write!(encoded, "%{:02X}", u32::from(character)),
                '~'.. if self == Self::Ascii => write!(encoded, "~{:06X}", u32::from(character)),
                _ => encoded.write_char(character),
            }
            .expect("a string takes any text");
        }
        Cow::Owned(encoded)
    }
}

/// All ids of a run and its judgements.
fn ids<'a>(qrels: &'a Qrels, run: &'a Run) -> impl Iterator<Item = &'a str> {
    let judged = qrels.iter().flat_map(|(query, judgements)| {
        iter::once(query).chain(judgements.iter().map(|(document, _)| document))
    });
    let ranked = run.iter().flat_map(|(query, ranking)| {
        let documents = ranking.iter().map(|document| document.id.as_str());
        iter::once(query.as_str()).chain(documents)
    });
    judged.chain(ranked)
}

fn into_io(error: WriteError) -> io::Error {
    match error {
        WriteError::Io(error) => error,
        other => io::Error::new(io::ErrorKind::InvalidData, other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(documents: &[(&str, f32)]) -> Run {
        let documents = documents.iter().map(|(id, score)| ScoredDocument {
            id: (*id).to_owned(),
            score: *score,
        });
        Run::from([("q 1".to_owned(), Ranking::new(documents).unwrap())])
    }

    fn written(run: &Run) -> String {
        let mut out = Vec::new();
        TrecIds::of(&Qrels::default(), run)
            .write_run(&mut out, run, "test")
            .unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn ids_without_white_space_are_not_touched() {
        let run = Run::from([(
            "q1".to_owned(),
            Ranking::new([ScoredDocument {
                id: "100%!".to_owned(),
                score: 1.0,
            }])
            .unwrap(),
        )]);
        assert_eq!(written(&run), "q1 Q0 100%! 1 1.0 test\n");
    }

    #[test]
    fn white_space_is_encoded() {
        assert_eq!(
            written(&run(&[("Ed Wood (film)", 1.0), ("50%", 0.5)])),
            "q%201 Q0 Ed%20Wood%20(film) 1 1.0 test\nq%201 Q0 50%25 2 0.5 test\n"
        );
    }

    #[test]
    fn spaces_from_beyond_ascii_are_encoded() {
        assert_eq!(
            written(&run(&[("caf\u{e9}\u{a0}~1", 1.0)])),
            "q%201 Q0 caf~0000E9~0000A0~00007E1 1 1.0 test\n"
        );
        assert_eq!(
            written(&run(&[("\u{feff}a", 1.0)])),
            "q%201 Q0 ~00FEFFa 1 1.0 test\n"
        );
    }

    #[test]
    fn judgements_count_as_the_run_does_and_are_encoded_alike() {
        let mut qrels = Qrels::new();
        qrels.judge("q", "a\u{2003}b", 1);
        let ways = TrecIds::of(&qrels, &Run::new());
        assert_eq!(ways, TrecIds::Ascii);
        let mut out = Vec::new();
        ways.write_qrels(&mut out, &qrels).unwrap();
        assert_eq!(String::from_utf8(out).unwrap(), "q 0 a~002003b 1\n");
    }

    /// Strict order of all characters is order of all ids whose first difference is anywhere, because no code begins
    /// another.
    #[test]
    fn every_character_keeps_its_place() {
        for way in [TrecIds::Percent, TrecIds::Ascii] {
            let mut before = way.encode("").into_owned();
            for character in '\0'..=char::MAX {
                let code = way.encode(character.encode_utf8(&mut [0; 4])).into_owned();
                assert!(before < code, "{way:?}: {before} and {code}");
                assert!(!code.starts_with(&before) || before == "%");
                before = code;
            }
        }
    }

    /// All ids of up to three characters from those where an encoding begins, ends or is needed.
    #[test]
    fn every_short_id_keeps_its_place_and_becomes_plain() {
        let characters = "\0\t !%&0F}~\u{7f}\u{9f}\u{a0}é\u{3000}\u{feff}\u{10ffff}";
        let mut ids = vec![String::new()];
        for length in 0..3 {
            let longest = ids.iter().filter(|id| id.chars().count() == length);
            let longer: Vec<String> = longest
                .flat_map(|id| characters.chars().map(move |last| format!("{id}{last}")))
                .collect();
            ids.extend(longer);
        }
        ids.sort_unstable();
        assert_eq!(ids.len(), 1 + 17 + 17 * 17 + 17 * 17 * 17);
        let encoded: Vec<_> = ids.iter().map(|id| TrecIds::Ascii.encode(id)).collect();
        assert!(encoded.iter().all(|id| is_plain_id(id)));
        assert!(encoded.is_sorted_by(|left, right| left < right));
        let percent: Vec<_> = ids.iter().map(|id| TrecIds::Percent.encode(id)).collect();
        assert!(percent.is_sorted_by(|left, right| left < right));
    }

    #[test]
    fn tied_documents_keep_their_order() {
        let low = ["a b", "a\tb", "a!b", "a%b", "a&b", "ab", "a", "", "é"];
        let high = [
            "a\u{a0}b", "a\u{9f}b", "aéb", "a~b", "a}b", "😀", "\u{feff}",
        ];
        for ids in [low.to_vec(), [low.as_slice(), &high].concat()] {
            let tied: Vec<(&str, f32)> = ids.iter().map(|id| (*id, 1.0)).collect();
            let run = run(&tied);
            let way = TrecIds::of(&Qrels::default(), &run);
            let before: Vec<_> = run["q 1"]
                .iter()
                .map(|document| way.encode(&document.id))
                .collect();
            let file = trec::parse_run(&written(&run)).unwrap();
            let ranking = file["q%201"].iter();
            let after: Vec<_> = ranking.map(|document| document.id.clone()).collect();
            assert_eq!(after, before);
        }
    }
}
