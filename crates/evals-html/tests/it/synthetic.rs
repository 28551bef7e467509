//! Pages of made-up cases: as many as somebody asks for, the same ones every time, with the texts that are hard to show.

use std::ops::Range;

use evals_html::page::{
    Case, CaseRows, Cell, Column, ColumnKind, Fact, Field, FieldRole, Listing, Mark, Notice,
    Opening, Outcome, OutcomeKind, PageFigure, Passage, Ranked, Run, Score, ScoreAxis, Severity,
    Side, Step, Timing,
};
use evals_html::scene::Scene;

/// How the cases of a page are made.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Synthetic {
    /// Their number.
    pub(crate) cases: usize,
    /// How many passages they draw from.
    pub(crate) passages: usize,
    /// Whether every case has two sides.
    pub(crate) is_change: bool,
    /// Characters of one word that the first answer holds.
    pub(crate) long_word: usize,
}

const ENDINGS: [&str; 5] = [
    "not retrieved",
    "retrieved, not shown",
    "answered wrongly",
    "refused wrongly",
    "right",
];
const TOPICS: [&str; 4] = ["politics", "sport", "<i>culture</i>", "weather & climate"];
const CHANGES: [&str; 5] = [
    "broken",
    "same answer, other verdict",
    "both wrong",
    "fixed",
    "both right",
];

/// Texts that have broken reports of other tools.
pub(crate) const HOSTILE: [&str; 9] = [
    "</script><script>document.title = 'broken out'</script>",
    "<!--<script>",
    "]]></template></textarea></title><img src=x onerror=alert(1)>",
    "line\u{2028}separator\u{2029}paragraph",
    "right-to-left \u{202e}desrever\u{202c} and \u{2066}isolated\u{2069}",
    "NUL \0, bell \u{7}, escape \u{1b}[31mred, next line \u{85}, byte order mark \u{feff}",
    "=HYPERLINK(\"http://example.com\",\"click\")",
    "+1-1@SUM(A1)\t\"quoted\", {{ template }} {% raw %} ${literal} %s &lt;&amp;",
    "emoji 👩‍👩‍👧‍👦, combining e\u{301}, 日本語, العربية",
];

impl Synthetic {
    /// 5,000 cases over 5,000 passages: what the bars of size and time are about.
    pub(crate) fn full() -> Self {
        Self {
            cases: 5_000,
            passages: 5_000,
            is_change: false,
            long_word: 0,
        }
    }

    /// The opening of the page.
    pub(crate) fn opening(
        self,
        figures: impl IntoIterator<Item = (&'static str, Scene)>,
    ) -> Opening {
        let figures = figures.into_iter();
        let fact = |name: &str, value: &str| Fact {
            name: name.to_owned(),
            value: value.to_owned(),
        };
        let notice = |severity, text: &str| Notice {
            severity,
            text: text.to_owned(),
        };
        let cells = |cells: &[&str]| cells.iter().map(|&it| it.to_owned()).collect::<Vec<_>>();
        Opening {
            title: "synthetic <qa> evaluation".to_owned(),
            score: Some(Score {
                measure: "accuracy <b>".to_owned(),
                value: "0.774".to_owned(),
                interval: "95 % interval 0.734 to 0.811".to_owned(),
                about: format!("{} questions", self.cases),
                axis: Some(ScoreAxis::new(0.774, (0.734, 0.811), [-1.0, 1.0], |end| {
                    end.to_string()
                })),
            }),
            configuration: vec![fact("target.response.answer", "$.<answer>")],
            matrix: Some(Listing {
                caption: "n = 5000. Shaded: <better>.".to_owned(),
                head: cells(&["measure", "bm25", "hybrid"]),
                rows: vec![cells(&["RR@5", "0.5", "0.7"])],
                shades: vec![vec![None, Some(0), Some(4)]],
            }),
            sentence: format!(
                "hybrid: accuracy 0.774 [0.734, 0.811] over {} questions; its lead over hybrid-linear may be chance, p = 0.29",
                self.cases
            ),
            notices: vec![
                notice(
                    Severity::Failure,
                    "12 of 5,000 cases failed: the server answered 500 </script>.",
                ),
                notice(
                    Severity::Warning,
                    "The judge and the answerer are the same model.",
                ),
                notice(Severity::Note, "The embedder is the embedded floor model."),
            ],
            facts: vec![
                fact("dataset", "synthetic, revision 0a1b2c3d"),
                fact("answerer", "embedded/extractive \u{202e}"),
                fact("judge", "embedded/overlap"),
                fact("cost", "0.00 USD"),
                fact("started", "2026-11-22 12:00:00 UTC"),
            ],
            listings: vec![Listing {
                caption: format!(
                    "{} cases; 95 % bootstrap intervals, 1,000 resamples, seed 1.",
                    self.cases
                ),
                head: cells(&["measure", "mean", "95 % interval", "n", "excluded"]),
                rows: vec![
                    cells(&["equivalent", "0.774", "[0.734, 0.811]", "5000", "0"]),
                    cells(&[
                        "token F1",
                        "0.4312",
                        "[0.4201, 0.4423]",
                        "4988",
                        "12: <task failed>",
                    ]),
                ],
                ..Listing::default()
            }],
            figures: figures
                .map(|(name, scene)| PageFigure {
                    name: name.to_owned(),
                    scene,
                })
                .collect(),
        }
    }

    /// The table, worst first.
    pub(crate) fn table(self) -> CaseRows {
        let column = |key: &str, title: &str, kind, cells: &dyn Fn(usize) -> Cell| Column {
            key: key.to_owned(),
            title: title.to_owned(),
            kind,
            higher_is_better: match kind {
                ColumnKind::Number | ColumnKind::Verdict => Some(true),
                ColumnKind::Seconds => Some(false),
                ColumnKind::Text | ColumnKind::Label => None,
            },
            is_visible: key != "topic",
            cells: (0..self.cases).map(cells).collect(),
        };
        let mut columns = vec![
            column("question", "question", ColumnKind::Text, &|row| {
                Cell::Text(question(row))
            }),
            column("where", "where", ColumnKind::Label, &|row| {
                Cell::Text(ENDINGS[self.share(row, ENDINGS.len())].to_owned())
            }),
            column("equivalent", "equivalent", ColumnKind::Verdict, &|row| {
                let passed = f64::from(u8::from(
                    self.share(row, ENDINGS.len()) == ENDINGS.len() - 1,
                ));
                Cell::Number(
                    passed,
                    if passed > 0.5 { "passed" } else { "failed" }.to_owned(),
                )
            }),
            column(
                "f1",
                "token F1",
                ColumnKind::Number,
                &|row| match row % 97 {
                    13 => Cell::Undefined {
                        undefined: "no reference answer".to_owned(),
                    },
                    14 => Cell::Empty,
                    _ => number(self.score(row)),
                },
            ),
            column("seconds", "seconds", ColumnKind::Seconds, &|row| {
                let seconds = 0.1 + self.score(row) * 3.0;
                Cell::Number(seconds, format!("{seconds:.1} s"))
            }),
            column("topic", "topic", ColumnKind::Label, &|row| {
                Cell::Text(TOPICS[row * 7 % TOPICS.len()].to_owned())
            }),
        ];
        if self.is_change {
            let change = |row| self.score(row) * 2.0 - 1.0;
            columns.insert(
                1,
                column("change", "change", ColumnKind::Label, &|row| {
                    Cell::Text(CHANGES[self.share(row, CHANGES.len())].to_owned())
                }),
            );
            columns.push(column(
                "f1-change",
                "token F1, change",
                ColumnKind::Number,
                &|row| Cell::Number(change(row), format!("{:+.4}", change(row))),
            ));
        }
        CaseRows {
            ids: (0..self.cases).map(id).collect(),
            columns,
        }
    }

    /// The cases in the order of the table.
    pub(crate) fn cases(self) -> impl Iterator<Item = Case> {
        (0..self.cases).map(move |row| self.case(row))
    }

    /// The case of one row.
    pub(crate) fn case(self, row: usize) -> Case {
        let reference = words(row as u64 * 3 + 1, 12..30);
        let runs = if self.is_change {
            vec![
                self.run(row, Some(Side::Before), 1),
                self.run(row, Some(Side::After), 2),
            ]
        } else {
            (1..=1 + u32::from(row % 50 == 7))
                .map(|repeat| Run {
                    repeat,
                    ..self.run(row, None, u64::from(repeat))
                })
                .collect()
        };
        Case {
            id: id(row),
            fields: vec![
                field("question", question(row), FieldRole::Question),
                field("reference", reference, FieldRole::Reference),
            ],
            turns: if ends_talk(row) {
                (1..).zip([id(row - 1), id(row)]).collect()
            } else {
                Vec::new()
            },
            runs,
            remarks: if self.is_change && self.share(row, CHANGES.len()) == 1 {
                vec!["same answer, other verdict".to_owned()]
            } else {
                Vec::new()
            },
        }
    }

    fn run(self, row: usize, side: Option<Side>, variant: u64) -> Run {
        let mut random = Random(row as u64 * 31 + variant);
        if row % 101 == 5 {
            return Run {
                side,
                repeat: 1,
                failure: Some(
                    "the server answered 500: <html><script>alert(1)</script>".to_owned(),
                ),
                ..Run::default()
            };
        }
        let passed = self.share(row, ENDINGS.len()) == ENDINGS.len() - 1;
        let ranking = (0..5)
            .map(|rank| self.ranked(&mut random, rank, passed))
            .collect();
        Run {
            side,
            system: None,
            repeat: 1,
            failure: None,
            said: if ends_talk(row) {
                vec![("User", question(row - 1)), ("Assistant", HOSTILE.concat())]
            } else {
                Vec::new()
            },
            fields: vec![field(
                "answer",
                self.answer(row, variant),
                FieldRole::Answer,
            )],
            outcomes: outcomes(&mut random, passed, self.score(row)),
            ranking: Some(ranking),
            missed: if passed {
                Vec::new()
            } else {
                vec!["doc-relevant".to_owned()]
            },
            timings: [("search", 0.0123), ("generate", 1.25), ("judge", 0.5)]
                .into_iter()
                .map(|(stage, seconds)| Timing {
                    stage: stage.to_owned(),
                    seconds,
                    shown: format!("{seconds} s"),
                    cached: stage == "judge",
                })
                .collect(),
            steps: if row % 10 == 3 {
                steps(row)
            } else {
                Vec::new()
            },
        }
    }

    fn ranked(self, random: &mut Random, rank: usize, passed: bool) -> Ranked {
        let number = random.below(self.passages.max(1));
        let is_relevant = passed && rank == 1;
        let mut marks = Vec::new();
        if is_relevant {
            marks.push(Mark::Relevant);
        }
        if rank < 3 {
            marks.push(Mark::Shown);
        }
        if rank == 1 {
            marks.push(Mark::Cited);
        }
        Ranked {
            document: format!("doc-{}", number / 3),
            score: format!("{:.4}", 1.0 / (f64::from(small(rank)) + 1.5)),
            marks,
            grade: is_relevant.then(|| "2".to_owned()),
            passages: vec![passage(number)],
        }
    }

    fn answer(self, row: usize, variant: u64) -> String {
        let answer = words(row as u64 * 3 + 1 + variant / 2, 20..70);
        let hostile = HOSTILE[row % HOSTILE.len()];
        match row {
            // Fonts kern these letters, so that a browser takes the word as one.
            0 if self.long_word > 0 => "A".repeat(self.long_word),
            _ if row % 40 == 2 => format!("{answer}\n\n{hostile}"),
            _ => answer,
        }
    }

    /// Which of `parts` equal parts of the table a row is in.
    fn share(self, row: usize, parts: usize) -> usize {
        row * parts / self.cases.max(1)
    }

    /// From 0 to 1, growing with the row.
    fn score(self, row: usize) -> f64 {
        let [row, cases] = [row, self.cases.max(1)].map(small);
        f64::from(row) / f64::from(cases)
    }
}

fn question(row: usize) -> String {
    match row % 60 {
        few if few < HOSTILE.len() => format!("{} {row}?", HOSTILE[few]),
        _ => format!("{}?", words(row as u64 * 3, 8..18)),
    }
}

/// Whether the case of a row is the second turn of a conversation, which the row before began.
fn ends_talk(row: usize) -> bool {
    row % 40 == 2
}

fn id(row: usize) -> String {
    format!("q{:05}", row * 7919 % 100_003)
}

fn small(number: usize) -> u32 {
    u32::try_from(number).expect("nobody asks for so many cases")
}

fn field(name: &str, text: String, role: FieldRole) -> Field {
    Field {
        name: name.to_owned(),
        text,
        role,
    }
}

fn number(value: f64) -> Cell {
    Cell::Number(value, format!("{value:.4}"))
}

fn outcomes(random: &mut Random, passed: bool, score: f64) -> Vec<Outcome> {
    let outcome = |name: &str, kind, shown: &str, reason: Option<String>| Outcome {
        name: name.to_owned(),
        kind,
        shown: shown.to_owned(),
        reason,
    };
    let (kind, shown) = if passed {
        (OutcomeKind::Passed, "passed")
    } else {
        (OutcomeKind::Failed, "failed")
    };
    vec![
        outcome(
            "equivalent",
            kind,
            shown,
            Some(words(random.next(), 15..40)),
        ),
        outcome("token F1", OutcomeKind::Score, &format!("{score:.4}"), None),
        outcome("tone", OutcomeKind::Label, "polite", None),
        outcome(
            "citation precision",
            OutcomeKind::Undefined,
            "undefined",
            Some("the answer cites nothing".to_owned()),
        ),
        outcome(
            "faithful",
            OutcomeKind::Error,
            "error",
            Some("no verdict in `<think>`".to_owned()),
        ),
    ]
}

fn steps(row: usize) -> Vec<Step> {
    let fact = |name: &str, value: String| (name.to_owned(), value);
    vec![Step {
        name: "agent".to_owned(),
        shown: "1.3 s".to_owned(),
        failed: false,
        facts: Vec::new(),
        children: vec![
            Step {
                name: "execute_tool search".to_owned(),
                shown: "12.3 ms".to_owned(),
                failed: row % 20 == 3,
                facts: vec![fact(
                    "arguments",
                    format!(r#"{{"query": "{}"}}"#, words(row as u64, 3..6)),
                )],
                children: Vec::new(),
            },
            Step {
                name: "chat m".to_owned(),
                shown: String::new(),
                failed: false,
                facts: vec![fact("input tokens", "1234".to_owned())],
                children: Vec::new(),
            },
        ],
    }]
}

fn passage(number: usize) -> Passage {
    let seed = 1_000_000 + number as u64;
    let mut text = words(seed, 130..150);
    text.truncate(900);
    if number % 50 == 11 {
        text = format!("{}\n{text}", HOSTILE[number / 50 % HOSTILE.len()]);
    }
    Passage {
        document: format!("doc-{}", number / 3),
        title: words(seed + 1, 3..7),
        text,
    }
}

/// Words of an alphabet of syllables, about as hard to compress as English.
fn words(seed: u64, length: Range<usize>) -> String {
    const SYLLABLES: [&str; 40] = [
        "an", "be", "con", "de", "er", "for", "ge", "hal", "in", "jo", "ka", "lo", "men", "no",
        "or", "pre", "qui", "re", "sti", "ter", "un", "ver", "wa", "ex", "yo", "zen", "ing",
        "tion", "ble", "ous", "al", "is", "the", "to", "of", "and", "mar", "pol", "tur", "sed",
    ];
    let mut random = Random(seed);
    let count = length.start + random.below(length.len());
    let mut text = String::new();
    for _ in 0..count {
        if !text.is_empty() {
            text.push(' ');
        }
        // Common words are common: the square of a random number prefers the first words of the vocabulary.
        let word = random.below(100) * random.below(100);
        let mut spelled = Random(word as u64);
        for _ in 0..=spelled.below(3) {
            text.push_str(SYLLABLES[spelled.below(SYLLABLES.len())]);
        }
    }
    text
}

/// The generator `SplitMix64`.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, limit: usize) -> usize {
        let limit = u64::try_from(limit).expect("limits are small");
        usize::try_from(self.next() % limit).expect("smaller than a usize")
    }
}
