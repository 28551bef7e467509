//! Snapshots of the console renderer.

use super::{
    all_failed, awkward, compared, deceptive, interrupted, on_console, plain, profiles, repeated,
    retrieval, written,
};
use crate::fakes::{failed, report};
use evals::Comparison;
use evals::render::{Color, Console, Drawings, Messages, Symbols};
use insta::assert_snapshot;
use unicode_width::UnicodeWidthStr;

/// Asserts that a page fits its width, in columns of a terminal.
fn fits(page: &str, width: usize) {
    for line in page.lines() {
        assert!(line.width() <= width, "{} columns: {line}", line.width());
    }
}

fn ascii(width: u16) -> Console {
    Console {
        symbols: Symbols::Ascii,
        ..plain(width)
    }
}

#[test]
fn console_retrieval() {
    assert_snapshot!(on_console(plain(80), &retrieval()));
}

#[test]
fn console_retrieval_in_60_columns() {
    let page = on_console(plain(60), &retrieval());
    fits(&page, 60);
    assert_snapshot!(page);
}

#[test]
fn console_retrieval_in_color() {
    let console = Console {
        color: Color::On,
        ..plain(80)
    };
    assert_snapshot!(on_console(console, &retrieval()).replace('\x1b', "ESC"));
}

#[test]
fn console_retrieval_in_ascii() {
    let page = on_console(ascii(80), &retrieval());
    assert!(page.is_ascii());
    assert_snapshot!(page);
}

fn drawn(width: u16, symbols: Symbols) -> Console {
    Console {
        symbols,
        drawings: Drawings::On,
        ..plain(width)
    }
}

#[test]
fn console_drawn() {
    let page = on_console(drawn(100, Symbols::Unicode), &retrieval());
    fits(&page, 100);
    assert_snapshot!(page);
}

#[test]
fn drawings_in_ascii_are_bars_only() {
    let page = on_console(drawn(100, Symbols::Ascii), &retrieval());
    assert!(page.is_ascii());
    assert!(page.contains("0        1") && !page.contains("0 cases  1"));
}

#[test]
fn a_narrow_page_leaves_drawings_out_first() {
    let narrow = on_console(drawn(40, Symbols::Unicode), &retrieval());
    assert_eq!(narrow, on_console(plain(40), &retrieval()));
    for report in [retrieval(), awkward(), deceptive(), repeated()] {
        for width in 20..=200 {
            let widest = |console| {
                let page = on_console(console, &report);
                page.lines().map(UnicodeWidthStr::width).max()
            };
            let numbers = widest(plain(width)).max(Some(width.into()));
            assert!(widest(drawn(width, Symbols::Unicode)) <= numbers, "{width}");
        }
    }
}

#[test]
fn console_awkward_drawn() {
    let page = on_console(drawn(200, Symbols::Unicode), &awkward());
    fits(&page, 200);
    assert_snapshot!(page);
}

#[test]
fn console_awkward() {
    let page = on_console(plain(60), &awkward());
    assert!(!page.contains('\x1b'));
    fits(&page, 60);
    assert_snapshot!(page);
}

#[test]
fn console_without_cases() {
    assert_snapshot!(on_console(plain(80), &report(vec![])));
}

#[test]
fn console_all_failed() {
    assert_snapshot!(on_console(plain(80), &all_failed()));
}

#[test]
fn console_interrupted() {
    assert_snapshot!(on_console(plain(80), &interrupted()));
}

#[test]
fn a_message_is_cut_for_a_terminal_and_whole_for_a_file() {
    let report = report(vec![failed("q0", &"a long message ".repeat(9))]);
    let cut = on_console(plain(40), &report);
    let expected = "  q0: a long message a long message a l…";
    assert_eq!(cut.lines().last(), Some(expected));
    let file = Console {
        messages: Messages::Whole,
        ..plain(40)
    };
    let whole = on_console(file, &report);
    let expected = format!("  q0: {}", ["a long message"; 9].join(" "));
    assert_eq!(whole.lines().last(), Some(expected.as_str()));
}

#[test]
fn console_survives_any_width() {
    for width in [0, 1, 7, 20, u16::MAX] {
        let page = on_console(plain(width), &retrieval());
        assert!(page.starts_with("bm25\n"), "{page}");
    }
}

#[test]
fn console_repeated() {
    assert_snapshot!(on_console(plain(80), &repeated()));
}

#[test]
fn console_deceptive() {
    assert_snapshot!(on_console(plain(80), &deceptive()));
}

#[test]
fn console_comparison() {
    assert_snapshot!(written(|out| plain(120).comparison(out, &compared())));
}

#[test]
fn console_comparison_keeps_its_intervals_where_they_just_fit() {
    let wide = written(|out| plain(120).comparison(out, &compared()));
    let rule = wide.lines().nth(1).unwrap().width().try_into().unwrap();
    let fitting = written(|out| plain(rule).comparison(out, &compared()));
    assert!(fitting.contains("0.5208 [0.4143, 0.6274]"), "{fitting}");
    let below = written(|out| plain(rule - 1).comparison(out, &compared()));
    assert!(
        below.contains("[0.4143, 0.6274]") && !below.contains("0.5208 [0.4143"),
        "{below}"
    );
    let turned = written(|out| plain(40).comparison(out, &compared()));
    for row in [
        "           RR@5\n",
        "bm25       0.5208 [0.4143, 0.6274] ★\n",
        "           nDCG@10\n",
        "semantic   –\n",
    ] {
        assert!(turned.contains(row), "{row}{turned}");
    }
    fits(&turned, 40);
    let without = written(|out| plain(26).comparison(out, &compared()));
    assert!(!without.contains('['), "{without}");
    assert!(
        without.contains("no room for intervals;\n  widen"),
        "{without}"
    );
    fits(&without, 26);
}

#[test]
fn six_reports_fit_80_and_60_columns_with_their_intervals() {
    let [bm25, semantic, _] = &profiles();
    let titles = [
        "unranked",
        "bm25",
        "semantic",
        "hybrid",
        "hybrid-linear",
        "hybrid-log-bm25",
    ];
    let reports = titles.map(|title| (title, if title == "semantic" { semantic } else { bm25 }));
    let comparison = Comparison::new(&reports);
    for width in [60, 80] {
        let page = written(|out| plain(width).comparison(out, &comparison));
        fits(&page, width.into());
        assert_eq!(page.matches("[0.4143, 0.6274]").count(), 5, "{page}");
        let rows = page
            .lines()
            .filter(|line| line.starts_with("hybrid-linear "));
        assert!(rows.count() >= 1, "{page}");
    }
}

#[test]
fn console_comparison_in_60_columns() {
    let table = written(|out| ascii(60).comparison(out, &compared()));
    assert!(table.is_ascii());
    fits(&table, 60);
    assert_snapshot!(table);
}
