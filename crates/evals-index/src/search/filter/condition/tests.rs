//! Tests of accepted and refused filters.

use super::*;

fn refusal(sql: &str) -> String {
    check(sql).unwrap_err()
}

#[test]
fn conditions_are_made_of_comparisons_lists_and_patterns() {
    for sql in [
        "uri = 'a'",
        "uri == 'a' AND title <> 'b' OR NOT (metadata != 'c')",
        "uri IN ('a', 'b') AND title NOT IN ('c')",
        "uri LIKE 'a%' AND title NOT ILIKE '%b_' ESCAPE '\\'",
        "title IS NOT NULL AND (title > 'a') IS TRUE",
        "uri BETWEEN 'a' AND 'f' -- the first ones",
        "length(title) >= 3 AND right(uri, -1) < 'b'",
        "TRY_CAST(split_part(uri, '/', 2) AS INT) > 5",
        "/* all */ true",
        "lower(title) = 'it''s -- ? $1 \"quoted\"'",
    ] {
        assert!(check(sql).is_ok(), "{sql}: {}", refusal(sql));
    }
}

#[test]
fn the_part_that_is_not_allowed_is_named() {
    for (sql, message) in [
        ("uri = ?", "`?` is a placeholder; write the value itself"),
        ("uri = $1", "`$1` is a placeholder; write the value itself"),
        (
            "\"uri\" = 'a'",
            "`\"uri\"` is in the wrong quotes; write text in single quotes and column names without quotes",
        ),
        (
            "`uri` = 'a'",
            "``uri`` is in the wrong quotes; write text in single quotes and column names without quotes",
        ),
        ("length(uri) + 1 > 3", "filters cannot contain `+`"),
        (
            "uri IN (SELECT uri FROM other)",
            "filters cannot contain `uri IN (SELECT uri FROM other)`",
        ),
        (
            "CASE WHEN true THEN true END",
            "filters cannot contain `CASE WHEN true THEN true END`",
        ),
        (
            "CAST(uri AS DECIMAL(300, 5)) = 1",
            "filters cannot contain `CAST(uri AS DECIMAL(300,5))`",
        ),
        ("uri LIKE title", "filters cannot contain `uri LIKE title`"),
        ("uri = X'00'", "filters cannot contain `X'00'`"),
        ("uri = 'a' ORDER BY uri", "filters cannot contain `ORDER`"),
        ("uri = 'a'; DROP TABLE x", "filters cannot contain `;`"),
        ("-length(uri) < 0", "filters cannot contain `-length(uri)`"),
        (
            "max(uri) OVER () = 'a'",
            "filters cannot contain `max(uri) OVER ()`",
        ),
    ] {
        assert_eq!(refusal(sql), message, "{sql}");
    }
    for sql in [
        "lpad(uri, 2000000000, 'x') = 'a'",
        "repeat(uri, 2000000000) = 'a'",
        "random() < 0.5",
        "now() > '2020-01-01'",
        "is_valid()",
    ] {
        let message = refusal(sql);
        assert!(
            message.starts_with("filters cannot call `") && message.contains(", only `btrim`, "),
            "{message}"
        );
    }
}

#[test]
fn long_and_deep_filters_are_refused_before_they_are_parsed() {
    let many = "it joins more than 100 conditions; match many values with a list, as in `uri IN ('a', 'b')`";
    let chain = |count: usize| vec!["uri = 'a'"; count].join(" OR ");
    assert!(check(&chain(101)).is_ok());
    for count in [102, 3_000, 7_000] {
        assert_eq!(refusal(&chain(count)), many);
    }
    let signs = "it has more than 1000 words and signs, not counting the values in lists such as `uri IN ('a', 'b')`";
    assert_eq!(refusal(&"NOT ".repeat(20_000)), signs);
    let deep = "it is nested more than 10 levels deep";
    assert_eq!(refusal(&"(".repeat(100_000)), deep);
    let negated = |count: usize| format!("{}uri IS NULL", "NOT ".repeat(count));
    assert!(check(&negated(9)).is_ok());
    assert_eq!(refusal(&negated(10)), deep);
    let called = |count: usize| format!("{}uri{} = 'a'", "lower(".repeat(count), ")".repeat(count));
    assert!(check(&called(9)).is_ok());
    assert_eq!(refusal(&called(10)), deep);
    let alternating = "(uri = 'a' OR (uri = 'b' AND ".repeat(4) + "true" + &"))".repeat(4);
    assert!(check(&alternating).is_ok());
    assert_eq!(refusal(&format!("NOT NOT {alternating}")), deep);
    let list = |count: usize| format!("uri IN ({})", vec!["'a'"; count].join(", "));
    assert!(check(&list(20_000)).is_ok());
    assert_eq!(
        refusal(&list(40_000)),
        "it is 200007 bytes long, and the limit is 131072"
    );
    assert_eq!(refusal(&"(".repeat(400)), deep);
    let bracketed =
        |count: usize| format!("{}uri IS NULL{}", "NOT (".repeat(count), ")".repeat(count));
    assert!(check(&bracketed(9)).is_ok());
    // Trees that grow to the left while they are parsed.
    for (unit, message) in [
        ("- 1 ", "filters cannot contain"),
        ("= uri ", deep),
        ("IS NULL ", deep),
        ("BETWEEN 1 AND 2 ", deep),
    ] {
        let chain = format!("uri {}", unit.repeat(90));
        assert!(refusal(&chain).starts_with(message), "{unit}");
    }
    assert!(
        refusal(&format!("uri LIKE ({})", vec!["uri"; 490].join(" = ")))
            .starts_with("filters cannot contain")
    );
    for opening in ["TRY_CAST(split_part(", "lower(", "NOT (", "uri IN ("] {
        assert_eq!(refusal(&opening.repeat(90)), deep, "{opening}");
    }
}
