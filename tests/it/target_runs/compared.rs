//! Comparisons of runs of a service that replies with answers alone.

use crate::sandbox::{Ended, Sandbox, ended};

/// Answers with the word `$1`, and with the document `$2` if there is one.
const SERVICE: &str = r#"documents=
[ -n "$2" ] && documents=",\"documents\":[\"$2\"]"
while IFS= read -r line; do
    id=${line#*\"id\":\"}
    id=${id%%\"*}
    printf '{"id":"%s","answer":"it is %s"%s}\n' "$id" "$1" "$documents"
done
"#;

fn sandbox() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("answers.sh", SERVICE);
    sandbox
}

/// Runs both benchmarks over the service with these arguments.
fn run(sandbox: &Sandbox, arguments: &str, options: &str) -> Ended {
    let mut command = sandbox.command("sample --no-progress --limit 20 --judge embedded:overlap");
    command.args(["--target", &format!("exec:sh answers.sh {arguments}")]);
    let ran = ended(command.args(options.split_whitespace()));
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    ran
}

const SKIPPED: &str = "20 cases in common, but no measure has a value in both";

#[test]
fn a_pair_without_values_is_skipped_and_the_other_pair_compared() {
    let sandbox = sandbox();
    run(&sandbox, "red", "");
    run(&sandbox, "blue", "");
    let compared = sandbox.run("compare --fail-if-worse --out change.json");
    assert_eq!(compared.code, Some(0), "{}", compared.stderr);
    let skipped = compared.stderr.lines().filter(|it| it.contains(SKIPPED));
    assert_eq!(skipped.count(), 1, "{}", compared.stderr);
    assert!(
        compared.stdout.contains("_qa_evaluation"),
        "{}",
        compared.stdout
    );
    assert!(
        !compared.stdout.contains("_retrieval_"),
        "{}",
        compared.stdout
    );
    let names = std::fs::read_dir(sandbox.work()).unwrap();
    let names = names.map(|it| it.unwrap().file_name().into_string().unwrap());
    let written: Vec<String> = names.filter(|it| it.starts_with("change.")).collect();
    assert!(
        written.len() == 1 && written[0].starts_with("change.qa-"),
        "{written:?}"
    );
    let of_searches = sandbox.refuse("compare --measure RR@5");
    assert!(
        of_searches.contains("none of the 2 pairs of runs"),
        "{of_searches}"
    );
}

#[test]
fn values_that_a_service_no_longer_gives_are_worse() {
    let sandbox = sandbox();
    run(&sandbox, "red technology-last-exchange", "");
    run(&sandbox, "red", "");
    sandbox.succeed("compare");
    let compared = sandbox.run("compare --fail-if-worse");
    assert_eq!(compared.code, Some(1), "{}", compared.stderr);
    assert!(
        compared.stderr.contains("no case has a value any more"),
        "{}",
        compared.stderr
    );
}

#[test]
fn variants_of_a_service_that_only_answers_are_compared_by_their_answers() {
    let sandbox = sandbox();
    let ran = run(&sandbox, "red", "--set-each target.version=a,b");
    assert!(ran.stderr.contains(SKIPPED), "{}", ran.stderr);
    let again = sandbox.run("compare");
    assert_eq!(
        (again.code, &again.stdout),
        (Some(0), &ran.stdout),
        "{}",
        again.stderr
    );
}
