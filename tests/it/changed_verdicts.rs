//! Equal answers with other verdicts: the page of a change says that the judge is not stable only if one judge gave both.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde_json::json;

use crate::eval::judging;
use crate::pages::{Page, shown};
use crate::qa_server::{self, is_judging};
use crate::sandbox::{Sandbox, ended};
use crate::scripted_server::{Reaction, ScriptedServer};

/// A verdict that a test changes while the server of a judge runs.
#[derive(Clone)]
struct Verdict(Arc<AtomicBool>);

impl Verdict {
    fn passing() -> Self {
        Self(Arc::new(AtomicBool::new(true)))
    }

    fn passes(&self) -> bool {
        self.0.load(Ordering::SeqCst)
    }

    fn fail(&self) {
        self.0.store(false, Ordering::SeqCst);
    }
}

/// The name of the newest run.
fn newest(sandbox: &Sandbox) -> String {
    let run = sandbox.runs().pop().unwrap();
    run.file_name().unwrap().to_string_lossy().into_owned()
}

/// What the page of a change says about equal answers with other verdicts, besides their number.
fn blamed(sandbox: &Sandbox, before: &str, cases: usize) -> String {
    let after = newest(sandbox);
    assert_ne!(before, after);
    sandbox.succeed(&format!("compare {before} {after} --out change.html"));
    let page = Page::of(sandbox, "change.html");
    let changes = shown(&page.column("change"));
    assert_eq!(changes, vec!["same answer, other verdict"; cases]);
    let counted =
        format!("{cases} cases with the same answer in both runs got a different verdict");
    let mut notices = page.notices().into_iter();
    let notice = notices.find_map(|(_, text)| text.strip_prefix(&counted));
    notice
        .unwrap_or_else(|| panic!("{:?}", page.notices()))
        .to_owned()
}

const UNSTABLE: &str = " from the same judge: its verdicts are not stable.";

const NOBODY: &str = ".";

#[test]
fn a_judge_of_answers_is_unstable_only_with_equal_model_parameters_and_prompt() {
    let verdict = Verdict::passing();
    let given = verdict.clone();
    let server = ScriptedServer::start(move |request, _| {
        if is_judging(request) {
            Reaction::say(&json!({"reason": "none", "pass": given.passes()}).to_string())
        } else {
            qa_server::reply(request, Duration::ZERO)
        }
    });
    let sandbox = Sandbox::new();
    qa_server::write(&sandbox, 3, &server);
    let run = |line: &str| {
        let ended = ended(&mut qa_server::with_settings(&sandbox, line));
        assert_eq!(ended.code, Some(0), "{line}: {}", ended.stderr);
    };
    run("run towers.yaml --skip-retrieval");
    let before = newest(&sandbox);
    verdict.fail();

    run("run towers.yaml --skip-retrieval --fresh --no-cache");
    assert_eq!(blamed(&sandbox, &before, 3), UNSTABLE);
    let again = format!("rejudge {before} --no-cache");
    run(&again);
    assert_eq!(blamed(&sandbox, &before, 3), UNSTABLE);
    run(&format!("{again} --judge embedded:overlap"));
    assert_eq!(blamed(&sandbox, &before, 3), NOBODY);
    run(&format!("{again} --set evaluations.judge.temperature=0.5"));
    assert_eq!(blamed(&sandbox, &before, 3), NOBODY);
    let bundled = sandbox.succeed("config prompts judge");
    sandbox.write("prompts/judge.md.jinja", format!("Be strict.\n{bundled}"));
    run(&again);
    assert_eq!(blamed(&sandbox, &before, 3), NOBODY);
}

#[test]
fn a_judge_of_outputs_is_unstable_only_with_equal_rubric_model_parameters_and_prompt() {
    let verdict = Verdict::passing();
    let given = verdict.clone();
    let server = judging::rubric_judge(move |_| given.passes());
    let sandbox = Sandbox::new();
    judging::with_judge(&sandbox, &server);
    let run = |options: &str| {
        let ended = judging::judged(&sandbox, &format!("--fresh --no-cache {options}"));
        assert_eq!(ended.code, Some(0), "{options}: {}", ended.stderr);
    };
    run("");
    let before = newest(&sandbox);
    verdict.fail();

    run("");
    assert_eq!(blamed(&sandbox, &before, 2), UNSTABLE);
    run("--set evaluations.judge.temperature=0.5");
    assert_eq!(blamed(&sandbox, &before, 2), NOBODY);
    run("--set evaluations.judge.name=judge-2");
    assert_eq!(blamed(&sandbox, &before, 2), NOBODY);
    let bundled = sandbox.succeed("config prompts rubric");
    sandbox.write("prompts/rubric.md.jinja", format!("Be strict.\n{bundled}"));
    run("");
    assert_eq!(blamed(&sandbox, &before, 2), NOBODY);
    std::fs::remove_file(sandbox.work().join("prompts/rubric.md.jinja")).unwrap();
    sandbox.write("judged.yaml", judging::JUDGED.replace("polite", "short"));
    run("");
    assert_eq!(blamed(&sandbox, &before, 2), NOBODY);
}
