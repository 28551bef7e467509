//! Reviewing a test set in the viewer: the evidence in its documents, and reviews that are stored or refused.

use std::fs;

use serde_json::{Value, json};

use crate::sandbox::{Sandbox, unwrapped};
use crate::test_set::{self, reviews};
use crate::viewer::{Answer, Viewer};

fn viewed() -> (Sandbox, Viewer) {
    let sandbox = Sandbox::new();
    test_set::write(&sandbox);
    let viewer = start(&sandbox);
    (sandbox, viewer)
}

fn start(sandbox: &Sandbox) -> Viewer {
    Viewer::start(sandbox.command("view set --no-open").env("USER", "ada"))
}

fn get(viewer: &Viewer, path: &str) -> Value {
    parsed(&viewer.get(path))
}

fn parsed(answer: &Answer) -> Value {
    assert_eq!(answer.status, 200, "{}", answer.body);
    serde_json::from_str(&answer.body).unwrap()
}

/// Sends a review as the page does: the fields of `said` beside the usual ones.
fn send(viewer: &Viewer, said: &Value) -> Answer {
    let mut review = json!({"author": "ada", "id": "q1", "verdict": "keep", "time": ""});
    for (name, value) in said.as_object().unwrap() {
        review[name] = value.clone();
    }
    let seen = review.as_object_mut().unwrap().shift_remove("seen");
    let body = json!({"review": review, "seen": seen});
    viewer.send_json("/review/reviews", &body.to_string())
}

/// The text of parts, evidence in brackets.
fn marked(parts: &Value) -> String {
    let marked = parts.as_array().unwrap().iter().map(|part| {
        let text = part["text"].as_str().unwrap();
        if part["is_evidence"] == true {
            format!("<{text}>")
        } else {
            text.to_owned()
        }
    });
    marked.collect()
}

#[test]
fn a_question_is_shown_with_its_evidence_in_its_documents() {
    let (_sandbox, viewer) = viewed();
    assert!(
        viewer.address().ends_with("/review"),
        "{}",
        viewer.address()
    );
    let page = viewer.get("/review");
    assert!(page.body.contains("value=\"ada\""), "{}", page.body);
    let question = |id: &str| get(&viewer, &format!("/review/question?id={id}"));

    let both = question("q2");
    assert_eq!(both["item"]["question"], "What about q2?");
    let [short, long] = both["documents"].as_array().unwrap().as_slice() else {
        panic!("two documents: {both}");
    };
    assert_eq!(
        marked(&short["parts"]),
        "The ferry Stormwick <carries 450 passengers>. It sails at nine."
    );
    let window = marked(&long["parts"]);
    assert!(
        window.contains("The ferry <Åse carries 90 passengers>. No ferry"),
        "{window}"
    );
    assert!(
        window.starts_with(" […] ") && window.len() < 2_000,
        "{window}"
    );
    assert_eq!(
        (&short["whole"], &long["whole"]),
        (&Value::Null, &Value::Null)
    );

    assert_eq!(question("q3")["documents"], json!([]));
    let lost = &question("q4")["documents"][0];
    assert_eq!(lost["lost"], json!(["It sails at ten."]));
    assert!(marked(&lost["parts"]).starts_with("The ferry"));
    let gone = &question("q5")["documents"][0];
    assert_eq!(
        (&gone["document"], &gone["parts"]),
        (&json!("gone"), &json!([]))
    );
    assert_eq!(viewer.get("/review/question?id=q6").status, 400);
}

#[test]
fn a_review_is_appended_with_author_time_and_seed() {
    let (sandbox, viewer) = viewed();
    let stored = parsed(&send(
        &viewer,
        &json!({"author": " ada ", "defect": " odd "}),
    ));
    let first = &reviews(&sandbox)[0];
    assert_eq!(stored["review"], *first);
    let time = first["time"].as_str().unwrap();
    assert!(time.starts_with("20") && time.ends_with('Z'), "{time}");
    let expected =
        json!({"id": "q1", "verdict": "keep", "defect": "odd", "author": "ada", "time": time});
    assert_eq!(*first, expected, "picked, so without a seed");

    // The same again says nothing new, and a different verdict does.
    let again = send(&viewer, &json!({"defect": "odd", "seen": first}));
    assert_eq!(parsed(&again)["review"], *first);
    assert_eq!(reviews(&sandbox).len(), 1);
    let edit = json!({
        "verdict": "edit", "question": "How many?", "answer": "450", "seen": first, "seed": 7,
    });
    parsed(&send(&viewer, &edit));
    let last = reviews(&sandbox).remove(1);
    assert_eq!(
        (&last["question"], &last["seed"]),
        (&json!("How many?"), &json!(7))
    );
    assert_eq!(last.get("answer"), None, "it is the answer of the set");

    let all = get(&viewer, "/review/queue");
    let ids: Vec<&Value> = all.as_array().unwrap().iter().map(|it| &it["id"]).collect();
    assert_eq!(ids, ["q1", "q2", "q3", "q4", "q5"]);
    assert_eq!(
        (&all[0]["review"], &all[1]["review"]),
        (&last, &Value::Null)
    );
    // One of each kind at least.
    let sample = get(&viewer, "/review/queue?size=1&seed=7");
    assert_eq!(sample.as_array().unwrap().len(), 4);
}

#[test]
fn a_review_that_the_page_has_not_shown_is_not_replaced_unseen() {
    let (sandbox, viewer) = viewed();
    let keep = parsed(&send(&viewer, &json!({})))["review"].clone();
    let unseen = send(&viewer, &json!({"author": "bo", "verdict": "drop"}));
    assert_eq!(unseen.status, 409);
    let reply: Value = serde_json::from_str(&unseen.body).unwrap();
    assert_eq!(reply["review"], keep);
    assert!(
        reply["message"]
            .as_str()
            .unwrap()
            .contains("ada said “keep”")
    );
    let dropped = send(
        &viewer,
        &json!({"author": "bo", "verdict": "drop", "seen": keep}),
    );
    let dropped = parsed(&dropped)["review"].clone();
    // The last one counts, so what ada said before has to be said again.
    parsed(&send(&viewer, &json!({"seen": dropped})));
    let said = reviews(&sandbox);
    let said: Vec<&Value> = said.iter().map(|it| &it["verdict"]).collect();
    assert_eq!(said, ["keep", "drop", "keep"]);
}

#[test]
fn a_review_that_cannot_be_one_is_refused_and_says_why() {
    let (sandbox, viewer) = viewed();
    let long = "x".repeat(10_001);
    let wrong = [
        (json!({"author": " "}), "the name of the labeller is empty"),
        (json!({"id": "q6"}), "no such question"),
        (
            json!({"verdict": "edit", "question": " What about q1? "}),
            "nothing is edited",
        ),
        (
            json!({"verdict": "edit", "id": "q3", "answer": "ten"}),
            "unanswerable",
        ),
        (
            json!({"verdict": "edit", "answer": long}),
            "at most 10,000 characters",
        ),
        (json!({"defect": long}), "at most 10,000 characters"),
    ];
    for (said, sentence) in wrong {
        let refused = send(&viewer, &said);
        assert_eq!(refused.status, 400, "{}", refused.body);
        assert!(refused.body.contains(sentence), "{}", refused.body);
    }
    let huge = send(&viewer, &json!({"answer": "x".repeat(300_000)}));
    assert_eq!(huge.status, 413);
    assert!(huge.body.contains("an answer may each"), "{}", huge.body);
    assert_eq!(send(&viewer, &json!({"verdict": "maybe"})).status, 422);
    let path = viewer.path("/review/reviews");
    let foreign = viewer.ask("POST", &path, &[("Host", &viewer.host())], "{}");
    assert_eq!(foreign.status, 403);

    sandbox.write("set/questions.jsonl", "");
    let changed = send(&viewer, &json!({}));
    assert_eq!(changed.status, 400);
    assert!(changed.body.contains("have changed"), "{}", changed.body);
    assert!(reviews(&sandbox).is_empty());
}

#[test]
fn a_page_begins_with_a_sample_and_other_pages_stay() {
    let (sandbox, viewer) = viewed();
    let page = viewer.get("/review").body;
    let sample = page.find("value=\"sample\"").unwrap();
    assert!(sample < page.find("value=\"all\"").unwrap(), "{page}");
    assert_eq!(viewer.get("/").status, 200);

    sandbox.succeed("sample --limit 5 --skip-qa --profile bm25");
    let without = Viewer::start(&mut sandbox.command("view --no-open"));
    assert_eq!(without.get("/review").status, 404);
}

#[test]
fn a_set_that_cannot_be_read_is_an_error_of_the_command() {
    let sandbox = Sandbox::new();
    let folder = test_set::write(&sandbox);
    sandbox.write("set/review.jsonl", "{}\n{}\n");
    let error = unwrapped(&sandbox.refuse("view set --no-open"));
    assert!(error.contains("line 1"), "{error}");
    fs::remove_file(folder.join("review.jsonl")).unwrap();
    fs::remove_file(folder.join("dataset.yaml")).unwrap();
    let error = unwrapped(&sandbox.refuse("view set --no-open"));
    assert!(error.contains("dataset.yaml"), "{error}");
    sandbox.write("set/questions.jsonl", "{\"id\": 1\n");
    let error = unwrapped(&sandbox.refuse("view set --no-open"));
    assert!(
        error.contains("line 1") && error.contains("mend the line"),
        "{error}"
    );
}
