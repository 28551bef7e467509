//! What a run of a dataset file stores and writes.

use std::fs;

use serde_json::json;

use super::{SYSTEM, eval, newest, report, sandbox};
use crate::sandbox::json;

#[test]
fn stored_runs_of_dataset_files_are_runs_like_others() {
    let sandbox = sandbox();
    eval(&sandbox, "");
    let listed = sandbox.succeed("runs");
    assert!(
        listed.contains("capitals  eval       exec     3      all assertions 0.6000"),
        "{listed}"
    );
    let shown = sandbox.succeed("runs show latest");
    assert!(shown.contains("target: exec:sh system.sh"), "{shown}");
    sandbox.succeed("report latest --out again.csv --out again.pydantic.json");
    let again = fs::read_to_string(sandbox.work().join("again.csv")).unwrap();
    assert!(again.contains("\r\nkenya,1,,,"), "{again}");

    let better = SYSTEM.replace("Mombasa", "Nairobi");
    sandbox.write("system.sh", better);
    eval(&sandbox, "");
    let compared = sandbox.succeed("compare");
    let row = compared.lines().find(|line| line.starts_with("Contains "));
    assert!(
        row.is_some_and(|row| row.contains("0.0000  1.0000")),
        "{compared}"
    );
    let table = sandbox.succeed("table --run latest");
    let row = table
        .lines()
        .find(|line| line.contains("exec:sh system.sh"));
    assert!(
        row.is_some_and(|row| row.contains("| 3 | 1 | 1.0000 |")),
        "{table}"
    );
    // A lone report is of a dataset file if it says so.
    fs::copy(
        newest(&sandbox).join("report.json"),
        sandbox.work().join("copy.json"),
    )
    .unwrap();
    let shown = sandbox.succeed("runs show ./copy.json");
    assert!(shown.contains("target: exec:sh system.sh"), "{shown}");
}

#[test]
fn the_report_of_pydantic_evals_is_written() {
    let sandbox = sandbox();
    eval(&sandbox, "--out report.pydantic.json");
    let report = json(&sandbox.work().join("report.pydantic.json"));
    assert_eq!(report["name"], "capitals_eval");
    let case = &report["cases"][1];
    assert_eq!(case["assertions"]["Contains"]["value"], false);
    assert_eq!(
        case["assertions"]["Contains"]["source"],
        json!({"name": "Contains", "arguments": ["Nai"]})
    );
    assert_eq!(report["failures"][0]["name"], "Case 3");
    // Only a dataset file has such a report.
    let message = sandbox.refuse("run sample --skip-qa --out report.pydantic.json");
    assert!(
        message.contains("only runs of `evaluations eval`"),
        "{message}"
    );
}

#[test]
fn measures_are_broken_down_by_metadata() {
    let sandbox = sandbox();
    let ended = eval(&sandbox, "--group-by continent --cases 0");
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    assert!(
        ended
            .stdout
            .contains("EqualsExpected (pass rate) by continent"),
        "{}",
        ended.stdout
    );
    let report = report(&sandbox);
    let groups = report["summary"]["groups"].as_array().unwrap();
    assert_eq!(groups.len(), 1, "{groups:?}");
    let shown = sandbox.succeed("runs show latest --group-by continent");
    assert!(
        shown.contains("EqualsExpected (pass rate) by continent"),
        "{shown}"
    );
    for (options, message) in [
        (
            "--group-by contient",
            "error: `--group-by contient`: cases have no `contient`; known are `continent`; did you mean `continent`?\n",
        ),
        (
            "--filter-case contient=Asia",
            "error: `--filter-case contient=Asia`: cases have no `contient`; known are `continent`; did you mean `continent`?\n",
        ),
        (
            "--filter-case continent=Asia",
            "error: no case fits `continent=Asia`; the values of `continent` are `(none)`, `Africa`, `Europe`\n",
        ),
    ] {
        let refused = eval(&sandbox, options);
        assert_eq!((refused.code, refused.stderr.as_str()), (Some(2), message));
    }
    assert_eq!(sandbox.runs().len(), 1);
}
