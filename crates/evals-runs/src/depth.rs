//! How many documents came for a question, beside the cutoffs of the measures.

use std::collections::{BTreeMap, HashSet};

use evals::{CaseId, CaseReport, Domain, Report};
use evals_evaluators::{Untyped, documents_listed};
use evals_messages::quantity;
use evals_metrics::Measure;
use evals_rag::targets::matching::{Returned, Spread};
use evals_rag::{Missing, Retrieval};
use serde::Serialize;

/// How many documents the replies of a target held, and how many its measures look at.
#[derive(Debug, Serialize)]
pub struct Depth {
    #[serde(flatten)]
    returned: Returned,
    /// The measure that looks at the most documents, and how many.
    #[serde(skip_serializing_if = "Option::is_none")]
    deepest: Option<(String, usize)>,
}

impl Depth {
    /// The depth of a report; `None` if its cases do not say it.
    pub fn of<D: Domain>(report: &Report<D>) -> Option<Self> {
        let attributes = report.cases.iter().map(|case| &case.attributes);
        Some(Self {
            returned: Returned::of(attributes)?,
            deepest: deepest(report),
        })
    }

    /// The depth of a dataset file's report; `None` without rank measures that have a cutoff.
    pub fn of_eval(report: &Report<Untyped>) -> Option<Self> {
        let deepest = deepest(report)?;
        let listed = report.cases.iter().filter_map(documents_listed);
        Some(Self {
            returned: Returned::counted(listed)?,
            deepest: Some(deepest),
        })
    }

    /// The depth in one line.
    pub fn line(&self) -> String {
        let Returned {
            documents,
            passages,
            ..
        } = self.returned;
        let mut line = spread(documents);
        if passages != documents {
            line = format!("{line} (passages {})", spread(passages));
        }
        if let Some((measure, cutoff)) = &self.deepest {
            line = format!("{line}; {measure} counts up to {cutoff}");
        }
        line
    }

    /// The facts below the title of a report: the depth, and a warning about a target that returned too few documents.
    pub fn facts(&self) -> impl Iterator<Item = (String, String)> {
        let warning = self.nothing().or_else(|| self.shortfall());
        let warning = warning.map(|it| ("warning".to_owned(), it));
        [("documents per question".to_owned(), self.line())]
            .into_iter()
            .chain(warning)
    }

    /// The warning about a target that returned nothing but empty lists.
    pub fn nothing(&self) -> Option<String> {
        let Returned {
            documents,
            questions,
            ..
        } = self.returned;
        (documents.most == 0).then(|| {
            format!(
                "the target returned no document at all ({}): its table or index may be empty, a filter may leave nothing (`--filter`, \
                 `parameters.filter`), or `response.documents` may match nothing in its replies",
                quantity::of(questions, "question")
            )
        })
    }

    /// The warning about a target that returned documents, but fewer than the measures look at.
    pub fn shortfall(&self) -> Option<String> {
        let (measure, cutoff) = self.deepest.as_ref()?;
        let Spread { median, most, .. } = self.returned.documents;
        (most > 0 && median < wide(*cutoff)).then(|| {
            format!(
                "the median number of distinct documents per question is {median}, and {measure} counts up to {cutoff}, so that more passages \
                 alone may raise it; ask the target for more passages, or cut the measures with `--k`"
            )
        })
    }
}

/// The distinct documents of a case's ranking.
pub fn documents_ranked(case: &CaseReport<Retrieval>) -> Option<usize> {
    let found = case.result.output()?;
    let has_documents = !found.missing.contains(&Missing::Documents);
    has_documents.then(|| found.ranking.len())
}

/// The warning about two runs that differ in the number of documents of the cases that both have, up to the deepest cutoff that both have.
/// `documents` counts the distinct documents of a case.
pub fn difference<D: Domain>(
    runs: [(&str, &Report<D>); 2],
    documents: impl Fn(&CaseReport<D>) -> Option<usize>,
) -> Option<String> {
    let cutoffs = runs.map(|(_, report)| deepest(report));
    let [Some(before), Some(after)] = cutoffs else {
        return None;
    };
    let (measure, cutoff) = if after.1 <= before.1 { after } else { before };
    let [before, after] = runs.map(|(_, report)| counted(report, &documents));
    let shared = before
        .iter()
        .filter_map(|(case, one)| Some((*one.min(&cutoff), *after.get(case)?.min(&cutoff))));
    let (one, other): (Vec<usize>, Vec<usize>) = shared.unzip();
    let [one, other] = [one, other].map(|counts| Spread::of(counts).map(|it| it.median));
    let (one, other) = one.zip(other)?;
    let differ = one.total_cmp(&other).is_ne();
    differ.then(|| {
        format!(
            "the median number of documents per question is {one} in `{}` and {other} in `{}`, and {measure} counts up to {cutoff}, so that a \
             difference may be one of the number alone; ask both systems for {cutoff} distinct documents",
            runs[0].0, runs[1].0
        )
    })
}

/// The number of documents of each case.
fn counted<D: Domain>(
    report: &Report<D>,
    documents: impl Fn(&CaseReport<D>) -> Option<usize>,
) -> BTreeMap<(&CaseId, u32), usize> {
    let cases = report.cases.iter();
    let counts = cases.filter_map(|case| Some(((&case.id, case.repeat), documents(case)?)));
    counts.collect()
}

/// The measure of a report that looks at the most documents, and how many. Of several, the first.
fn deepest<D: Domain>(report: &Report<D>) -> Option<(String, usize)> {
    let outcomes = report.cases.iter().flat_map(|case| &case.outcomes);
    let mut seen = HashSet::new();
    let names = outcomes
        .map(|outcome| &outcome.name)
        .filter(|name| seen.insert(*name));
    let cutoffs = names.filter_map(|name| {
        let measure: Measure = name.parse().ok()?;
        Some((measure.mean_title(), measure.cutoff()?.get()))
    });
    cutoffs.reduce(|deepest, next| if next.1 > deepest.1 { next } else { deepest })
}

fn spread(spread: Spread) -> String {
    let Spread {
        median,
        least,
        most,
    } = spread;
    if least == most {
        least.to_string()
    } else {
        format!("median {median}, {least} to {most}")
    }
}

#[expect(clippy::cast_precision_loss, reason = "cutoffs stay far below 2^53")]
fn wide(count: usize) -> f64 {
    count as f64
}
