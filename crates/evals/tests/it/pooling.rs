//! The pass rate over all assertions together.

use evals::{Outcome, Report, render};
use evals_metrics::Bootstrap;

use crate::fakes::{Scripted, Words, dataset, echo};

fn written(write: impl FnOnce(&mut Vec<u8>) -> std::io::Result<()>) -> String {
    let mut out = Vec::new();
    write(&mut out).unwrap();
    String::from_utf8(out).unwrap()
}

#[tokio::test]
async fn assertions_apart_are_not_pooled() {
    let check =
        |name: &'static str, passed| Scripted::constant(name, Outcome::assertion(name, passed));
    let dataset = dataset(["a"])
        .evaluator(check("equivalent", true))
        .evaluator(check("cited", false));
    let pooled = echo(dataset.clone()).await;
    let apart = echo(dataset.assertions_apart()).await;
    for (report, expected) in [(pooled, Some(Some(0.5))), (apart, None)] {
        let summary = report.summary(&Bootstrap::default());
        let pass_rate = summary.pass_rate.as_ref().map(|pooled| pooled.value);
        assert_eq!(pass_rate, expected);
        let console = written(|out| render::Console::default().report(out, &report, &summary));
        let markdown = written(|out| render::markdown::report(out, &report, &summary));
        for page in [console, markdown] {
            let row = "all assertions (pass rate)";
            assert_eq!(page.contains(row), expected.is_some(), "{page}");
        }
        // It is a property of the dataset, so the report stores it.
        let document = written(|out| render::json::report(out, &report, &summary));
        let read: Report<Words> = serde_json::from_str(&document).unwrap();
        assert_eq!(read.summary(&Bootstrap::default()), summary);
    }
}
