//! The tables that other renderers lay out.

use evals::render::tables;

use super::{all_failed, awkward, compared, deceptive, repeated, retrieval, summary};

#[test]
fn every_row_has_a_cell_under_each_head() {
    for report in [
        retrieval(),
        awkward(),
        all_failed(),
        repeated(),
        deceptive(),
    ] {
        for table in tables::report(&report, &summary(&report)) {
            assert!(!table.rows.is_empty(), "{table:?}");
            let cells = table.rows.iter().map(Vec::len);
            assert!(
                cells.into_iter().all(|it| it == table.heads.len()),
                "{table:?}"
            );
        }
    }
}

#[test]
fn measures_come_first_with_value_and_interval_in_one_cell() {
    let tables = tables::report(&retrieval(), &summary(&retrieval()));
    assert_eq!(
        tables[0].heads,
        ["Measure", "Value [95 % interval]", "n", "Excluded"]
    );
    let [name, value, n, excluded] = tables[0].rows[0].as_slice() else {
        panic!("{:?}", tables[0]);
    };
    assert_eq!(
        (name.as_str(), n.as_str(), excluded.as_str()),
        ("RR@5", "32", "8")
    );
    let mean = &summary(&retrieval()).scores[0].1;
    let interval = mean.interval.unwrap();
    let expected = [mean.value.unwrap(), interval.low, interval.high];
    let [mean, low, high] = expected.map(|number| format!("{number:.4}"));
    assert_eq!(*value, format!("{mean} [{low}, {high}]"));
}

#[test]
fn the_best_of_a_row_has_a_star() {
    let table = tables::comparison(&compared());
    let marked = table
        .rows
        .iter()
        .flatten()
        .filter(|cell| cell.ends_with(" ★"));
    assert!(marked.count() > 0, "{table:?}");
    assert!(
        table.notes.iter().any(|note| note.starts_with("★: best")),
        "{table:?}"
    );
}
