//! The pictures of the documentation, from real runs: `make pictures` writes them to `docs/images`.

use std::env;
use std::fs;
use std::path::Path;

use crate::browser::{Browser, key};
use crate::sandbox::Sandbox;
use crate::viewer::Viewer;

/// Writes what the window shows.
fn save(browser: &Browser, name: &str) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/images");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join(format!("{name}.png")), browser.screenshot()).unwrap();
}

fn opened(page: &Path, fragment: &str) -> Browser {
    let browser = Browser::start();
    browser.resize(1100, 900);
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
    save(&browser, "report-retrieval");
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
    sandbox.succeed("sample --no-progress --skip-retrieval --out report.html");

    let browser = opened(&sandbox.work().join("report.html"), "");
    save(&browser, "report-question-answering");
    browser.run::<()>("document.querySelector('#cases').scrollIntoView()", &[]);
    save(&browser, "report-cases");
    browser.run::<()>("location.hash = 'f.where=right'", &[]);
    browser.wait("document.querySelector('.count').innerText.includes(' of ')");
    open_case(&browser, "right");
    save(&browser, "report-case");
    browser.end(&["file://"]);

    let browser = opened(&sandbox.work().join("change.html"), "");
    save(&browser, "comparison");
    open_case(&browser, "worse");
    save(&browser, "comparison-case");
    browser.end(&["file://"]);

    let viewer = Viewer::start(&mut sandbox.command("view --no-open"));
    let browser = Browser::start();
    browser.resize(1300, 700);
    browser.visit(viewer.address());
    browser.wait("document.querySelector('tbody tr')");
    // The folder of a test has a random name.
    browser.run::<()>(
        "document.querySelector('main p code').innerText = '/home/ada/.local/share/evaluations/runs'",
        &[],
    );
    save(&browser, "view-runs");
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
    save(&browser, "view-labels");
    browser.end(&[&format!("http://{}", viewer.host()), "data:"]);
}
