//! Fuzz test of files of labels: any bytes are refused with a place, or name answers of the run.

use evals_fuzz::Target;

use super::file::StoredLabels;
use super::sample::{Method, Sample};
use super::tests::{exported, import, run};

const CORPUS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fuzz");

#[test]
fn any_bytes_are_refused_or_labels_of_the_run() {
    let run = run(9);
    let blind = |method| {
        let sample = Sample {
            method,
            size: Some(6),
            seed: 3,
        };
        exported(&run, &StoredLabels::default(), sample)
    };
    let random = blind(Method::Random);
    let filled = random.replace(",,,,random", ",pass,a note,ben,random");
    assert_ne!(filled, random);
    Target::new("labels", CORPUS)
        .seed(blind(Method::Stratified).into_bytes())
        .seed(filled.into_bytes())
        .dictionary([
            "\"",
            ",",
            ";",
            "\t",
            "\r\n",
            "\u{feff}",
            "pass",
            "fail",
            "cannot say",
            "case_id",
            "q1",
        ])
        .run(|input| match import(&run).read(input) {
            Ok(imported) => {
                for label in imported.new_labels(&[]) {
                    let answer = run.answers.iter().find(|it| it.id == label.case);
                    assert_eq!(answer.map(|it| &it.digests), Some(&label.digests));
                    assert!(!label.labeller.is_empty());
                }
            }
            Err(error) => assert!(error.to_string().contains("labels.csv`"), "{error}"),
        });
}
