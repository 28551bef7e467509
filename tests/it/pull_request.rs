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
             case \"$*\" in *--paginate*) printf '%s' \"$GH_FOUND\" ;; *graphql*) echo owner ;; esac\n",
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
    assert_eq!(refused.code, Some(0), "{refused:?}");
    assert!(runner.text("output").ends_with("exit-code=2\n"));
    let results = runner.text("results/results.md");
    assert!(
        results.starts_with("The name of a benchmark has letters,"),
        "{results}"
    );
}

#[test]
fn a_name_that_could_end_the_marker_writes_no_comment() {
    let runner = Runner::new();
    runner.sandbox.write("results.md", "### Benchmark\n");
    let script = root().join("scripts/sticky-comment");
    let mut command = runner.command("bash", &[script.to_str().unwrap(), "results.md"]);
    let commented = ended(
        command
            .env("PULL_REQUEST", "12")
            .env("BENCHMARK_NAME", "a`b` -->"),
    );
    assert_eq!(commented.code, Some(0), "{commented:?}");
    assert!(
        commented.stdout.contains("the name of the benchmark"),
        "{commented:?}"
    );
    assert_eq!(runner.text("gh"), "", "nothing was asked of GitHub");
}

#[test]
fn a_base_that_cannot_be_compared_is_a_result() {
    let runner = Runner::new();
    let refused = |base: &str, expected: &str| {
        let ended = runner.benchmark(&[
            ("BENCHMARK_RUN", "sample --skip-qa"),
            ("BENCHMARK_BASE", base),
        ]);
        assert_eq!(ended.code, Some(0), "{ended:?}");
        let results = runner.text("results/results.md");
        assert!(results.contains(expected), "{results}");
        let output = runner.text("output");
        assert!(
            output.ends_with("results/results.md\nexit-code=2\n"),
            "{output}"
        );
        assert!(ended.stdout.contains("::error::"), "{ended:?}");
    };
    refused("main", "git reads no checkout here");
    runner.git("init --quiet");
    runner.git("commit --quiet --allow-empty -m base");
    refused(
        "no-such-branch",
        "starts from cannot be found: check out with `fetch-depth: 0`",
    );
    let elsewhere = runner.git("commit-tree -m elsewhere HEAD^{tree}");
    refused(&elsewhere, "starts from cannot be found");
    runner.sandbox.write("results/base/file", "in the way");
    refused("HEAD", "cannot be checked out");
}

#[test]
fn a_folder_that_the_base_lacks_is_named() {
    let runner = Runner::new();
    runner.git("init --quiet");
    runner.git("commit --quiet --allow-empty -m base");
    fs::create_dir(runner.path("new")).unwrap();
    let script = root().join("scripts/pull-request-benchmark");
    let mut command = runner.command("bash", &[script.to_str().unwrap(), "../results"]);
    command
        .current_dir(runner.path("new"))
        .env("BENCHMARK_RUN", "sample --skip-qa")
        .env("BENCHMARK_BASE", "HEAD");
    let ended = ended(&mut command);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let results = runner.text("results/results.md");
    assert!(
        results.contains("has no folder `new` to run in"),
        "{results}"
    );
    assert!(runner.text("output").ends_with("exit-code=2\n"));
    assert_eq!(runner.git("worktree list").lines().count(), 1);
}

#[test]
fn the_base_is_the_commit_that_was_merged() {
    let runner = Runner::new();
    // In place of the program: records its folder, and the runs that it compares.
    fs::remove_file(runner.path("../bin/evaluations")).unwrap();
    runner.install(
        "evaluations",
        "case $1 in run) git rev-parse HEAD >> \"$GH_LOG\" ;; compare) echo compared > \"$3\" ;; esac\n",
    );
    let commit = |name: &str| {
        runner.git(&format!("commit --quiet --allow-empty -m {name}"));
        runner.git("rev-parse HEAD")
    };
    runner.git("init --quiet --initial-branch main");
    let start = commit("start");
    runner.git("checkout --quiet -b pull-request");
    let head = commit("head");
    runner.git("checkout --quiet main");
    let newer = commit("newer");
    runner.git("merge --quiet --no-ff -m merge pull-request");
    let merge = runner.git("rev-parse HEAD");
    let ran = |base: &str, head: &str| {
        fs::write(runner.path("gh"), "").unwrap();
        let ended = runner.benchmark(&[
            ("BENCHMARK_RUN", "sample"),
            ("BENCHMARK_BASE", base),
            ("BENCHMARK_HEAD", head),
        ]);
        assert_eq!(ended.code, Some(0), "{ended:?}");
        let output = runner.text("output");
        assert!(output.ends_with("exit-code=0\n"), "{output} {ended:?}");
        let commits = runner.text("gh");
        let commits: Vec<String> = commits.lines().map(str::to_owned).collect();
        commits
    };
    assert_eq!(
        ran(&start, &head),
        [newer.as_str(), merge.as_str()],
        "the event names an older base than GitHub merged with"
    );
    // The checkout is a merge commit of the pull request itself.
    assert_eq!(ran(&newer, &merge), [newer.as_str(), merge.as_str()]);
    runner.git("checkout --quiet pull-request");
    assert_eq!(
        ran(&newer, &head),
        [start.as_str(), head.as_str()],
        "without the merge, the base is where the branches part"
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
fn all_pages_of_comments_are_read() {
    let runner = Runner::new();
    runner.sandbox.write("results.md", "### Benchmark\n");
    // More than a pipe holds.
    runner.install(
        "gh",
        "printf '%s\\n' \"$*\" >> \"$GH_LOG\"\n\
         case \"$*\" in *--paginate*) seq 100000 200000 ;; *graphql*) echo owner ;; esac\n",
    );
    let ended = runner.comment("");
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(0), ""));
    let asked = runner.text("gh");
    assert!(
        asked.contains("--method PATCH repos/owner/name/issues/comments/100000 "),
        "{asked}"
    );
}

#[test]
fn only_a_comment_of_the_token_is_updated() {
    if Command::new("jq").arg("--version").output().is_err() {
        eprintln!("skipped: no jq");
        return;
    }
    let runner = Runner::new();
    runner.sandbox.write("results.md", "### Benchmark\n");
    let comment = |id: u64, login: &str, kind: &str, body: &str| serde_json::json!({"id": id, "user": {"login": login, "type": kind}, "body": body});
    let marker = "<!-- evaluations: retrieval -->\nolder";
    let comments = serde_json::json!([
        comment(1, "somebody", "User", marker),
        comment(2, "other-app[bot]", "Bot", marker),
        comment(3, "maintainer", "User", "<!-- evaluations: answers -->"),
        comment(4, "maintainer", "User", marker),
        comment(5, "github-actions[bot]", "Bot", marker),
    ]);
    runner.sandbox.write("comments", comments.to_string());
    // What `gh` does with `--jq`, the last argument.
    let gh = |owner: &str| {
        runner.install(
            "gh",
            &format!(
                "for last in \"$@\"; do :; done\n\
                 printf '%s\\n' \"$*\" >> \"$GH_LOG\"\n\
                 case \"$*\" in *--paginate*) jq -r \"$last\" comments ;; *graphql*) {owner} ;; esac\n"
            ),
        );
        fs::write(runner.path("gh"), "").unwrap();
        let ended = runner.comment("");
        assert_eq!((ended.code, ended.stdout.as_str()), (Some(0), ""));
        runner.text("gh")
    };
    for (owner, expected) in [
        (
            "echo maintainer",
            "--method PATCH repos/owner/name/issues/comments/4 ",
        ),
        (
            "echo 'other-app[bot]'",
            "--method PATCH repos/owner/name/issues/comments/2 ",
        ),
        (
            "echo 'new-app[bot]'",
            "--method POST repos/owner/name/issues/12/comments ",
        ),
        (
            "exit 1",
            "--method PATCH repos/owner/name/issues/comments/5 ",
        ),
    ] {
        let asked = gh(owner);
        assert!(asked.contains(expected), "{owner}: {asked}");
    }
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
fn the_action_installs_its_own_version() {
    let runner = Runner::new();
    fs::remove_file(runner.path("../bin/evaluations")).unwrap();
    // `python3 -m venv FOLDER` puts a Python into the folder that writes down its arguments.
    runner.install(
        "python3",
        "mkdir -p \"$3/bin\"\n\
         printf '#!/bin/sh\\necho \"$*\" >> \"$GH_LOG\"\\n' > \"$3/bin/python\"\n\
         chmod +x \"$3/bin/python\"\n",
    );
    let text = fs::read_to_string(root().join("action.yml")).unwrap();
    let action: Value = serde_saphyr::from_str(&text).unwrap();
    let steps = action["runs"]["steps"].as_array().unwrap();
    let step = steps.iter().find(|step| step["id"] == "program").unwrap();
    let script = step["run"].as_str().unwrap();
    let programs = runner.path("../bin");
    let installed = |version: &str| {
        let mut command = runner.command("bash", &["-e", "-o", "pipefail", "-c", script]);
        command
            .env("PATH", format!("{}:/usr/bin:/bin", programs.display()))
            .env("RUNNER_TEMP", runner.path("temporary"))
            .env("GITHUB_ACTION_PATH", root())
            .env("VERSION", version);
        let ended = ended(&mut command);
        assert_eq!(ended.code, Some(0), "{ended:?}");
        runner.text("gh").lines().last().unwrap().to_owned()
    };
    let own = format!(" evaluations-cli=={}", env!("CARGO_PKG_VERSION"));
    assert!(installed("").ends_with(&own), "{own}");
    assert!(installed("0.0.7").ends_with(" evaluations-cli==0.0.7"));
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
