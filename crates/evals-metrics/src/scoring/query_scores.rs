//! Scores one query at a time, with memory that is used again.

use std::cmp::Ordering;

use super::Options;
use super::error::ScoringError;
use super::ids::Ids;
use super::rows::{File, FileRow};
use super::source::{Judged, Ranked};
use crate::graded_ranking::GradedRanking;
use crate::trec::ParseError;

/// A worker's memory.
pub(super) struct QueryScores<'s> {
    ranked: Vec<FileRow<'s>>,
    judged: Vec<FileRow<'s>>,
    order: Vec<u32>,
    grades: Vec<Option<i32>>,
    ids: Ids<'s>,
    judged_ids: Ids<'s>,
    graded: GradedRanking,
}

impl<'s> QueryScores<'s> {
    pub(super) fn new(options: &Options) -> Self {
        Self {
            ranked: Vec::new(),
            judged: Vec::new(),
            order: Vec::new(),
            grades: Vec::new(),
            ids: Ids::default(),
            judged_ids: Ids::default(),
            graded: GradedRanking::of_version(options.version),
        }
    }

    /// Reads the ranking of a query, or an empty one, and checks it.
    pub(super) fn rank(
        &mut self,
        run: &'s Ranked<'_>,
        query: Option<usize>,
    ) -> Result<(), ScoringError> {
        self.ranked.clear();
        self.ids.clear();
        let Some(query) = query else {
            return Ok(());
        };
        let checked = run.0.rows(query, &mut self.ranked);
        let checked =
            checked.and_then(|()| unique(&mut self.ids, &self.ranked, run.0.query(query)));
        checked.map_err(|error| ScoringError::Invalid {
            file: File::Rankings,
            error,
        })
    }

    /// Reads the judgements of a query and checks them.
    pub(super) fn judge(
        &mut self,
        qrels: &'s Judged<'_>,
        query: usize,
    ) -> Result<(), ScoringError> {
        self.judged_ids.clear();
        let checked = qrels.0.rows(query, &mut self.judged);
        let checked =
            checked.and_then(|()| unique(&mut self.judged_ids, &self.judged, qrels.0.query(query)));
        checked.map_err(|error| ScoringError::Invalid {
            file: File::Judgements,
            error,
        })
    }

    /// The grades of the ranking and of the judgements that were read last.
    pub(super) fn graded(&mut self, options: &Options) -> &GradedRanking {
        self.grade(options);
        &self.graded
    }

    /// How many judgements have a positive grade.
    pub(super) fn positive_grades(&self) -> usize {
        self.judged.iter().filter(|row| row.value > 0.0).count()
    }

    fn grade(&mut self, options: &Options) {
        self.grades.clear();
        self.grades.resize(self.ranked.len(), None);
        for row in &self.judged {
            if let Some(&position) = self.ids.get(row.id) {
                self.grades[position as usize] = Some(grade(row));
            }
        }
        self.sort(options);
        let grades = self.order.iter();
        let grades = grades.map(|&position| self.grades[position as usize]);
        let judged = self.judged.iter().map(grade);
        fill(&mut self.graded, grades, judged, options);
    }

    /// The order of `trec_eval`: score, then document id, both descending.
    fn sort(&mut self, options: &Options) {
        let rows = &self.ranked;
        let before = |left: &u32, right: &u32| {
            let (left, right) = (&rows[*left as usize], &rows[*right as usize]);
            let score = |row: &FileRow<'_>| options.version.score(row.value);
            score(right)
                .partial_cmp(&score(left))
                .unwrap_or(Ordering::Equal)
                .then_with(|| right.id.cmp(left.id))
        };
        self.order.clear();
        self.order.extend((0_u32..).take(rows.len()));
        // Most files are in order.
        if !self
            .order
            .is_sorted_by(|left, right| before(left, right).is_le())
        {
            self.order.sort_unstable_by(before);
        }
    }
}

/// Replaces the grades of a ranking, best rank first, and those of the query's judgements.
pub(super) fn fill(
    graded: &mut GradedRanking,
    ranking: impl Iterator<Item = Option<i32>>,
    judgements: impl Iterator<Item = i32>,
    options: &Options,
) {
    let best = options.max_documents.map_or(usize::MAX, Into::into);
    let grades = ranking.take(best);
    graded.grades.clear();
    if options.judged_only {
        let judged = grades.filter(|grade| grade.is_some_and(|grade| grade >= 0));
        graded.grades.extend(judged);
    } else {
        graded.grades.extend(grades);
    }
    graded.judge(judgements);
}

/// The grades as `relstring` shows them.
pub(super) fn text(graded: &GradedRanking, documents: u16) -> String {
    let grades = graded.grades.iter().take(documents.into());
    grades
        .map(|grade| match grade {
            None => '-',
            Some(..0) => '.',
            Some(grade) => u32::try_from(*grade)
                .ok()
                .and_then(|grade| char::from_digit(grade, 10))
                .unwrap_or('>'),
        })
        .collect()
}

/// Checks that no document is listed twice, and keeps their positions.
fn unique<'s>(ids: &mut Ids<'s>, rows: &[FileRow<'s>], query: &str) -> Result<(), ParseError> {
    for (position, row) in (0..).zip(rows) {
        if let Some(first) = ids.insert(row.id, position) {
            return Err(ParseError::Duplicate {
                line: row.line,
                first: rows[first as usize].line,
                query: query.to_owned(),
                document: row.id.to_owned(),
            });
        }
    }
    Ok(())
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "grades are read as whole numbers of this size"
)]
fn grade(row: &FileRow<'_>) -> i32 {
    row.value as i32
}
