//! Tests of text files as tables.

use serde_json::{Value, json};

use super::{TextContent, html, markdown};
use crate::reader::tests::file;

fn cells(name: &str, bytes: &[u8], columns: &[&str]) -> Vec<Value> {
    let mut rows = file(name, bytes).read(columns).unwrap();
    assert_eq!(rows.len(), 1, "one row for each file");
    rows.remove(0).1
}

#[test]
fn each_format_gives_the_same_columns() {
    let wanted = |uri: &str, title: Value, text: &str| vec![json!(uri), title, json!(text)];
    let columns = ["uri", "title", "text"];
    assert_eq!(
        cells("a.md", b"# Hello\r\n\r\nSome *text*.\r\n", &columns),
        wanted("a.md", json!("Hello"), "# Hello\n\nSome *text*.")
    );
    assert_eq!(
        cells("a.TXT", b"\xef\xbb\xbfSome text.\n", &columns),
        wanted("a.TXT", json!(null), "Some text.\n")
    );
    assert_eq!(
        cells(
            "a.html",
            b"<title>Hello</title><p>Some <b>text</b>.",
            &columns
        ),
        wanted("a.html", json!("Hello"), "Some text.")
    );
}

#[test]
fn front_matter_gives_title_and_further_columns() {
    let page =
        b"---\ntitle: Named\ntags: [a, b]\nby: {name: Ann}\nyear: 2024\n---\n# Heading\ntext\n";
    assert_eq!(
        cells(
            "a.md",
            page,
            &["title", "text", "tags", "by.name", "absent", "*"]
        ),
        [
            json!("Named"),
            json!("# Heading\ntext"),
            json!(["a", "b"]),
            json!("Ann"),
            json!(null),
            json!({"title": "Named", "tags": ["a", "b"], "by": {"name": "Ann"}, "year": 2024})
        ]
    );
}

#[test]
fn what_only_looks_like_front_matter_is_text() {
    for text in [
        "---\nA text between two rules.\n---\nmore\n",
        "---\nkey: value, but never closed\n",
        "--- \n",
        "text\n---\nkey: value\n---\n",
        "---",
    ] {
        let (fields, body) = markdown::split(text).unwrap();
        assert!(fields.is_empty() && body == text, "{text:?}");
    }
    let (fields, body) = markdown::split("---\n---\nbody\n").unwrap();
    assert!(fields.is_empty());
    assert_eq!(body, "body\n");
}

#[test]
fn broken_front_matter_names_its_line() {
    let error = file(
        "notes/a.md".rsplit('/').next().unwrap(),
        b"---\ntitle: a\nb: [1\n---\ntext\n",
    );
    let message = error.error(&["text"]);
    assert!(
        message.starts_with("a.md:") && message.contains("front matter"),
        "{message}"
    );
}

fn title_of(text: &str) -> Option<String> {
    markdown::content(text).unwrap().title
}

#[test]
fn the_title_of_markdown_is_its_first_heading() {
    let title = |text: &str| title_of(text).unwrap_or_default();
    assert_eq!(
        title("intro\n\n## Second level ##\n# First\n"),
        "Second level"
    );
    assert_eq!(title("Underlined\n==========\n"), "Underlined");
    assert_eq!(title("Also\n----\n"), "Also");
    assert_eq!(title("# C#\n"), "C#");
    assert_eq!(title("```\n# code\n```\n# Real\n"), "Real");
    assert_eq!(title("    # code\n# Real\n"), "Real");
    assert_eq!(title("---\ntitle: '  '\n---\n# Real\n"), "Real");
    assert_eq!(title("---\ntitle: 2024\n---\ntext\n"), "2024");
    for none in [
        "text\n\n---\n",
        "#hashtag\n",
        "####### seven\n",
        "#\n",
        "- a\n---\n",
        "",
    ] {
        assert_eq!(title_of(none), None, "{none:?}");
    }
}

fn page(html: &str) -> (Option<String>, String) {
    let TextContent { title, text, .. } = html::content(html);
    (title, text)
}

#[test]
fn html_reads_as_a_person_reads_it() {
    let (title, text) = page(
        "<!doctype html><html><head><title> A &amp;\n B </title><style>p {color: red}</style></head>\
         <body><h1>Top</h1><p>One\n  two&nbsp;three<br>four.</p><ul><li>a<li>b</ul>\
         <script>if (1 < 2) { document.write('<p>no</p>') }</script>\
         <table><tr><th>k<th>v<tr><td>1<td>2</table><pre>x\n  y</pre><!-- no --><svg><text>no</text></svg>end</body>",
    );
    assert_eq!(title.as_deref(), Some("A & B"));
    assert_eq!(
        text,
        "Top\n\nOne two three\nfour.\n\na\nb\n\nk v\n1 2\n\nx\n  y\n\nend"
    );
    assert_eq!(
        page("<h2>Only <em>this</em></h2>text").0.as_deref(),
        Some("Only this")
    );
    assert_eq!(page("").1, "");
    assert_eq!(page("no tags < at all").1, "no tags < at all");
}

#[test]
fn hostile_html_ends() {
    let deep = "<div>".repeat(200_000) + "end";
    assert_eq!(page(&deep).1, "end");
    let open = format!("<title>{}", "x ".repeat(1000));
    assert_eq!(page(&open), (None, String::new()), "as in a browser");
    let nested = "<svg>".repeat(3) + "no" + &"</svg>".repeat(3) + "yes";
    assert_eq!(page(&nested).1, "yes");
}

#[test]
fn text_that_is_not_utf8_names_its_line() {
    for name in ["a.md", "a.txt", "a.html"] {
        assert_eq!(
            file(name, b"one\ntwo \xff\n").error(&["text"]),
            format!("{name}:2: the text is not UTF-8")
        );
    }
}
