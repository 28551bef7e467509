//! The pictures of the documentation, from real runs: `make pictures` writes them to `docs/images`.

use std::collections::BTreeMap;
use std::env;
use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::browser::{Browser, key};
use crate::sandbox::{Sandbox, json as read};
use crate::scripted_server::{Reaction, Saying, ScriptedServer};
use crate::viewer::Viewer;

/// The width of a picture in pixels.
const WIDTH: u32 = 1100;

/// Writes what the window shows, without scrollbars, down to the end of the first element that matches.
fn save(browser: &Browser, name: &str, last: &str) {
    let end: f64 = browser.run(
        "const rows = document.querySelector('.rows');
         if (rows) rows.style.maxHeight = `${rows.querySelector('thead').offsetHeight + 14 * rows.querySelector('tbody tr:not(.spacer)').offsetHeight + 2}px`;
         return document.querySelector(arguments[0]).getBoundingClientRect().bottom + 16",
        &[last.into()],
    );
    browser.devtools("Emulation.setScrollbarsHidden", &json!({"hidden": true}));
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a few thousand pixels"
    )]
    browser.resize(WIDTH, end.ceil() as u32);
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/images");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join(format!("{name}.png")), browser.screenshot()).unwrap();
    browser.resize(WIDTH, 900);
}

/// A model that knows the answers of a report's cases, apart from some, and a judge that compares them with the references.
fn scripted(report: &Value) -> ScriptedServer {
    let cases = report["cases"].as_array().unwrap().iter();
    let known: BTreeMap<String, String> = cases
        .filter_map(|case| {
            let expected = &case["expected"];
            let is_answerable = expected["answerable"].as_bool().unwrap_or(true);
            let answer = expected["answer"].as_str().filter(|_| is_answerable)?;
            Some((case["input"].as_str()?.to_owned(), answer.to_owned()))
        })
        .collect();
    ScriptedServer::start(move |request, _| {
        let prompt = request.body["messages"].to_string();
        let prompt = prompt.replace("\\n", "\n").replace("\\\"", "\"");
        let question = between(&prompt, "question");
        if request.body["model"] == "example-judge" {
            let (answer, reference) = (between(&prompt, "answer"), between(&prompt, "reference"));
            let passes = answer.contains(reference);
            let reason = if passes {
                "The answer says what the reference says."
            } else {
                "The answer names something else than the reference does."
            };
            return Reaction::Say(Saying::of(
                &json!({"reason": reason, "pass": passes}).to_string(),
            ));
        }
        let place = known.keys().position(|it| it == question);
        // Every sixth answer is that to a different question, and every ninth question finds the model without one.
        let answer = match place {
            Some(place) if place % 9 == 4 => None,
            Some(place) if place % 6 == 2 => known.values().nth(place + 1),
            _ => known.get(question),
        };
        let answer = answer.map(|it| format!("{it} [1]"));
        Reaction::Say(Saying::of(&answer.unwrap_or_else(|| {
            "The answer is not found in the document.".to_owned()
        })))
    })
}

/// What a prompt has in the element of this name, whose tags end in a code.
fn between<'p>(prompt: &'p str, name: &str) -> &'p str {
    let start = prompt
        .rsplit(&format!("\n<{name}-"))
        .next()
        .unwrap_or_default();
    let text = start.split_once(">\n").map_or("", |(_, text)| text);
    text.split(&format!("\n</{name}-"))
        .next()
        .unwrap_or_default()
}

fn opened(page: &Path, fragment: &str) -> Browser {
    let browser = Browser::start();
    browser.resize(WIDTH, 900);
    browser.open(page, fragment);
    browser.wait("document.querySelector('.rows tbody tr')");
    browser
}

/// Opens the case whose row has this text in one of its cells.
fn open_case(browser: &Browser, cell: &str) {
    browser.run::<()>(
        "[...document.querySelectorAll('.rows tbody tr')].find((it) => it.innerText.includes(arguments[0])).querySelector('a').click()",
        &[cell.into()],
    );
    browser.wait("document.querySelector('dialog .ranking .title')?.innerText");
}

#[test]
#[ignore = "writes pictures: make pictures"]
fn retrieval_on_scifact() {
    let home = env::var("EVALUATIONS_REAL_HF_HOME")
        .expect("`EVALUATIONS_REAL_HF_HOME` names a Hugging Face home with `mteb/scifact`");
    let sandbox = Sandbox::new();
    let mut command =
        sandbox.command("beir:scifact --skip-qa --profile all --no-progress --out report.html");
    let output = command.env("HF_HOME", home).output().unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let browser = opened(&sandbox.work().join("report.html"), "");
    save(&browser, "report-retrieval", "#figures");
    browser.end(&["file://"]);
}

#[test]
#[ignore = "writes pictures: make pictures"]
fn question_answering_and_a_comparison_on_the_sample() {
    let sandbox = Sandbox::new();
    sandbox.succeed("sample --no-progress --profile bm25 --profile hybrid --skip-qa");
    let runs = sandbox.runs();
    let [before, after] =
        [&runs[0], &runs[1]].map(|run| run.file_name().unwrap().to_string_lossy());
    sandbox.succeed(&format!("compare {before} {after} --out change.html"));
    sandbox.succeed("sample --no-progress --skip-retrieval --out known.json");
    let server = scripted(&read(&sandbox.work().join("known.json")));
    let settings = json!({
        "qa": {"model": {"provider": "openai", "name": "example-model"}},
        "evaluations": {"judge": {"provider": "openai", "name": "example-judge"}},
        "providers": {"openai": {"base_url": server.openai_url()}},
    });
    sandbox.write("settings.yaml", settings.to_string());
    sandbox
        .succeed("sample --no-progress --skip-retrieval --config settings.yaml --out report.html");

    let browser = opened(&sandbox.work().join("report.html"), "");
    save(&browser, "report-question-answering", "#figures");
    browser.run::<()>("document.querySelector('#cases').scrollIntoView()", &[]);
    save(&browser, "report-cases", ".rows");
    browser.run::<()>("location.hash = 'f.where=right'", &[]);
    browser.wait("document.querySelector('.count').innerText.includes(' of ')");
    open_case(&browser, "right");
    save(&browser, "report-case", "dialog .ranking li:nth-child(4)");
    browser.end(&["file://"]);

    let browser = opened(&sandbox.work().join("change.html"), "");
    save(&browser, "comparison", "#figures");
    open_case(&browser, "worse");
    save(&browser, "comparison-case", "dialog .missed");
    browser.end(&["file://"]);

    let viewer = Viewer::start(&mut sandbox.command("view --no-open"));
    let browser = Browser::start();
    browser.resize(WIDTH, 900);
    browser.visit(viewer.address());
    browser.wait("document.querySelector('tbody tr')");
    // The folder of a test has a random name.
    browser.run::<()>(
        "document.querySelector('main p code').innerText = '/home/ada/.local/share/evaluations/runs'",
        &[],
    );
    save(&browser, "view-runs", "main");
    browser.run::<()>("document.querySelector('a[href$=\"/label\"]').click()", &[]);
    browser.wait("document.getElementById('setup')");
    browser.run::<()>("document.querySelector('[name=labeller]').focus()", &[]);
    browser.keys("ada");
    browser.keys(key::ENTER);
    browser.wait("!document.getElementById('work').hidden");
    for (label, place) in [("1", "2 of"), ("2", "3 of")] {
        browser.keys(label);
        browser.wait(&format!(
            "document.getElementById('place').innerText.startsWith('{place}')"
        ));
        browser.wait("document.getElementById('work').getAttribute('aria-busy') !== 'true'");
    }
    save(&browser, "view-labels", "main");
    browser.end(&[&format!("http://{}", viewer.host()), "data:"]);
}
