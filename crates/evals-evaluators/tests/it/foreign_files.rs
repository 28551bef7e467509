//! Files of other tools become the cases and evaluators that the documentation states.

use std::path::Path;

use evals_evaluators::{DatasetFile, FileFormat, Loaded, Problems, Registry, Resources};
use serde_json::{Value, json};

fn load(text: &str, format: FileFormat) -> Result<Loaded, Problems> {
    let path = Path::new("f");
    DatasetFile::read(
        text,
        format,
        path,
        &Registry::built_in(),
        &Resources::default(),
    )
}

/// The cases as a dataset file writes them.
fn cases(text: &str, format: FileFormat) -> Vec<Value> {
    let file = load(text, format).unwrap().file;
    let text = file.to_json(&Registry::built_in(), None);
    let file: Value = serde_json::from_str(&text).unwrap();
    file["cases"].as_array().unwrap().clone()
}

fn problems(text: &str, format: FileFormat) -> Vec<String> {
    let found = load(text, format).unwrap_err();
    let found = found.problems.iter();
    found.map(|problem| problem.at(Path::new("f"))).collect()
}

fn warnings(text: &str, format: FileFormat) -> Vec<String> {
    let found = load(text, format).unwrap().warnings;
    let found = found.iter();
    found.map(|problem| problem.at(Path::new("f"))).collect()
}

#[test]
fn checks_of_promptfoo_are_evaluators() {
    let checks = [
        ("Paris", json!([{"Equals": "Paris"}])),
        (
            "note: a plain text",
            json!([{"Equals": "note: a plain text"}]),
        ),
        ("equals: is-json: x", json!([{"Equals": "is-json: x"}])),
        ("contains: 12:30", json!([{"Contains": "12:30"}])),
        (
            "icontains: paris",
            json!([{"Contains": {"value": "paris", "case_sensitive": false}}]),
        ),
        (
            "contains-all: a, b",
            json!([{"Contains": "a"}, {"Contains": "b"}]),
        ),
        (
            "icontains-all: a, b",
            json!([{"Contains": {"value": "a", "case_sensitive": false}}, {"Contains": {"value": "b", "case_sensitive": false}}]),
        ),
        ("contains-any: a.b, c", json!([{"Regex": "a\\.b|c"}])),
        (
            "icontains-any: a, b",
            json!([{"Regex": {"pattern": "a|b", "flags": "i"}}]),
        ),
        ("starts-with: 1 + 1", json!([{"Regex": "^1 \\+ 1"}])),
        ("regex: ^\\d+$", json!([{"Regex": "^\\d+$"}])),
        ("llm-rubric: is polite", json!([{"LLMJudge": "is polite"}])),
        ("grade: is polite", json!([{"LLMJudge": "is polite"}])),
        ("ends-with: a.", json!([{"Regex": "a\\.\\Z"}])),
        (
            "is-json",
            json!([{"JsonSchema": {"schema": true, "parse": true}}]),
        ),
        (
            "is-json: {type: object, required: [a]}",
            json!([{"JsonSchema": {"schema": {"type": "object", "required": ["a"]}, "parse": true}}]),
        ),
        (
            "contains-json: {\"\"type\"\": \"\"object\"\"}",
            json!([{"JsonSchema": {"schema": {"type": "object"}, "parse": "inside"}}]),
        ),
        ("latency(1500)", json!([{"MaxDuration": 1.5}])),
        (
            "not-contains: a",
            json!([{"Not": {"evaluator": {"Contains": "a"}}}]),
        ),
        (
            "not-contains-all: a, b.",
            json!([{"Not": {"evaluator": {"Regex": "\\A(?=[\\s\\S]*a)(?=[\\s\\S]*b\\.)"}}}]),
        ),
        (
            "not-icontains-any: a, b",
            json!([{"Not": {"evaluator": {"Regex": {"pattern": "a|b", "flags": "i"}}}}]),
        ),
        (
            "not-is-json",
            json!([{"Not": {"evaluator": {"JsonSchema": {"schema": true, "parse": true}}}}]),
        ),
        (
            "not-llm-rubric: is rude",
            json!([{"Not": {"evaluator": {"LLMJudge": "is rude"}}}]),
        ),
        (
            "cost (in euros) is high",
            json!([{"Equals": "cost (in euros) is high"}]),
        ),
        ("", json!([])),
    ];
    for (cell, wanted) in checks {
        let text = format!("q,__expected\nx,\"{cell}\"\n");
        assert_eq!(
            cases(&text, FileFormat::Csv)[0]["evaluators"],
            wanted,
            "{cell}"
        );
    }
}

#[test]
fn other_columns_of_promptfoo_are_inputs_name_and_metadata() {
    let text = "question,context,__description,__expected1,__expected2,__metadata:topic,__metadata:tags[]\n\
                \"Where?\nThere?\",\"a, b\",first,Paris,contains: a,Sports,\"x, y\"\n\
                When?,,,,,,\n";
    assert_eq!(
        cases(text, FileFormat::Csv),
        [
            json!({
                "name": "first",
                "inputs": {"question": "Where?\nThere?", "context": "a, b"},
                "metadata": {"topic": "Sports", "tags": ["x", "y"]},
                "expected_output": null,
                "evaluators": [{"Equals": "Paris"}, {"Contains": "a"}],
            }),
            json!({
                "name": "q-d05506030f3b",
                "inputs": {"question": "When?", "context": ""},
                "metadata": null,
                "expected_output": null,
                "evaluators": [],
            }),
        ]
    );
}

#[test]
fn what_promptfoo_checks_and_we_do_not_is_refused_by_name() {
    let text = "q,__expected,__threshold,__expect\n\
                x,javascript: output.length > 3,0.5,\n\
                \"two\nlines\",not-cost(0.1),,\n\
                x,similar(0.8): b,,\n\
                x,not-is-sql,,\n\
                x,contains,,\n\
                x,regex: (,,\n\
                x,contains:,,\n";
    let understood = "understood are a plain text and `equals`, `contains`, `icontains`, `contains-all`, `icontains-all`, `contains-any`, `icontains-any`, `starts-with`, `ends-with`, `regex`, `is-json`, `contains-json`, `latency`, `llm-rubric`, `grade`, each also as `not-…`";
    let found = problems(text, FileFormat::Csv);
    assert_eq!(
        found[..6],
        [
            "f:1:1: the column `__threshold` of promptfoo is not understood; understood are `__expected`, `__expected1` …, `__description` and `__metadata:KEY`".to_owned(),
            "f:1:1: the column `__expect` of promptfoo is not understood; did you mean `__expected`?; understood are `__expected`, `__expected1` …, `__description` and `__metadata:KEY`".to_owned(),
            format!("f:2:1: column `__expected`: `javascript` of promptfoo is not understood; `Exec` of dataset files asks a command in any language; {understood}; for the text itself write `equals: javascript…`"),
            format!("f:3:1: column `__expected`: `cost` of promptfoo is not understood; {understood}; for the text itself write `equals: not-cost(0.1)…`"),
            format!("f:5:1: column `__expected`: `similar` of promptfoo is not understood; {understood}; for the text itself write `equals: similar(0.8)…`"),
            format!("f:6:1: column `__expected`: `is-sql` of promptfoo is not understood; {understood}; for the text itself write `equals: not-is-sql…`"),
        ]
    );
    assert_eq!(
        found[6],
        "f:7:1: column `__expected`: `contains` needs a colon and a text after it; write `equals: contains` for the text itself"
    );
    assert!(found[7].starts_with("f:8:1: `Regex`: "), "{}", found[7]);
    assert_eq!(
        found[8],
        "f:9:1: column `__expected`: nothing follows `contains:`"
    );
    assert_eq!(found.len(), 9);
    assert_eq!(
        problems("q,__expected\na,b,c\n", FileFormat::Csv),
        [
            "f:2:1: 3 fields where the header has 2; a field that holds the separator, a quote or a line break needs quotes around it"
        ]
    );
    assert_eq!(
        problems("q,__expected\na,b\n\"c,d\ne,f\ng,h\n", FileFormat::Csv),
        [
            "f:3:1: the quote that opens a field here is never closed; a quote inside a quoted field is written twice (`\"\"`)"
        ],
        "the cases below would be part of this one"
    );
    assert_eq!(
        problems("__expected,__expected\na,b\n", FileFormat::Csv),
        [
            "f:1:1: more than one column is called `__expected`",
            "f:1:1: no column holds inputs; every column whose name does not begin with `__` does",
        ]
    );
}

#[test]
fn arguments_that_would_have_no_effect_are_refused() {
    for (cell, problem) in [
        (
            "latency",
            "`latency` needs a limit in milliseconds; write `latency(2000)` for two seconds",
        ),
        (
            "latency(fast)",
            "`latency` needs a limit in milliseconds; write `latency(2000)` for two seconds",
        ),
        (
            "latency(0)",
            "`latency` needs a limit in milliseconds; write `latency(2000)` for two seconds",
        ),
        (
            "not-latency: 500",
            "`latency` takes its limit in brackets, and `500` would have no effect; write `latency(2000)` for two seconds",
        ),
        (
            "latency(2000",
            "no `)` closes the bracket after `latency`; for the text itself write `equals: latency(2000…`",
        ),
        (
            "not-similar(0.8: text",
            "no `)` closes the bracket after `not-similar`; for the text itself write `equals: not-similar(0.8…`",
        ),
        (
            "llm-rubric(0.8): is polite",
            "`llm-rubric` takes no threshold, and `(0.8)` would have no effect; write `llm-rubric: …`",
        ),
        (
            "is-json: file://schema.yaml",
            "`is-json`: the schema `schema.yaml` is not a JSON file by its name, and only JSON is read",
        ),
        (
            "is-json: [a]",
            "`is-json`: `[a]` is not a JSON Schema; it is a mapping, `true`, `false` or `file://PATH.json`",
        ),
        (
            "not-regex",
            "`not-regex` needs a colon and a text after it; write `equals: not-regex` for the text itself",
        ),
        ("not-contains:", "nothing follows `not-contains:`"),
    ] {
        let text = format!("q,__expected\nx,\"{cell}\"\n");
        let expected = format!("f:2:1: column `__expected`: {problem}");
        assert_eq!(problems(&text, FileFormat::Csv), [expected]);
    }
}

#[test]
fn checks_that_are_named_like_a_language_or_a_metric_are_no_plain_texts() {
    for check in [
        "ruby: output.size > 3",
        "meteor(0.5): a",
        "webhook: https://example.org/judge",
        "trajectory:tool-used: search",
        "word-count: 3",
    ] {
        let found = problems(&format!("q,__expected\nx,{check}\n"), FileFormat::Csv);
        let [problem] = found.as_slice() else {
            panic!("{check}: {found:?}")
        };
        assert!(
            problem.contains("of promptfoo is not understood"),
            "{problem}"
        );
    }
}

#[test]
fn a_list_without_parts_checks_nothing_and_is_refused() {
    for kind in ["contains-any", "contains-all", "icontains-any"] {
        let found = problems(
            &format!("q,__expected\nx,\"{kind}: , \"\n"),
            FileFormat::Csv,
        );
        let expected = format!("f:2:1: column `__expected`: nothing follows `{kind}:`");
        assert_eq!(found, [expected]);
    }
}

#[test]
fn a_case_without_a_name_keeps_its_id_when_others_come_before_it() {
    let ids = |text: &str, format| {
        let cases = load(text, format).unwrap().file.cases;
        let ids = cases.into_iter().map(|case| case.id.to_string());
        ids.collect::<Vec<_>>()
    };
    let table = |rows: &str| ids(&format!("q,__expected\n{rows}"), FileFormat::Csv);
    let before = table("One?,1\nTwo?,2\n");
    let after = table("Zero?,0\nOne?,1\nTwo?,2\nOne?,3\n");
    assert_eq!(after[1..3], before);
    assert_eq!(after[3], format!("{}-2", before[0]));
    let [one, two] = [r#"{"question": "One?"}"#, r#"{"question": "Two?"}"#];
    let lines = ids(&format!("{one}\n{two}\n"), FileFormat::JsonLines);
    let array = ids(&format!("[{two}, {one}]"), FileFormat::Json);
    assert_eq!([&array[1], &array[0]], [&lines[0], &lines[1]]);
}

#[test]
fn records_of_ragas_keep_what_was_answered_beside_the_case() {
    let text = r#"[
        {"user_input": "Where?", "reference": "There", "response": "Here", "retrieved_contexts": ["a"], "reference_contexts": ["b"]},
        {"question": "When?", "ground_truth": "Now", "answer": "Later", "contexts": ["c"]}
    ]"#;
    assert_eq!(
        cases(text, FileFormat::Json),
        [
            json!({
                "name": "q-21557b4122e9",
                "inputs": "Where?",
                "metadata": {"response": "Here", "retrieved_contexts": ["a"], "reference_contexts": ["b"]},
                "expected_output": "There",
                "evaluators": [],
            }),
            json!({
                "name": "q-ff69dfded53c",
                "inputs": "When?",
                "metadata": {"answer": "Later", "contexts": ["c"]},
                "expected_output": "Now",
                "evaluators": [],
            }),
        ]
    );
    assert_eq!(
        warnings(text, FileFormat::Json),
        [
            "f:2:9: no record names `evaluators`, so nothing judges the outputs; list them in the records, or write the cases as a dataset file"
        ]
    );
}

#[test]
fn lines_hold_cases_or_questions_with_answers() {
    let text = "{\"name\": \"a\", \"inputs\": {\"q\": 1}, \"expected_output\": 2, \"evaluators\": [\"EqualsExpected\"]}\n\r\n\
                {\"id\": 7, \"question\": \"Where?\", \"answer\": \"There\", \"topic\": \"t\", \"metadata\": {\"k\": 1}}\r\n\
                {\"prompt\": \"Say hello\", \"evaluators\": [{\"Contains\": \"hello\"}]}";
    assert_eq!(
        cases(text, FileFormat::JsonLines),
        [
            json!({"name": "a", "inputs": {"q": 1}, "metadata": null, "expected_output": 2, "evaluators": ["EqualsExpected"]}),
            json!({"name": "7", "inputs": "Where?", "metadata": {"topic": "t", "k": 1}, "expected_output": "There", "evaluators": []}),
            json!({"name": "q-1c8e7a64f04f", "inputs": "Say hello", "metadata": null, "expected_output": null, "evaluators": [{"Contains": "hello"}]}),
        ]
    );
    assert_eq!(warnings(text, FileFormat::JsonLines), [""; 0]);
}

#[test]
fn every_faulty_line_is_reported() {
    let text = "{\"question\": \"a\", \"input\": \"b\"}\n\
                {\"questoin\": \"a\"}\n\
                {\"question\": \"a\",}\n\
                [1]\n\
                {\"question\": \"a\", \"topic\": 1, \"metadata\": {\"topic\": 2}}\n\
                {\"question\": 1e999, \"expected\": 1, \"output\": 2, \"metadata\": 3, \"name\": [4], \"evaluators\": [\"Nope\"]}\n\
                {\"inputs\": 1, \"answer\": 2}\n";
    assert_eq!(
        problems(text, FileFormat::JsonLines),
        [
            "f:1:19: both `question` and `input` may hold the inputs; keep one of them",
            "f:2:1: the record has no inputs; they stand under `inputs` or under one of `user_input`, `question`, `input`, `prompt`, `query`; did you mean `question`?",
            "f:3:18: key must be a string",
            "f:4:1: a record is a list, where an object is needed",
            "f:5:44: `topic` stands in `metadata` and beside it; keep one of them",
            "f:6:14: `1e999` is not a finite number, and JSON, in which cases are sent and stored, has only finite ones; write `null`, or put it into quotes",
            "f:6:36: both `expected` and `output` may hold the expected output; keep one of them",
            "f:6:61: `metadata` is a number, where an object is needed",
            "f:6:72: `name` is a list, where a text is needed",
            "f:6:92: no evaluator is called `Nope`; evaluators of your own are commands, named by `Exec`, or registered in Rust",
            "f:7:15: a case has no key `answer`; it has `name`, `inputs`, `metadata`, `expected_output`, `evaluators`",
        ]
    );
}
