//! Fuzzing of filters: an index counts documents by any text or refuses it.

use evals_fuzz::Target;

use crate::corpus::{Fixture, documents, lexical};

const CORPUS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fuzz");

/// The default stack of a thread, on which every accepted filter must be parsed.
const STACK: usize = 2 << 20;

#[test]
fn a_filter_counts_documents_or_is_refused() {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .thread_stack_size(STACK)
        .enable_all()
        .build()
        .unwrap();
    let texts = [
        ("news/1", "storm"),
        ("blog/o'hara", "harbor"),
        (" ", "quiet"),
    ];
    let fixture = runtime.block_on(Fixture::new(&lexical(), documents(&texts)));
    let index = std::sync::Arc::new(fixture.index);
    let count = |sql: String| {
        let index = index.clone();
        let counted = runtime.spawn(async move { index.count(&sql).await });
        runtime.block_on(counted).unwrap().ok()
    };
    Target::new("filter", CORPUS)
        .seed("uri LIKE 'news/%' AND metadata LIKE '%\"topic\":\"n\"%'")
        .seed("NOT (title IS NULL) OR uri IN ('a', 'b''c') AND length(title) >= 3 -- so")
        .seed("TRY_CAST(split_part(uri, '/', 2) AS INT) BETWEEN -1 AND 5")
        .seed("lower(title) <> coalesce(nullif(uri, ''), reverse('x')) AND starts_with(uri, 'n')")
        .dictionary([
            "'",
            "''",
            "(",
            ")",
            ",",
            "--",
            "/*",
            "*/",
            ";",
            "?",
            "$1",
            "@x",
            ":x",
            "\"uri\"",
            "`uri`",
            "[",
            "{",
            "::INT",
            "X'0'",
            "1e999",
            "9223372036854775808",
            "-9223372036854775808",
            "NOT ",
            " AND ",
            " OR ",
            " IS NOT TRUE",
            " NULL",
            "true",
            "CASE WHEN ",
            "SELECT ",
            " ESCAPE '\\'",
            " LIKE '%",
            " ILIKE '_",
            "right(uri, -9223372036854775808)",
            "left(uri, 9223372036854775807)",
            "split_part(uri, '', 0)",
            "CAST(title AS BIGINT)",
            "\u{0}",
            "\u{a0}",
            "\u{1f600}",
            "uri",
            "title",
            "metadata",
            "chunk",
            "\\",
        ])
        .run(|input| {
            let sql = String::from_utf8_lossy(input);
            let Some(kept) = count(sql.to_string()) else {
                return;
            };
            assert!(kept <= texts.len(), "{kept}");
            // A document passes a condition or its negation, or neither if the condition is null.
            if let Some(others) = count(format!("NOT ({sql}\n)")) {
                assert!(kept + others <= texts.len(), "{kept} + {others}");
            }
            if let Some(both) = count(format!("({sql}\n) OR true")) {
                assert_eq!(both, texts.len());
            }
        });
}
