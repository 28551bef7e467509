//! The page of several runs of the same cases, such as one for each search profile.

use std::borrow::Cow;
use std::io::Write;

use anyhow::Result;
use evals::{
    CaseId, Comparison, Lead, MeasureValues, PairTesting, Standings, Summary, Titled, Unit, render,
};
use evals_html::page::{
    Case, CaseRows, Column, Fact, Listing, Notice, Opening, Page, Score, Texts, Written,
};
use evals_messages::quantity;
use evals_metrics::PairedTest;

use super::case::{self, Owner};
use super::cases::{Cases, worst_first};
use super::column::{self, Columns};
use super::notice;
use super::paged::HasPage;
use super::source::PageSource;
use super::{facts, listing, omission, rank, score};
use crate::figures::{self, ComparedRun, FigurePlace};

/// The runs whose columns are visible at first.
const VISIBLE: usize = 6;

/// Several runs with everything that their page shows.
#[derive(Debug)]
pub struct SeveralPage<'r, D: HasPage> {
    /// The name of the page.
    pub title: &'r str,
    /// The runs under their names.
    pub runs: &'r [Titled<'r, D>],
    /// The numbers of all runs.
    pub comparison: &'r Comparison,
    /// Each run compared with each, if that was asked for: its tables replace that of the comparison.
    pub standings: Option<&'r Standings>,
    /// What the page shows beside the reports; the documents of all runs.
    pub source: &'r PageSource,
    /// The source of each run, for the facts that all runs share.
    pub sources: &'r [&'r PageSource],
}

impl<D: HasPage> SeveralPage<'_, D> {
    /// Writes the page. There has to be a run.
    pub fn write(&self, out: impl Write) -> Result<Written> {
        let testing = self.testing();
        let is_compared = |title: &str| {
            let standings = self.standings.map(|it| it.measures.iter());
            standings.is_none_or(|mut it| it.any(|it| it.measure == title))
        };
        let leads = Standings::leads(self.runs, &testing, is_compared);
        // The last lead decides between runs that are equal in the one before.
        let best = leads.last().map_or(0, |lead| lead.best[0]);
        let all: Vec<Cases<'_, D>> = self.runs.iter().map(|run| Cases::of(run.report)).collect();
        let measures: Vec<_> = self
            .runs
            .iter()
            .map(|run| run.report.measure_values())
            .collect();
        let ids = worst_first(&all[best], &measures[best]);
        let first = |id: &CaseId| all.iter().find_map(|cases| cases.of_id(id).first());
        let mut columns = Columns::new();
        columns.push(column::asked(&ids, first));
        columns.push(rank::number(&ids, &all[best]));
        columns.extend(self.headlines(&ids, &measures));
        for (place, (run, cases)) in self.runs.iter().zip(&all).enumerate() {
            let ranks = rank::first_relevant(&ids, cases);
            columns.extend(ranks.map(|column| Column {
                is_visible: place < VISIBLE,
                ..named(column, run.title)
            }));
            columns.extend(column::ending(&ids, cases).map(|column| Column {
                is_visible: place == best,
                ..named(column, run.title)
            }));
        }
        if self.source.texts == Texts::Kept {
            columns.extend(column::groups(&ids, first));
        }
        let table = CaseRows {
            ids: ids.iter().map(ToString::to_string).collect(),
            columns: columns.into_columns(),
        };
        let opening = self.opening(&leads, best, &table)?;
        let page = Page {
            texts: self.source.texts,
            place: self.source.place.clone(),
            ..Page::new(&opening, &table)
        };
        Ok(page.write(ids.iter().map(|id| self.case(id, &all)), out)?)
    }

    /// The first measure of each run.
    fn headlines<'v>(
        &self,
        ids: &[&CaseId],
        measures: &'v [Vec<MeasureValues<'v>>],
    ) -> impl Iterator<Item = Column> {
        let runs = self.runs.iter().zip(measures).enumerate();
        runs.filter_map(|(place, (run, measures))| {
            let first = measures.iter().find(|it| it.unit != Unit::Metric)?;
            let column = named(column::measure(ids, first), run.title);
            Some(Column {
                is_visible: place < VISIBLE,
                ..column
            })
        })
    }

    /// The test of the lead.
    fn testing(&self) -> PairTesting {
        let seed = self.source.bootstrap.seed;
        let default = || {
            PairTesting::by(PairedTest {
                seed,
                ..PairedTest::default()
            })
        };
        self.standings.map_or_else(default, |it| it.test.clone())
    }

    /// The leads, or a sentence that no run leads.
    fn sentence(&self, leads: &[Lead]) -> String {
        if leads.is_empty() {
            let runs = quantity::of(self.runs.len(), "run");
            return format!("{runs}, and no measure that ranks them");
        }
        let testing = self.testing();
        let title = |place: usize| self.runs[place].title;
        let leads = leads
            .iter()
            .map(|lead| render::lead(lead, &testing, title, D::CASE));
        leads.collect::<Vec<_>>().join("; ")
    }

    fn opening(&self, leads: &[Lead], best: usize, rows: &CaseRows) -> Result<Opening> {
        let texts = self.source.texts;
        let summaries = self.runs.iter();
        let summaries: Vec<Cow<'_, Summary>> = summaries
            .map(|run| omission::summary(run.summary, texts))
            .collect();
        let report = self.runs[best].report;
        let comparison = omission::comparison(self.comparison, texts);
        let mut listings = match self.standings {
            Some(standings) => listing::of_standings(standings, texts),
            None => Vec::new(),
        };
        let mut compared = Vec::new();
        for (series, (run, summary)) in self.runs.iter().zip(&summaries).enumerate() {
            listings.extend(groups(run.title, summary));
            let bootstrap = &self.source.bootstrap;
            let summary = summary.clone().into_owned();
            let label = run.title.to_owned();
            let run = ComparedRun::of(label, series, run.report, summary, bootstrap);
            compared.push(run);
        }
        let record = self.sources.get(best).and_then(|it| it.record.as_deref());
        let score = score::of_run(&summaries[best], record, D::CASE).map(|score| Score {
            measure: format!("best: {}, {}", self.runs[best].title, score.measure),
            ..score
        });
        let (facts, configuration) = facts::divided(self.facts(&summaries)?);
        Ok(Opening {
            title: score::shown_name(
                self.title,
                &report.dataset,
                &quantity::of(self.runs.len(), "run"),
            ),
            sentence: self.sentence(leads),
            score,
            notices: self.notices(&summaries),
            facts,
            configuration,
            matrix: Some(listing::matrix(&comparison)),
            listings,
            figures: figures::of_runs(
                &report.dataset,
                &compared,
                &self.source.bootstrap,
                FigurePlace::Page(rows),
            ),
        })
    }

    /// What concerns one run begins with its name, and what concerns all is there once.
    fn notices(&self, summaries: &[Cow<'_, Summary>]) -> Vec<Notice> {
        let of_runs = self.runs.iter().zip(summaries).map(|(run, summary)| {
            let notices = notice::of_results(run.report, summary);
            notices.into_iter().map(|it| Notice {
                text: format!("{}: {}", run.title, it.text),
                ..it
            })
        });
        let mut notices: Vec<Notice> = of_runs.flatten().collect();
        let records = self.sources.iter().filter_map(|it| it.record.as_ref());
        notices.extend(notice::baselines(records.map(|it| &it.models)));
        notices.extend(notice::about_texts(
            self.source.texts,
            &self.source.documents,
        ));
        notices
    }

    /// The facts that all runs share. How long a run took and when it started belong to that run, even where two print the same.
    fn facts(&self, summaries: &[Cow<'_, Summary>]) -> Result<Vec<Fact>> {
        let mut shared: Option<Vec<Fact>> = None;
        for ((run, summary), source) in self.runs.iter().zip(summaries).zip(self.sources) {
            let facts = facts::of_run(run.report, summary, source)?;
            match &mut shared {
                None => shared = Some(facts),
                Some(shared) => shared.retain(|fact| facts.contains(fact)),
            }
        }
        let mut shared = shared.unwrap_or_default();
        shared.retain(|fact| !["took", "started"].contains(&fact.name.as_str()));
        Ok(shared)
    }

    fn case(&self, id: &CaseId, all: &[Cases<'_, D>]) -> Case {
        let runs = self.runs.iter().zip(all).flat_map(|(run, cases)| {
            let owner = Owner {
                side: None,
                system: Some(run.title),
            };
            let repetitions = cases.of_id(id).iter();
            repetitions.map(move |it| case::run(it, owner, &self.source.documents))
        });
        let first = all.iter().find_map(|cases| cases.of_id(id).first());
        let mut turns = all.iter().map(|cases| cases.turns(id));
        Case {
            id: id.to_string(),
            fields: first.map(D::shared).unwrap_or_default(),
            turns: turns.find(|it| !it.is_empty()).unwrap_or_default(),
            runs: runs.collect(),
            remarks: Vec::new(),
        }
    }
}

/// The tables of groups of one run, with its name.
fn groups(run: &str, summary: &Summary) -> Vec<Listing> {
    let tables = render::tables::groups(summary).into_iter();
    let tables = tables.map(|mut table| {
        if let Some(head) = table.heads.first_mut() {
            *head = format!("{run}: {head}");
        }
        listing::listing(table)
    });
    tables.collect()
}

/// The column of one of several runs.
fn named(column: Column, run: &str) -> Column {
    Column {
        title: format!("{run}: {}", column.title),
        key: format!("{run}: {}", column.key),
        ..column
    }
}
