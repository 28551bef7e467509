//! `JsonSchema`, with schemas in the dataset file and in files of their own.

use evals::{Case, Context, EvaluatorSpec, Outcome, SpecArguments};
use evals_evaluators::{Built, Registry, RegistryError, Resources, Untyped};
use futures::executor::block_on;
use serde_json::{Value, json};

use crate::registered::{build, built, refused};

fn judged(arguments: Value, output: &Value) -> Outcome {
    let evaluator = built("JsonSchema", arguments);
    let case = Case::<Untyped>::new("case", Value::Null);
    let outcomes = block_on(evaluator.evaluate(&Context::new(&case, output))).unwrap();
    let [outcome] = outcomes.try_into().unwrap();
    outcome
}

fn failed(reason: &str) -> Outcome {
    Outcome::assertion("JsonSchema", false).because(reason)
}

fn passed() -> Outcome {
    Outcome::assertion("JsonSchema", true)
}

fn person() -> Value {
    json!({
        "type": "object",
        "properties": {"name": {"type": "string"}, "age": {"type": "integer", "minimum": 0}, "tags": {"items": {"$ref": "#/$defs/tag"}}},
        "required": ["name"],
        "additionalProperties": false,
        "$defs": {"tag": {"enum": ["a", "b"]}},
    })
}

#[test]
fn the_reason_names_the_place_of_each_mistake() {
    let schema = json!({"schema": person()});
    let valid = json!({"name": "Ada", "age": 36, "tags": ["a"]});
    assert_eq!(judged(schema.clone(), &valid), passed());
    assert_eq!(
        judged(schema.clone(), &json!({"name": 5, "tags": ["a", "c"]})),
        failed(
            "at `/name`: 5 is not of type \"string\"; at `/tags/1`: \"c\" is not one of \"a\" or \"b\""
        )
    );
    assert_eq!(
        judged(schema, &json!({})),
        failed("\"name\" is a required property")
    );
}

#[test]
fn a_reason_shows_three_mistakes_and_how_many_follow() {
    let numbers = json!({"schema": {"items": {"type": "number"}}});
    let outcome = judged(numbers, &json!(["a", "b", "c", "d", "e"]));
    let reason = outcome.reason.unwrap();
    assert!(
        reason.ends_with("at `/2`: \"c\" is not of type \"number\"; and 2 more"),
        "{reason}"
    );
    let long = judged(json!({"schema": false}), &json!("x".repeat(10_000)));
    assert!(long.reason.unwrap().len() < 300);
}

#[test]
fn a_text_is_read_as_json_on_request() {
    let output = json!("{\"name\": \"Ada\"}");
    assert_eq!(
        judged(json!({"schema": person(), "parse": true}), &output),
        passed()
    );
    assert_eq!(
        judged(json!({"schema": person()}), &output).value,
        failed("").value
    );
    assert_eq!(
        judged(json!({"schema": true, "parse": true}), &json!("Sure! {}")),
        failed("the output is not JSON: expected value at line 1 column 1")
    );
}

#[test]
fn one_json_object_in_a_text_has_to_be_valid() {
    let inside = |output| {
        judged(
            json!({"schema": person(), "parse": "inside"}),
            &json!(output),
        )
    };
    assert_eq!(
        inside("Sure! ```json\n{\"name\": \"Ada\"}\n``` Anything else?"),
        passed()
    );
    assert_eq!(inside("{oops} {\"age\": 1} {\"name\": \"{\"} {"), passed());
    assert_eq!(
        inside("Here: {\"age\": 1}."),
        failed("\"name\" is a required property")
    );
    assert_eq!(
        inside("{\"age\": 1}{\"name\": 5}"),
        failed("none of 2 JSON objects is valid; the first: \"name\" is a required property")
    );
    // The object inside the faulty one is an object of its own.
    assert_eq!(inside("{\"a\": {\"name\": \"Ada\"}"), passed());
    for output in ["", "{", "[1]", "{name: Ada}"] {
        assert_eq!(
            inside(output),
            failed("the output contains no JSON object"),
            "{output}"
        );
    }
    let any = json!({"schema": true, "parse": "inside"});
    assert_eq!(judged(any.clone(), &json!([{"a": 1}])), passed());
    assert_eq!(
        judged(any, &json!(5)),
        failed("the output contains no JSON object")
    );
}

#[test]
fn a_path_is_relative_to_the_dataset_file() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("person.json"), person().to_string()).unwrap();
    std::fs::write(folder.path().join("broken.json"), "{").unwrap();
    let resources = Resources {
        folder: Some(folder.path().to_owned()),
        ..Resources::default()
    };
    let load = |path: &str| {
        let spec = EvaluatorSpec {
            name: "JsonSchema".to_owned(),
            arguments: SpecArguments::Positional([json!(path)]),
        };
        Registry::built_in().build(&spec, &resources)
    };
    let Ok(Built::Case(evaluator)) = load("person.json") else {
        panic!("the schema is not read");
    };
    let case = Case::<Untyped>::new("case", Value::Null);
    let output = json!({"name": 5});
    let outcomes = block_on(evaluator.evaluate(&Context::new(&case, &output))).unwrap();
    assert_eq!(
        outcomes,
        [failed("at `/name`: 5 is not of type \"string\"")]
    );
    let refused = |built: Result<Built, RegistryError>| built.unwrap_err().to_string();
    let missing = refused(load("missing.json"));
    let start = format!(
        "`JsonSchema`: cannot read the schema `{}",
        folder.path().display()
    );
    assert!(missing.starts_with(&start), "{missing}");
    let broken = refused(load("broken.json"));
    assert!(
        broken.contains("is not JSON: EOF while parsing"),
        "{broken}"
    );
}

#[test]
fn a_wrong_schema_is_refused() {
    let refused = |schema: Value| {
        let arguments = SpecArguments::Named([("schema".to_owned(), schema)].into_iter().collect());
        refused("JsonSchema", arguments)
    };
    let error = refused(json!({"properties": {"a": {"type": "text"}}}));
    let start = "`JsonSchema`: the schema is wrong at `/properties/a/type`: ";
    assert!(error.starts_with(start), "{error}");
    // Nothing is fetched.
    let error = refused(json!({"$ref": "https://example.org/schema.json"}));
    assert!(
        error.starts_with("`JsonSchema`: the schema is wrong"),
        "{error}"
    );
    assert_eq!(
        refused(json!(5)),
        "`JsonSchema`: `schema`: expected a schema or a path, found `5`"
    );
}

#[test]
fn a_schema_that_refers_to_itself_is_judged_or_refused() {
    for schema in [
        json!({"$ref": "#"}),
        json!({"allOf": [{"$ref": "#"}]}),
        json!({"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}}),
        json!({"not": {"$dynamicRef": "#x"}, "$dynamicAnchor": "x"}),
    ] {
        let arguments = SpecArguments::Named([("schema".to_owned(), schema)].into_iter().collect());
        let case = Case::<Untyped>::new("case", Value::Null);
        if let Ok(Built::Case(evaluator)) = build("JsonSchema", arguments) {
            block_on(evaluator.evaluate(&Context::new(&case, &json!({"a": 1})))).unwrap();
        }
    }
}
