//! `evaluations view` in a browser: the list of runs, a running run, trends.

use std::fs;
#[cfg(target_os = "linux")]
use std::path::Path;
use std::process::Stdio;

use crate::accessibility::{check, check_schemes};
use crate::browser::{Browser, key};
#[cfg(target_os = "linux")]
use crate::opened_viewer::OpenedViewer;
use crate::sandbox::{Sandbox, wait_for};
use crate::viewer::Viewer;

/// Two runs of two profiles each, and a folder that is no run.
fn with_runs() -> Sandbox {
    let sandbox = Sandbox::new();
    for _ in 0..2 {
        sandbox.succeed("sample --limit 20 --skip-qa --profile bm25 --profile hybrid");
    }
    fs::create_dir(sandbox.data().join("runs/notes")).unwrap();
    sandbox
}

fn start(sandbox: &Sandbox) -> (Viewer, Browser, String) {
    let viewer = Viewer::start(&mut sandbox.command("view --no-open"));
    let browser = Browser::start();
    browser.visit(viewer.address());
    let root = viewer.address().trim_end_matches('/').to_owned();
    (viewer, browser, root)
}

/// The pages of the server, and of the browser before it has opened one.
fn end(browser: Browser, root: &str) {
    browser.end(&[root, "data:"]);
}

#[test]
#[ignore = "needs Chromium: make test-browser"]
fn the_address_leads_to_the_list_and_no_cookie_is_set() {
    let sandbox = with_runs();
    let (_viewer, browser, root) = start(&sandbox);
    let address: String = browser.run("return location.href", &[]);
    assert_eq!(address, format!("{root}/"));
    assert_eq!(browser.texts("tbody tr").len(), 4);
    let cookie: String = browser.run("return document.cookie", &[]);
    assert_eq!(cookie, "", "it would go to every server on this machine");
    assert!(browser.text(".broken").contains("notes"));
    end(browser, &root);
}

#[cfg(target_os = "linux")]
#[test]
#[ignore = "needs Chromium: make test-browser"]
fn the_file_that_opens_the_browser_leads_to_the_list() {
    let sandbox = with_runs();
    let viewer = OpenedViewer::start(&sandbox);
    let address = viewer.address();
    let root = address.trim_end_matches('/');
    let browser = Browser::start();
    browser.open(Path::new(&viewer.opened), "");
    browser.wait("document.querySelectorAll('tbody tr').length === 4");
    let shown: String = browser.run("return location.href", &[]);
    assert_eq!(shown, format!("{root}/"));
    // The addresses on the way are not what the back button leads to.
    let pages: usize = browser.run("return history.length", &[]);
    assert!(pages <= 2, "{pages}");
    browser.end(&[root, "data:", "file://"]);
}

#[test]
#[ignore = "needs Chromium: make test-browser"]
fn two_runs_are_chosen_with_the_keyboard_alone() {
    let sandbox = with_runs();
    let (_viewer, browser, root) = start(&sandbox);
    browser.wait("!document.querySelector('#pick button').disabled");
    let chosen = || {
        browser.run::<usize>(
            "return document.querySelectorAll('#pick :checked').length",
            &[],
        )
    };
    assert_eq!(chosen(), 2, "a run and the one that it follows");
    let newest: String = browser.run(
        "const it = document.querySelector('#pick :checked'); it.focus(); return it.value",
        &[],
    );
    browser.keys(" ");
    assert_eq!(chosen(), 1);
    assert_eq!(browser.text("#hint"), "choose two runs; 1 is chosen");
    let disabled: bool = browser.run(
        "return document.querySelector('#pick button').disabled",
        &[],
    );
    assert!(disabled);
    browser.keys(" ");
    browser.wait("document.querySelector('#hint').innerText === ''");
    browser.run::<()>("document.querySelector('#pick button').focus()", &[]);
    browser.keys(key::ENTER);
    browser
        .wait("location.pathname.endsWith('/compare') && document.querySelector('.rows tbody tr')");
    let after: String = browser.run(
        "return [...document.querySelectorAll('.configuration dd')].pop().textContent",
        &[],
    );
    assert_eq!(after, newest, "the newer run is the one after");
    check_schemes(&browser, "a comparison");
    end(browser, &root);
}

#[test]
#[ignore = "needs Chromium: make test-browser"]
fn the_page_of_a_run_leads_back_to_the_list_and_keeps_its_theme() {
    let sandbox = with_runs();
    let (_viewer, browser, root) = start(&sandbox);
    let background = || {
        browser.run::<String>(
            "return getComputedStyle(document.documentElement).getPropertyValue('--bg')",
            &[],
        )
    };
    let light = background();
    browser.run::<()>(
        "const list = document.querySelector('.theme select');
         list.value = 'dark';
         list.dispatchEvent(new Event('change'))",
        &[],
    );
    let dark = background();
    assert_ne!(light, dark);
    check(&browser, "the list, a dark theme on a light system");
    browser.click("tbody th a");
    browser.wait("location.pathname.includes('/run/') && document.querySelector('.rows tbody tr')");
    assert_eq!(background(), dark);
    check(&browser, "a run, a dark theme on a light system");
    browser.run::<()>("document.querySelector('.pages a').focus()", &[]);
    browser.keys(key::TAB);
    browser.keys(key::ENTER);
    browser.wait(&format!(
        "location.href === '{root}/' && document.querySelector('.theme select')"
    ));
    assert_eq!(background(), dark);
    let chosen: String = browser.run("return document.querySelector('.theme select').value", &[]);
    assert_eq!(chosen, "dark");
    end(browser, &root);
}

#[test]
#[ignore = "needs Chromium: make test-browser"]
fn a_changed_list_waits_for_the_reader() {
    let sandbox = with_runs();
    let (_viewer, browser, root) = start(&sandbox);
    browser.wait("!document.querySelector('#pick button').disabled");
    browser.run::<()>("document.querySelector('#pick button').focus()", &[]);
    fs::create_dir(sandbox.data().join("runs/more")).unwrap();
    browser.wait("document.querySelector('#news a')");
    assert!(
        browser
            .text("#news")
            .starts_with("The list has changed. Reload the list")
    );
    let is_focused: bool = browser.run(
        "return document.activeElement === document.querySelector('#pick button')",
        &[],
    );
    assert!(is_focused);
    assert!(!browser.text(".broken").contains("more"));
    check(&browser, "a list that has changed");
    browser.click("#news a");
    browser.wait("document.querySelector('.broken').innerText.includes('more')");
    end(browser, &root);
}

#[test]
#[ignore = "needs Chromium: make test-browser"]
fn a_filter_narrows_the_list() {
    let sandbox = with_runs();
    let (_viewer, browser, root) = start(&sandbox);
    browser.wait("document.querySelector('[name=profile]')");
    browser.run::<()>(
        "document.querySelector('[name=profile]').value = 'hybrid'",
        &[],
    );
    browser.click(".filters button");
    browser.wait("location.search.includes('profile=hybrid')");
    assert_eq!(browser.texts("tbody tr").len(), 2);
    browser.wait("document.querySelector('svg.spark')");
    end(browser, &root);
}

#[test]
#[ignore = "needs Chromium: make test-browser"]
fn a_running_run_updates_by_itself_and_leads_to_its_end() {
    const SLOW: &str = "while IFS= read -r line; do sleep 0.2; id=${line#*\\\"id\\\":\\\"}; id=${id%%\\\"*}; echo \"{\\\"id\\\": \\\"$id\\\", \\\"answer\\\": \\\"yes\\\"}\"; done";
    let sandbox = Sandbox::new();
    sandbox.write("slow.sh", SLOW);
    let cases: Vec<String> = (0..40)
        .map(|number| format!("{{\"name\": \"c{number}\", \"inputs\": \"{number}\"}}"))
        .collect();
    let file = format!(
        "{{\"name\": \"slow\", \"cases\": [{}], \"evaluators\": [{{\"Contains\": \"yes\"}}]}}",
        cases.join(", ")
    );
    sandbox.write("slow.json", file);
    let mut running = sandbox
        .command("eval slow.json --concurrency 1 --quiet --target")
        .arg("exec:sh slow.sh")
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    wait_for("a run folder", || !sandbox.runs().is_empty());
    let (_viewer, browser, root) = start(&sandbox);
    assert!(browser.text("tbody").contains("running"));
    browser.click("tbody th a");
    browser.wait("document.getElementById('bar')?.value > 2");
    let early: u32 = browser.run("return document.getElementById('bar').value", &[]);
    browser.wait(&format!("document.getElementById('bar').value > {early}"));
    browser.wait("document.querySelectorAll('#measures svg.interval').length > 0");
    assert!(!browser.text("main").contains("p ="));
    check_schemes(&browser, "a running run");
    // The end of the stream leads to the report, at the same address.
    browser.wait("document.querySelector('.rows tbody tr')");
    running.wait().unwrap();
    assert!(
        browser
            .text(".sentence")
            .contains("1.0000 of 40 assertions passed")
    );
    end(browser, &root);
}

#[test]
#[ignore = "needs Chromium: make test-browser"]
fn a_hidden_page_follows_nothing() {
    let sandbox = with_runs();
    let viewer = Viewer::start(&mut sandbox.command("view --no-open"));
    let browser = Browser::start();
    let root = viewer.address().trim_end_matches('/').to_owned();
    // The test says whether the page is seen, from its start on: what the browser says about its window may come at any time.
    browser.before_pages(
        "window.seen = true;
         Object.defineProperty(document, 'hidden', {get: () => !seen});
         window.streams = [];
         window.EventSource = class extends EventSource { constructor(...all) { super(...all); streams.push(this); } };",
    );
    browser.visit(viewer.address());
    let see = |is_seen: bool| {
        browser.run::<()>(
            "seen = arguments[0]; document.dispatchEvent(new Event('visibilitychange'))",
            &[is_seen.into()],
        );
    };
    let closed = || {
        browser.run::<Vec<bool>>(
            "return streams.map((it) => it.readyState === EventSource.CLOSED)",
            &[],
        )
    };
    browser.wait("streams[0]?.readyState === EventSource.OPEN");
    see(true);
    assert_eq!(closed(), [false], "a page that is seen keeps its stream");
    see(false);
    assert_eq!(closed(), [true], "a hidden page keeps no stream open");
    see(false);
    assert_eq!(closed(), [true], "a page that is not seen opens none");
    see(true);
    assert_eq!(
        closed(),
        [true, false],
        "a page that is seen again opens one"
    );
    browser.wait("streams[1].readyState === EventSource.OPEN");
    see(false);
    assert_eq!(closed(), [true, true]);
    end(browser, &root);
}

#[test]
#[ignore = "needs Chromium: make test-browser"]
fn the_viewers_pages_have_no_violations_and_fit_a_narrow_window() {
    let sandbox = with_runs();
    let (_viewer, browser, root) = start(&sandbox);
    for scheme in ["light", "dark"] {
        browser.prefer(scheme);
        for path in [
            "/",
            "/trend",
            "/trend?dataset=sample&benchmark=retrieval&profile=hybrid",
        ] {
            browser.visit(&format!("{root}{path}"));
            check(&browser, &format!("{path}, {scheme}"));
        }
    }
    browser.resize(400, 800);
    for path in [
        "/",
        "/trend",
        "/trend?dataset=sample&benchmark=retrieval&profile=hybrid",
    ] {
        browser.visit(&format!("{root}{path}"));
        let fits: bool = browser.run(
            "const it = document.documentElement; return it.scrollWidth <= it.clientWidth",
            &[],
        );
        assert!(fits, "{path} is wider than the window");
    }
    browser.devtools(
        "Emulation.clearDeviceMetricsOverride",
        &serde_json::json!({}),
    );
    end(browser, &root);
}

#[test]
#[ignore = "needs Chromium: make test-browser"]
fn the_page_of_a_message_has_no_violations() {
    let sandbox = with_runs();
    let (_viewer, browser, root) = start(&sandbox);
    browser.visit(&format!("{root}/run/nothing"));
    assert!(browser.text("main").contains("No run nothing is listed"));
    check_schemes(&browser, "a message");
    // The console names the status 404, so the test does not end with its check.
    drop(browser);
}
