//! Snapshots of the markdown renderer.

use super::{all_failed, as_markdown, awkward, compared, deceptive, repeated, retrieval, written};
use crate::fakes::report;
use evals::render::{self};
use insta::assert_snapshot;

#[test]
fn markdown_retrieval() {
    assert_snapshot!(as_markdown(&retrieval()));
}

#[test]
fn markdown_awkward() {
    let page = as_markdown(&awkward());
    for line in page.lines().filter(|line| line.starts_with('|')) {
        let columns = line.replace("\\|", "").matches('|').count() - 1;
        assert!([4, 5, 6].contains(&columns), "{columns} columns: {line}");
    }
    assert_snapshot!(page);
}

#[test]
fn markdown_without_cases() {
    assert_snapshot!(as_markdown(&report(vec![])));
}

#[test]
fn markdown_all_failed() {
    assert_snapshot!(as_markdown(&all_failed()));
}

#[test]
fn markdown_repeated() {
    assert_snapshot!(as_markdown(&repeated()));
}

#[test]
fn markdown_deceptive() {
    assert_snapshot!(as_markdown(&deceptive()));
}

#[test]
fn markdown_comparison() {
    assert_snapshot!(written(|out| render::markdown::comparison(
        out,
        &compared()
    )));
}
