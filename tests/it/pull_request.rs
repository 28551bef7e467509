//! The GitHub action: its scripts do with a pull request what the page on pipelines promises, and no input becomes a command.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::sandbox::{Ended, Sandbox, ended};

fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
}

/// A checkout of a pull request, on a runner that has the program and a `gh` that only writes down what it is asked.
struct Runner {
    sandbox: Sandbox,
}

impl Runner {
    fn new() -> Self {
        let runner = Self {
            sandbox: Sandbox::new(),
        };
        let programs = runner.path("../bin");
        fs::create_dir(&programs).unwrap();
        symlink(
            env!("CARGO_BIN_EXE_evaluations"),
            programs.join("evaluations"),
        )
        .unwrap();
        runner.install(
            "gh",
            "printf '%s\\n' \"$*\" >> \"$GH_LOG\"\n\
             for word in \"$@\"; do case $word in body=@*) cp \"${word#body=@}\" \"$GH_LOG.body\" ;; esac; done\n\
             case \"$*\" in *--paginate*) printf '%s' \"$GH_FOUND\" ;; esac\n",
        );
        runner
    }

    fn install(&self, name: &str, script: &str) {
        let path = self.path("../bin").join(name);
        fs::write(&path, format!("#!/bin/sh\n{script}")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    }

    fn path(&self, name: &str) -> PathBuf {
        self.sandbox.work().join(name)
    }

    fn text(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap_or_default()
    }

    fn command(&self, program: &str, arguments: &[&str]) -> Command {
        let mut command = Command::new(program);
        let path = std::env::var("PATH").unwrap_or_default();
        let programs = self.path("../bin");
        command
            .args(arguments)
            .current_dir(self.sandbox.work())
            .env_clear()
            .env("PATH", format!("{}:{path}", programs.display()))
            .env("HOME", self.path("../home"))
            .env("EVALUATIONS_DATA_DIR", self.sandbox.data())
            .env("HF_HUB_OFFLINE", "1")
            .env("LANG", "C.UTF-8")
            .env("GITHUB_ACTIONS", "true")
            .env("GITHUB_REPOSITORY", "owner/name")
            .env("GITHUB_OUTPUT", self.path("output"))
            .env("GITHUB_STEP_SUMMARY", self.path("summary"))
            .env("BENCHMARK_NAME", "retrieval")
            .env("GH_LOG", self.path("gh"))
            .env("GH_FOUND", "")
            .stdin(Stdio::null());
        command
    }

    fn git(&self, line: &str) -> String {
        let identity = ["-c", "user.name=A", "-c", "user.email=a@example.com"];
        let words: Vec<&str> = identity.into_iter().chain(line.split(' ')).collect();
        let ended = ended(&mut self.command("git", &words));
        assert_eq!(ended.code, Some(0), "git {line}: {}", ended.stderr);
        ended.stdout.trim().to_owned()
    }

    /// Runs `scripts/pull-request-benchmark` with these variables.
    fn benchmark(&self, variables: &[(&str, &str)]) -> Ended {
        let script = root().join("scripts/pull-request-benchmark");
        let mut command = self.command("bash", &[script.to_str().unwrap(), "results"]);
        ended(command.envs(variables.iter().copied()))
    }

    /// Runs `scripts/sticky-comment` for pull request 12.
    fn comment(&self, found: &str) -> Ended {
        let script = root().join("scripts/sticky-comment");
        let mut command = self.command("bash", &[script.to_str().unwrap(), "results.md"]);
        ended(command.env("PULL_REQUEST", "12").env("GH_FOUND", found))
    }
}

#[test]
fn a_run_is_judged_and_compared_with_the_base() {
    let runner = Runner::new();
    runner
        .sandbox
        .write("evaluations.yaml", "processing: {chunk_size: 256}\n");
    runner.git("init --quiet");
    runner.git("add evaluations.yaml");
    runner.git("commit --quiet -m base");
    let base = runner.git("rev-parse HEAD");
    runner
        .sandbox
        .write("evaluations.yaml", "processing: {chunk_size: 64}\n");
    let ended = runner.benchmark(&[
        (
            "BENCHMARK_RUN",
            "sample --skip-qa\n--profile bm25 --profile hybrid",
        ),
        ("BENCHMARK_GATE", "--min R@5=0.8"),
        ("BENCHMARK_BASE", &base),
    ]);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let results = runner.text("results/results.md");
    assert!(
        results.starts_with("### Benchmark: retrieval\n"),
        "{results}"
    );
    // The profile bm25 misses the minimum.
    assert!(results.contains("**gate failed: "), "{results}");
    assert!(
        results.contains(&format!("#### Change since `{}`", &base[..12])),
        "{results}"
    );
    for profile in ["bm25", "hybrid"] {
        let before = results
            .lines()
            .filter(|line| line.starts_with("- before: ") && line.ends_with(profile));
        assert_eq!(before.count(), 1, "{profile}: {results}");
    }
    assert!(
        results.contains("tokens.size: 256 -&gt; 64"),
        "the base ran with its own settings: {results}"
    );
    let output = runner.text("output");
    assert!(output.contains("\nexit-code=1\n"), "{output}");
    let summary = runner.text("summary");
    for part in ["**gate failed: ", "#### Change since"] {
        assert_eq!(summary.matches(part).count(), 1, "{part}: {summary}");
    }
    assert_eq!(
        runner.git("worktree list").lines().count(),
        1,
        "no checkout of the base is left"
    );
}

#[test]
fn inputs_are_words_and_never_commands() {
    let runner = Runner::new();
    let hostile = "sample --skip-qa --name $(touch${IFS}made) `touch made` ; touch made";
    let ended = runner.benchmark(&[("BENCHMARK_RUN", hostile)]);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert!(
        runner.text("output").contains("exit-code=2\n"),
        "the words are arguments that the program refuses: {ended:?}"
    );
    assert!(!runner.path("made").exists());
    let refused = runner.benchmark(&[
        ("BENCHMARK_RUN", "sample --skip-qa"),
        ("BENCHMARK_NAME", "a`b` -->"),
    ]);
    assert_eq!(refused.code, Some(2), "{refused:?}");
    let results = runner.text("results/results.md");
    assert!(
        results.contains("The benchmark failed with exit code 2"),
        "{results}"
    );
}

#[test]
fn one_comment_is_updated() {
    let runner = Runner::new();
    runner.sandbox.write("results.md", "### Benchmark\n");
    assert_eq!(runner.comment("").code, Some(0));
    let asked = runner.text("gh");
    assert!(
        asked.contains("--method POST repos/owner/name/issues/12/comments --field body=@"),
        "{asked}"
    );
    let body = runner.text("gh.body");
    assert!(
        body.starts_with("<!-- evaluations: retrieval -->\n### Benchmark\n"),
        "{body}"
    );
    assert_eq!(runner.comment("4711\n4712\n").code, Some(0));
    let asked = runner.text("gh");
    assert!(
        asked.contains("--method PATCH repos/owner/name/issues/comments/4711 --field body=@"),
        "{asked}"
    );
    runner
        .sandbox
        .write("results.md", "| ä | 0.5 |\n".repeat(9000));
    assert_eq!(runner.comment("4711\n").code, Some(0));
    let body = runner.text("gh.body");
    assert!(body.chars().count() < 65_536);
    assert!(
        body.trim_end()
            .ends_with("| ä | 0.5 |\n\n… The rest is in the summary of the job."),
        "it ends with a whole line"
    );
}

#[test]
fn a_token_that_may_not_write_is_no_failure() {
    let runner = Runner::new();
    runner.sandbox.write("results.md", "### Benchmark\n");
    runner.install(
        "gh",
        "case \"$*\" in *--paginate*) ;; *)\n\
         echo 'gh: Resource not accessible by integration (HTTP 403)' >&2; exit 1 ;; esac\n",
    );
    let ended = runner.comment("");
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert_eq!(
        ended.stdout,
        "::notice::no comment was written: gh: Resource not accessible by integration (HTTP 403). The summary of the \
         job has the results.\n"
    );
}

#[test]
fn the_action_hands_inputs_over_by_variables() {
    let text = fs::read_to_string(root().join("action.yml")).unwrap();
    let action: Value = serde_saphyr::from_str(&text).unwrap();
    let inputs = action["inputs"].as_object().unwrap();
    let steps = action["runs"]["steps"].as_array().unwrap();
    for step in steps {
        let Some(script) = step["run"].as_str() else {
            continue;
        };
        assert_eq!(step["shell"], "bash", "{step}");
        assert!(!script.contains("${{"), "an expression in a script: {step}");
    }
    let mut named = text.split("inputs.").skip(1).map(|rest| {
        rest.split(|c: char| !c.is_ascii_alphanumeric() && c != '-')
            .next()
    });
    assert!(
        named.all(|name| inputs.contains_key(name.unwrap())),
        "{text}"
    );
    for input in inputs.keys() {
        assert!(
            text.contains(&format!("inputs.{input}")),
            "nothing reads `{input}`"
        );
    }
}
