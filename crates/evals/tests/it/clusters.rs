//! Tests of the clusters that cases come in: where they are declared, what they widen, and what is said without them.

use evals::render::{self, Console};
use evals::{Case, ClusterKey, Dataset, Domain, Experiment, GroupError, Report, Snapshot, Summary};
use evals_metrics::{Bootstrap, IntervalMethod};
use serde_json::{Value, json};

use crate::fakes::{finished, score};
use crate::topics::{Topics, with_metadata};

/// The relevant documents of a case.
type Documents = &'static [&'static str];

/// A domain whose metadata lists the relevant documents of a case.
#[derive(Clone, Copy, Debug)]
struct Documented;

impl Domain for Documented {
    type Input = String;
    type Output = String;
    type Expected = String;
    type Metadata = Vec<String>;

    fn documents(_expected: Option<&String>, metadata: &Vec<String>) -> Vec<String> {
        metadata.clone()
    }
}

/// 20 documents with 15 questions each, which have much in common.
fn documents() -> Report<Topics> {
    let case = |number: u32| {
        let document = number / 15;
        let value = f64::from(document % 10) / 10.0 + f64::from(number % 2) / 20.0;
        let case = finished(&format!("q{number:03}"), vec![score("RR", value)]);
        (case, json!({"document": format!("d{document}")}))
    };
    with_metadata((0..300).map(case).collect())
}

fn by(key: &str) -> ClusterKey {
    key.parse().unwrap()
}

fn summary<D: Domain>(report: &Report<D>) -> Summary {
    report.summary(&Bootstrap::default())
}

fn printed<D: Domain>(report: &Report<D>) -> String {
    let (mut console, mut markdown) = (Vec::new(), Vec::new());
    let shown = Console {
        width: 400,
        ..Console::default()
    };
    shown
        .report(&mut console, report, &summary(report))
        .unwrap();
    render::markdown::report(&mut markdown, report, &summary(report)).unwrap();
    let pages = [console, markdown].map(|page| String::from_utf8(page).unwrap());
    // Markdown escapes some characters.
    let page = pages.join("\n").replace('\\', "");
    page.split_whitespace().collect::<Vec<_>>().join(" ")
}

async fn experiment(
    cases: impl IntoIterator<Item = (&'static str, Documents)>,
) -> Report<Documented> {
    let cases = cases.into_iter().map(|(id, documents)| Case {
        metadata: documents.iter().map(|&id| id.to_owned()).collect(),
        ..Case::new(id, id.to_owned())
    });
    let dataset = Dataset::<Documented>::new("sample", cases).unwrap();
    Experiment::new(dataset, |case, scope| async move {
        scope.metric("letters", 2.0);
        Ok(case.input.clone())
    })
    .run()
    .await
}

#[test]
fn a_mean_counts_the_clusters_that_its_run_declares() {
    let alone = documents();
    let mut together = alone.clone();
    together.cluster_by(&by("metadata:document")).unwrap();
    let [one, other] = [&alone, &together].map(|report| {
        let interval = summary(report).scores[0].1.interval.unwrap();
        (interval.high - interval.low, interval.method)
    });
    assert!(other.0 > 2.5 * one.0, "{one:?} {other:?}");
    // Both intervals are Student's t, whose quantiles differ by 5 % between 19 and 299 degrees of freedom.
    let effect = summary(&together).clusters.unwrap().design_effect.unwrap();
    assert_eq!(effect.measure, "RR");
    let widened = (other.0 / one.0 / 1.0635).powi(2);
    assert!(
        (effect.value - widened).abs() < 0.01,
        "{effect:?} {widened}"
    );
    assert!(printed(&together).contains(&format!("design effect of RR: {:.2}", effect.value)));
    assert_eq!(
        summary(&alone).clusters.and_then(|it| it.design_effect),
        None
    );
    assert_eq!(other.1, IntervalMethod::ClusterCr2);
    let grouped = summary(&together)
        .grouped(&together, &["document".to_owned()], &Bootstrap::default())
        .unwrap();
    // A group of one cluster says nothing about other clusters.
    assert_eq!(grouped.groups[0].groups[0].means[0].mean.interval, None);
    let line = "clusters: 20 clusters by `document`, the largest of 15 cases";
    assert_eq!(printed(&together).matches(line).count(), 2);
}

#[test]
fn a_report_keeps_its_clusters_in_json_and_a_report_without_any_reads_as_before() {
    let mut report = documents();
    let before = serde_json::to_value(&report).unwrap();
    assert!(before.get("cluster").is_none() && before["cases"][0].get("cluster").is_none());
    report.cluster_by(&by("metadata:document")).unwrap();
    let mut written = Vec::new();
    render::json::report(&mut written, &report, &summary(&report)).unwrap();
    let read: Report<Topics> = serde_json::from_slice(&written).unwrap();
    assert_eq!(read.cluster, Some(by("metadata:document")));
    assert_eq!(read.cases[15].cluster.as_deref(), Some("d1"));
    let snapshot = Snapshot::of("run", &read, &summary(&read));
    let numbers: Vec<_> = snapshot.cases[14..16].iter().map(|it| it.cluster).collect();
    assert_eq!(numbers, [Some(0), Some(1)]);
}

#[tokio::test]
async fn cases_that_a_chain_of_documents_links_are_one_cluster() {
    let cases: [(&str, Documents); 6] = [
        ("q1", &["a", "b"]),
        ("q2", &["c"]),
        ("q3", &["b", "d"]),
        ("q4", &[]),
        ("q5", &[]),
        ("q6", &["d"]),
    ];
    let mut report = experiment(cases).await;
    report.cluster_by(&ClusterKey::Document).unwrap();
    let clusters: Vec<_> = report
        .cases
        .iter()
        .map(|it| it.cluster.as_deref())
        .collect();
    assert_eq!(
        clusters,
        [Some("a"), Some("c"), Some("a"), None, None, Some("a")]
    );
    let counts = summary(&report).clusters.unwrap();
    assert_eq!((counts.clusters, counts.largest, counts.sharing), (4, 3, 3));
    assert!(printed(&report).contains("only 4 clusters: below 10, intervals and p values"));
}

#[tokio::test]
async fn a_run_whose_cases_share_documents_is_told_so() {
    let cases: [(&str, Documents); 4] =
        [("q1", &["a"]), ("q2", &["b"]), ("q3", &["b"]), ("q4", &[])];
    let mut report = experiment(cases).await;
    let line = "2 of 4 cases share a relevant document with another, and intervals and tests treat each as independent; declare \
                `cluster: document`";
    assert_eq!(
        printed(&report).matches(line).count(),
        2,
        "{}",
        printed(&report)
    );
    report.cluster_by(&ClusterKey::Document).unwrap();
    assert!(!printed(&report).contains("share a relevant document"));

    let apart: [(&str, Documents); 3] = [("q1", &["a"]), ("q2", &["b"]), ("q3", &[])];
    assert_eq!(summary(&experiment(apart).await).clusters, None);

    let chained: [(&str, Documents); 3] = [("q1", &["a"]), ("q2", &["a", "b"]), ("q3", &["b"])];
    let page = printed(&experiment(chained).await);
    assert!(
        page.contains("`document` cannot be their cluster, because shared documents link 100 %")
    );
    assert!(!page.contains("declare"), "{page}");
}

#[tokio::test]
async fn a_key_that_no_case_has_is_an_error() {
    let mut report = documents();
    let error = report.cluster_by(&by("metadata:documents")).unwrap_err();
    assert_eq!(
        error.to_string(),
        "no case has `documents` in its metadata; known are `document`, `hidden`, `letters`; did you mean `document`?"
    );
    assert_eq!(
        report.cluster_by(&ClusterKey::Document),
        Err(GroupError::NoDocuments)
    );
    for wrong in ["documents", "metadata:", ""] {
        assert!(wrong.parse::<ClusterKey>().is_err(), "{wrong}");
    }
    let stored: ClusterKey = serde_json::from_value(Value::from("topic")).unwrap();
    assert_eq!(
        stored,
        by("metadata:topic"),
        "as comparisons used to store it"
    );
}
