//! Tests of pages in a real browser, which `make test-browser` runs: Chromium, driven by chromedriver over W3C `WebDriver`.
//!
//! A test opens a page in a [`Browser`](browser::Browser), does what a reader would do, and looks at what the reader would see.
//! [`Pages`](pages::Pages) has the pages. Every test ends with [`Browser::end`](browser::Browser::end), which fails on messages in the
//! console, violations of the page's policy and network requests.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod accessibility;
mod browser;
mod cases;
mod chromedriver;
mod comparing;
mod differences;
mod hostile;
mod keyboard;
mod labelling;
mod measurements;
#[cfg(target_os = "linux")]
#[path = "../it/opened_viewer.rs"]
#[expect(dead_code, reason = "the tests without a browser end it themselves")]
mod opened_viewer;
mod pages;
mod pictures;
#[cfg(target_os = "linux")]
#[path = "../it/pseudo_terminal.rs"]
#[expect(dead_code, reason = "the tests without a browser end commands on it")]
mod pseudo_terminal;
mod reading;
mod reviewing;
#[path = "../../crates/evals-html/tests/it/samples.rs"]
#[expect(dead_code, reason = "the tests of the library draw empty figures too")]
mod samples;
#[path = "../it/sandbox.rs"]
#[expect(dead_code, reason = "the tests without a browser use more of it")]
mod sandbox;
#[path = "../../crates/evals-providers/tests/http/scripted_server/mod.rs"]
#[expect(dead_code, reason = "the tests of the library use more of it")]
mod scripted_server;
mod searching;
#[path = "../../crates/evals-html/tests/it/synthetic.rs"]
mod synthetic;
#[path = "../it/test_set.rs"]
mod test_set;
#[path = "../it/viewer.rs"]
#[expect(dead_code, reason = "the tests without a browser ask by hand")]
mod viewer;
mod viewing;
mod written;
