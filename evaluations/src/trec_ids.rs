//! Ids in TREC files, whose fields are separated by white space.

use std::fmt::Write as _;
use std::io::{self, Write};

use evals_metrics::trec::WriteError;
use evals_metrics::{Judgements, Qrels, Ranking, Run, ScoredDocument, trec};

/// How the ids of one run are written: as they are, or percent-encoded where any of them holds white space.
///
/// trec_eval breaks ties by the order of document ids, so an encoding must not change it. Every byte up to and
/// including `%` becomes `%` and two hexadecimal digits, in all ids of the run: what was a low byte stays below all
/// others, and low bytes stay in their order among themselves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TrecIds {
    AsTheyAre,
    Encoded,
}

impl TrecIds {
    /// The way that fits every id of a run and its judgements.
    pub(crate) fn of(qrels: &Qrels, run: &Run) -> Self {
        let breaks = |id: &str| id.is_empty() || id.contains(|c: char| c.is_ascii_whitespace());
        let judged = qrels.iter().any(|(query, judgements)| {
            breaks(query) || judgements.iter().any(|(document, _)| breaks(document))
        });
        let ranked = || {
            run.iter().any(|(query, ranking)| {
                breaks(query) || ranking.iter().any(|document| breaks(&document.id))
            })
        };
        if judged || ranked() {
            Self::Encoded
        } else {
            Self::AsTheyAre
        }
    }

    /// Writes a run file.
    pub(crate) fn write_run(self, out: &mut dyn Write, run: &Run, tag: &str) -> io::Result<()> {
        let written = match self {
            Self::AsTheyAre => trec::write_run(out, run, tag),
            Self::Encoded => trec::write_run(out, &encoded_run(run), tag),
        };
        written.map_err(into_io)
    }

    /// Writes a qrels file.
    pub(crate) fn write_qrels(self, out: &mut dyn Write, qrels: &Qrels) -> io::Result<()> {
        let written = match self {
            Self::AsTheyAre => trec::write_qrels(out, qrels),
            Self::Encoded => trec::write_qrels(out, &encoded_qrels(qrels)),
        };
        written.map_err(into_io)
    }
}

fn encoded_run(run: &Run) -> Run {
    let ranking = |ranking: &Ranking| {
        let documents = ranking.iter().map(|document| ScoredDocument {
            id: encode(&document.id),
            score: document.score,
        });
        Ranking::new(documents)
            .expect("different ids stay different and scores are those of a ranking")
    };
    run.iter()
        .map(|(query, documents)| (encode(query), ranking(documents)))
        .collect()
}

fn encoded_qrels(qrels: &Qrels) -> Qrels {
    let judgements = |judgements: &Judgements| -> Judgements {
        judgements
            .iter()
            .map(|(document, grade)| (encode(document), grade))
            .collect()
    };
    qrels
        .iter()
        .map(|(query, documents)| (encode(query), judgements(documents)))
        .collect()
}

fn encode(id: &str) -> String {
    if id.is_empty() {
        // No byte of another id encodes to this, and like the empty id it sorts first.
        return "%".to_owned();
    }
    let mut encoded = String::with_capacity(id.len());
    for character in id.chars() {
        if character <= '%' {
            write!(encoded, "%{:02X}", u32::from(character)).expect("a string takes any text");
        } else {
            encoded.push(character);
        }
    }
    encoded
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
    fn tied_documents_keep_their_order() {
        let ids = ["a b", "a\tb", "a!b", "a%b", "a&b", "ab", "a", "", "é"];
        let tied: Vec<(&str, f32)> = ids.iter().map(|id| (*id, 1.0)).collect();
        let run = run(&tied);
        let before: Vec<String> = run["q 1"]
            .iter()
            .map(|document| encode(&document.id))
            .collect();
        let file = trec::parse_run(&written(&run)).unwrap();
        let after: Vec<String> = file["q%201"]
            .iter()
            .map(|document| document.id.clone())
            .collect();
        assert_eq!(after, before);
    }
}
