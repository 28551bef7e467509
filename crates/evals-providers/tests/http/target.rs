//! Systems under test behind a server, sound ones and others.

use std::io::Write as _;
use std::time::Duration;

use evals::FailureClass;
use evals_providers::HttpTarget;
use evals_targets::{Reply, Request, Target, TargetError, TargetSettings};
use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::{Value, json};

use crate::scripted_server::reaction::Ending;
use crate::scripted_server::{Reaction, Received, ScriptedServer};
use crate::{KEY, chain, traffic};

/// The settings with the server's address.
fn settings(scripted: &ScriptedServer, mut settings: Value) -> TargetSettings {
    settings["address"] = json!(format!("{}/ask", scripted.ollama_url()));
    TargetSettings::from_value(settings).expect("settings")
}

fn open(scripted: &ScriptedServer, more: Value, attempts: u32) -> HttpTarget {
    let variable = |name: &str| (name == "TOKEN").then(|| KEY.to_owned());
    HttpTarget::new(&settings(scripted, more), traffic(attempts), variable).expect("sound settings")
}

fn why() -> Request {
    Request::question("q1", "why \"so\"?\n")
}

/// Asks a target that has these settings, and a server that answers with this.
async fn asked(
    reaction: Reaction,
    more: Value,
    attempts: u32,
) -> (Result<Reply, TargetError>, ScriptedServer) {
    let scripted = ScriptedServer::start(move |_, _| reaction.clone());
    let reply = open(&scripted, more, attempts).ask(&why()).await;
    (reply, scripted)
}

/// The class and the message of a failure.
async fn failure(reaction: Reaction, more: Value) -> (FailureClass, String) {
    let (reply, scripted) = asked(reaction, more, 1).await;
    let error = reply.expect_err("no reply");
    let message = chain(&error).replace(&scripted.ollama_url(), "SERVER");
    (error.class(), message)
}

fn paris() -> Reaction {
    Reaction::json(200, &json!({"answer": "Paris", "documents": ["d1"]}))
}

#[tokio::test]
async fn a_question_is_posted_and_its_reply_read() {
    let (reply, scripted) = asked(paris(), json!({}), 1).await;
    let reply = reply.unwrap();
    assert_eq!(reply.answer, Some("Paris".into()));
    assert_eq!(reply.documents.unwrap()[0].id.as_deref(), Some("d1"));
    assert_eq!(reply.timings.len(), 1);
    assert_eq!(reply.timings[0].stage, Reply::STAGE);
    let received = &scripted.received()[0];
    assert_eq!(
        (received.method.as_str(), received.path.as_str()),
        ("POST", "/ask")
    );
    assert_eq!(
        received.body,
        json!({"id": "q1", "question": "why \"so\"?\n"})
    );
    assert_eq!(received.headers["content-type"], "application/json");
}

#[tokio::test]
async fn a_request_carries_the_vector_and_the_address_its_parameters() {
    let scripted = ScriptedServer::start(|_, _| paris());
    let settings = TargetSettings::from_value(json!({
        "address": format!("{}/{{{{ index }}}}/search", scripted.ollama_url()),
        "query": {"dims": "{{ vector | length }}"},
        "body": "{\"knn\": {{ vector }}, \"k\": {{ k }}{% if filter %}, \"filter\": {{ filter }}{% endif %}}",
        "parameters": {"index": "news", "filter": null},
    }));
    let settings = settings.unwrap();
    let mut request = why();
    request.k = Some(3);
    request.vector = Some([0.25, -1.0].into());
    for (settings, body) in [
        (settings.clone(), json!({"knn": [0.25, -1.0], "k": 3})),
        (
            settings.with_filter("{\"year\": 2020}").unwrap(),
            json!({"knn": [0.25, -1.0], "k": 3, "filter": {"year": 2020}}),
        ),
    ] {
        let target = HttpTarget::new(&settings, traffic(1), |_| None).unwrap();
        let name = &target.identity().name;
        assert!(name.ends_with("/news/search"), "{name}");
        target.ask(&request).await.unwrap();
        let received = scripted.received().pop().unwrap();
        assert_eq!(received.body, body);
        assert_eq!(received.path, "/news/search?dims=2");
    }
}

#[tokio::test]
async fn the_inputs_of_a_dataset_file_are_sent_as_they_are() {
    let scripted = ScriptedServer::start(|_, _| paris());
    let inputs = json!({"text": "x", "n": [1, null]});
    let target = open(&scripted, json!({}), 1);
    target
        .ask(&Request::inputs("c", inputs.clone()))
        .await
        .unwrap();
    assert_eq!(scripted.received()[0].body, inputs);
}

#[tokio::test]
async fn method_headers_parameters_and_body_are_those_of_the_settings() {
    let scripted = ScriptedServer::start(|_, _| paris());
    let target = open(
        &scripted,
        json!({
            "method": "put",
            "headers": {"Authorization": "Bearer ${TOKEN}", "Accept-Language": "de"},
            "query": {"q": "{{ question }}", "key": "${TOKEN}"},
            "body": {"messages": [{"role": "user", "content": "Q: {{ question }}"}], "k": "{{ k }}"},
        }),
        1,
    );
    let mut request = why();
    request.k = Some(7);
    target.ask(&request).await.unwrap();
    let received = &scripted.received()[0];
    assert_eq!(received.method, "PUT");
    assert_eq!(
        received.path,
        format!("/ask?key={KEY}&q=why+%22so%22%3F%0A")
    );
    assert_eq!(received.headers["authorization"], format!("Bearer {KEY}"));
    assert_eq!(received.headers["accept-language"], "de");
    assert_eq!(
        received.body,
        json!({"messages": [{"role": "user", "content": "Q: why \"so\"?\n"}], "k": 7})
    );
    let shown = serde_json::to_string(target.identity()).unwrap();
    assert!(
        shown.contains("Bearer ${TOKEN}") && !shown.contains(KEY),
        "{shown}"
    );
}

#[tokio::test]
async fn a_get_sends_parameters_and_no_body() {
    let scripted = ScriptedServer::start(|_, _| paris());
    let target = open(
        &scripted,
        json!({"method": "GET", "query": {"q": "{{ id }}"}}),
        1,
    );
    target.ask(&why()).await.unwrap();
    let received = &scripted.received()[0];
    assert_eq!(
        (received.method.as_str(), received.path.as_str()),
        ("GET", "/ask?q=q1")
    );
    assert_eq!(received.body, Value::Null);
}

#[test]
fn settings_that_no_request_can_be_made_from_are_found_before_the_run() {
    let scripted = ScriptedServer::start(|_, _| paris());
    let problem = |more| {
        let target = HttpTarget::new(&settings(&scripted, more), traffic(1), |_| None);
        target.unwrap_err().to_string()
    };
    assert_eq!(
        problem(json!({"headers": {"Authorization": "Bearer ${TOKEN}"}})),
        "`target.headers.Authorization`: the environment variable `TOKEN` is not set"
    );
    assert_eq!(
        problem(json!({"query": {"key": "${TOKEN}"}})),
        "`target.query.key`: the environment variable `TOKEN` is not set"
    );
    let message = problem(json!({"body": "{\"q\": \"{{ question }}\"}"}));
    assert!(
        message.starts_with("`target.body`: gives no JSON for a question with quotes"),
        "{message}"
    );
    let sound = json!({"body": "{\"q\": {{ question | tojson }}}"});
    assert!(HttpTarget::new(&settings(&scripted, sound), traffic(1), |_| None).is_ok());
    let text = json!({"body": "q={{ question }}", "headers": {"Content-Type": "text/plain"}});
    assert!(HttpTarget::new(&settings(&scripted, text), traffic(1), |_| None).is_ok());
}

#[tokio::test]
async fn a_template_that_fits_no_case_costs_the_case() {
    let scripted = ScriptedServer::start(|_, _| paris());
    let target = open(
        &scripted,
        json!({"body": "{\"q\": \"{{ inputs.text }}\"}"}),
        1,
    );
    let error = target
        .ask(&Request::inputs("c", json!({"text": "a \"b\""})))
        .await
        .unwrap_err();
    assert_eq!(error.class(), FailureClass::Content);
    assert!(
        chain(&error).starts_with(
            "`body` of the target gives no JSON for this case: `{\"q\": \"a \"b\"\"}`"
        )
    );
    let error = target
        .ask(&Request::inputs("c", json!({})))
        .await
        .unwrap_err();
    assert!(
        chain(&error)
            .starts_with("`body` of the target cannot be filled in for this case: undefined value")
    );
    assert_eq!(scripted.received().len(), 0);
}

#[tokio::test]
async fn faults_that_go_away_are_tried_again() {
    for fault in [
        Reaction::busy(None),
        Reaction::busy(Some("0")),
        Reaction::json(500, &json!({"detail": "boom"})),
        Reaction::body(502, "<html><title>Bad Gateway</title></html>"),
        Reaction::body(200, "<html><title>Sign in</title></html>"),
        Reaction::body(200, "{\"answer\": \"Pa"),
        Reaction::body(200, ""),
        Reaction::Reset,
        Reaction::Close,
    ] {
        let shown = format!("{fault:?}");
        let scripted = ScriptedServer::start(
            move |_, before| if before == 0 { fault.clone() } else { paris() },
        );
        let reply = open(&scripted, json!({}), 2).ask(&why()).await;
        let reply = reply.unwrap_or_else(|error| panic!("{shown}: {}", chain(&error)));
        assert_eq!(reply.answer, Some("Paris".into()), "{shown}");
        assert_eq!(scripted.received().len(), 2, "{shown}");
    }
}

#[tokio::test]
async fn a_refusal_means_what_its_status_says() {
    use FailureClass::{Content, Terminal, Transient};

    // Words that would mean something in a model's refusal mean nothing here.
    let words = json!({"detail": "the field `max_tokens` is not supported"});
    for (status, class, end) in [
        (400, Content, ""),
        (422, Content, ""),
        (418, Content, ""),
        (
            401,
            Terminal,
            "; check the credentials in `headers` or `query` of the target, and whether they may read what it searches",
        ),
        (
            403,
            Terminal,
            "; check the credentials in `headers` or `query` of the target, and whether they may read what it searches",
        ),
        (
            404,
            Terminal,
            "; check the `address` and the `method` of the target",
        ),
        (
            405,
            Terminal,
            "; check the `address` and the `method` of the target",
        ),
        (500, Transient, ""),
        (503, Transient, ""),
    ] {
        let (found, message) = failure(Reaction::json(status, &words), json!({})).await;
        assert_eq!(found, class, "{status}");
        let expected =
            format!("`SERVER/ask` answered {status}: the field `max_tokens` is not supported{end}");
        assert!(message.ends_with(&expected), "{message}");
    }
}

#[tokio::test]
async fn an_error_that_every_reply_reports_ends_the_run() {
    let denied = json!({"error": "permission denied for collection `chunks`"});
    let scripted = ScriptedServer::start(move |_, before| match before {
        5 => paris(),
        _ => Reaction::json(200, &denied),
    });
    let ask = async |target: &HttpTarget| {
        let error = target.ask(&why()).await.unwrap_err();
        (error.class(), chain(&error))
    };
    let target = open(&scripted, json!({}), 1);
    for _ in 1..5 {
        let (class, message) = ask(&target).await;
        assert_eq!(class, FailureClass::Content, "{message}");
    }
    let (class, message) = ask(&target).await;
    assert_eq!(class, FailureClass::Terminal, "{message}");
    assert!(message.contains("permission denied"), "{message}");
    assert!(message.contains("refused 5 calls in a row"), "{message}");
    assert_eq!(scripted.received().len(), 5);
    ask(&target).await;
    assert_eq!(scripted.received().len(), 5, "nobody asks any more");
    // An answer says that only some questions have the error.
    let other = open(&scripted, json!({}), 1);
    assert!(other.ask(&why()).await.is_ok());
    for _ in 0..6 {
        assert_eq!(ask(&other).await.0, FailureClass::Content);
    }
}

#[tokio::test]
async fn a_redirection_names_the_address_to_set() {
    let headers = vec![("location", "/ask/".to_owned())];
    let (class, message) = failure(Reaction::Status(307, headers, Vec::new()), json!({})).await;
    assert_eq!(class, FailureClass::Terminal);
    assert_eq!(
        message,
        "`SERVER/ask` answered 307; it redirects to `/ask/`; set that address"
    );
}

#[tokio::test]
async fn replies_that_cannot_be_read_show_their_beginning() {
    use FailureClass::{Content, Transient};

    let long = format!("{{'answer': '{}'}}", "ä".repeat(500));
    for (reaction, class, expected) in [
        (
            Reaction::body(200, "<html><title>Sign in</title></html>"),
            Transient,
            "`SERVER/ask`: the reply is a web page, not JSON; check the address; the reply begins with `<html><title>Sign in",
        ),
        (
            Reaction::body(200, long),
            Content,
            "`SERVER/ask`: the reply is not JSON: key must be a string at line 1 column 2; the reply begins with `{'answer': 'ää",
        ),
        (
            Reaction::json(200, &json!({"result": {"text": "Paris"}})),
            Content,
            "`SERVER/ask`: the reply has neither `answer` nor `documents`; name its fields in `response`",
        ),
        (
            Reaction::json(200, &json!({"id": "q2", "answer": "Paris"})),
            Content,
            "`SERVER/ask`: the reply is for `q2`, and `q1` was asked",
        ),
        (
            Reaction::json(200, &json!({"error": "index is empty"})),
            Content,
            "`SERVER/ask`: the target reports an error: index is empty",
        ),
        (
            Reaction::Events(vec!["data: x\n\n".to_owned()], Ending::Whole),
            FailureClass::Terminal,
            "`SERVER/ask` sent a reply that cannot be read: the service streams events; set `stream: true` for the target",
        ),
    ] {
        let (found, message) = failure(reaction, json!({})).await;
        assert_eq!(found, class, "{message}");
        assert!(message.contains(expected), "{message}");
        assert!(message.chars().count() < 500, "{message}");
    }
    let more = json!({"response": {"answer": "$.out", "documents": "$.hits[*]"}});
    let (_, message) = failure(Reaction::json(200, &json!({"answer": "Paris"})), more).await;
    assert_eq!(
        message,
        "`SERVER/ask`: the reply has nothing at `response.answer` (`$.out`) and `response.documents` (`$.hits[*]`); the reply \
         begins with `{\"answer\":\"Paris\"}`"
    );
}

#[tokio::test]
async fn a_reply_ends_at_its_limit() {
    let mut gzip = GzEncoder::new(Vec::new(), Compression::fast());
    gzip.write_all(b"{\"answer\": \"").unwrap();
    for _ in 0..100 {
        gzip.write_all(&vec![b'x'; 1 << 20]).unwrap();
    }
    gzip.write_all(b"\"}").unwrap();
    let headers = vec![("content-encoding", "gzip".to_owned())];
    let (class, message) = failure(
        Reaction::Status(200, headers, gzip.finish().unwrap()),
        json!({}),
    )
    .await;
    assert_eq!(class, FailureClass::Content);
    assert_eq!(
        message,
        "`SERVER/ask` answered with more than 32 MiB, the limit for a reply"
    );
    let event = format!("data: {}\n\n", "x".repeat(1 << 20));
    let endless = Reaction::Events(vec![event; 40], Ending::Whole);
    let (class, message) = failure(endless, json!({"stream": true})).await;
    assert_eq!(class, FailureClass::Content);
    assert_eq!(
        message,
        "`SERVER/ask` answered with more than 32 MiB, the limit for a reply"
    );
}

#[tokio::test]
async fn a_compressed_reply_of_a_megabyte_is_read() {
    let mut gzip = GzEncoder::new(Vec::new(), Compression::fast());
    let answer = "ä".repeat(1 << 19);
    gzip.write_all(json!({"answer": answer}).to_string().as_bytes())
        .unwrap();
    let headers = vec![("content-encoding", "gzip".to_owned())];
    let (reply, _) = asked(
        Reaction::Status(200, headers, gzip.finish().unwrap()),
        json!({}),
        1,
    )
    .await;
    assert_eq!(reply.unwrap().answer, Some(answer.into()));
}

#[tokio::test]
async fn a_target_that_is_down_or_slow_says_so() {
    let gone = ScriptedServer::saying("gone").ollama_url();
    let settings = TargetSettings::from_value(json!(format!("{gone}/ask"))).unwrap();
    let target = HttpTarget::new(&settings, traffic(2), |_| None).unwrap();
    let error = target.ask(&why()).await.unwrap_err();
    assert_eq!(error.class(), FailureClass::Terminal);
    let message = chain(&error);
    let expected = format!("`{gone}/ask` cannot be reached; start it, or check its address");
    assert!(message.contains(&expected), "{message}");
    let (class, message) = failure(Reaction::Hang, json!({"timeout": 0.2})).await;
    assert_eq!(class, FailureClass::Transient);
    assert!(
        message.ends_with("`SERVER/ask` did not answer within 0.2s (`timeout`)"),
        "{message}"
    );
}

#[tokio::test]
async fn waiting_for_a_place_is_no_service_time() {
    let scripted = ScriptedServer::start(|_, before| match before {
        0 => Reaction::busy(Some("1")),
        _ => paris(),
    });
    let reply = open(&scripted, json!({}), 2).ask(&why()).await.unwrap();
    assert!(reply.timings[0].duration < Duration::from_secs(1));
}

#[tokio::test]
async fn events_are_joined_and_the_first_token_is_timed() {
    let piece = |text: &str| {
        format!(
            "data: {}\n\n",
            json!({"choices": [{"delta": {"content": text}}]})
        )
    };
    let events = vec![
        ": keep-alive\n\n".to_owned(),
        format!("data: {}\n\n", json!({"documents": [{"id": "d1"}]})),
        piece("Pa"),
        piece("ris"),
        "data: [DONE]\n\n".to_owned(),
    ];
    let reaction = Reaction::Events(events, Ending::Silence);
    let (reply, scripted) = asked(reaction, json!({"stream": {"done": "[DONE]"}}), 1).await;
    let reply = reply.unwrap();
    assert_eq!(reply.answer, Some("Paris".into()));
    assert_eq!(reply.documents.unwrap()[0].id.as_deref(), Some("d1"));
    let stages: Vec<&str> = reply
        .timings
        .iter()
        .map(|timing| timing.stage.as_str())
        .collect();
    assert_eq!(stages, [Reply::STAGE, Reply::FIRST_TOKEN_STAGE]);
    assert!(reply.timings[1].duration <= reply.timings[0].duration);
    assert_eq!(
        scripted.received()[0].headers["accept"],
        "text/event-stream"
    );
}

#[tokio::test]
async fn a_stream_torn_in_the_middle_is_no_reply() {
    let event = |text: &str| format!("data: {text}\n\n");
    for (events, ending, more, expected) in [
        (
            vec![event("Pa")],
            Ending::Cut,
            json!({"stream": true}),
            "the connection to `SERVER/ask` was lost",
        ),
        (
            vec![event("Pa")],
            Ending::Whole,
            json!({"stream": {"done": "[DONE]"}}),
            "the stream ended without the event `[DONE]`; the reply begins with `Pa`",
        ),
        (
            vec![event("Pa"), "data: {\"choi".to_owned()],
            Ending::Whole,
            json!({"stream": true}),
            "an event of the stream is not JSON: EOF while parsing a string at line 1 column 6; the reply begins with `{\"choi`",
        ),
        (
            vec![event("Pa")],
            Ending::Silence,
            json!({"stream": true, "timeout": 0.3}),
            "`SERVER/ask` did not answer within 0.3s (`timeout`)",
        ),
    ] {
        let (class, message) = failure(Reaction::Events(events, ending), more).await;
        assert_eq!(class, FailureClass::Transient, "{message}");
        assert!(message.contains(expected), "{message}");
    }
    let failed = vec![
        event("Pa"),
        "event: error\ndata: out of memory\n\n".to_owned(),
    ];
    let (class, message) = failure(
        Reaction::Events(failed, Ending::Whole),
        json!({"stream": true}),
    )
    .await;
    assert_eq!(class, FailureClass::Content);
    assert!(
        message.contains("the stream reports an error; the reply begins with `out of memory`"),
        "{message}"
    );
}

#[tokio::test]
async fn secrets_come_back_from_no_server() {
    let more =
        || json!({"headers": {"X-Api-Key": "${TOKEN}", "Authorization": "Basic literal-secret"}});
    let echo = |request: &Received| {
        let (key, authorization) = (
            &request.headers["x-api-key"],
            &request.headers["authorization"],
        );
        format!("you sent {key} and {authorization}")
    };
    let refusing = ScriptedServer::start(move |request, _| Reaction::body(400, echo(request)));
    let error = open(&refusing, more(), 1).ask(&why()).await.unwrap_err();
    let message = chain(&error);
    assert!(
        message.ends_with("answered 400: you sent [redacted] and [redacted]"),
        "{message}"
    );
    let unreadable = ScriptedServer::start(move |request, _| Reaction::body(200, echo(request)));
    let message = chain(&open(&unreadable, more(), 1).ask(&why()).await.unwrap_err());
    assert!(
        message.contains("you sent [redacted] and") && !message.contains(KEY),
        "{message}"
    );
    let answering = ScriptedServer::start(move |request, _| {
        Reaction::json(
            200,
            &json!({"answer": echo(request), "attributes": {"echo": echo(request)}}),
        )
    });
    let target = open(&answering, more(), 1);
    let reply = target.ask(&why()).await.unwrap();
    let stored = format!("{} {target:?}", serde_json::to_string(&reply).unwrap());
    assert!(
        !stored.contains(KEY) && !stored.contains("literal-secret"),
        "{stored}"
    );
    let naming = ScriptedServer::start(move |request, _| {
        let name = echo(request);
        Reaction::json(
            200,
            &json!({
                "answer": {"in": [{&name: 1}]}, "attributes": {&name: {&name: 1}}, "metrics": {&name: 1.5},
                "tool_calls": [{"name": "search", "arguments": {&name: "x"}}],
                "spans": [{"name": "step", "attributes": {&name: 1}, "children": [{"name": "inner", "attributes": {&name: 1}}]}],
            }),
        )
    });
    let reply = open(&naming, more(), 1).ask(&why()).await.unwrap();
    let stored = serde_json::to_string(&reply).unwrap();
    assert!(
        !stored.contains(KEY) && !stored.contains("literal-secret"),
        "{stored}"
    );
    let name = r#""you sent [redacted] and [redacted]":"#;
    assert_eq!(stored.matches(name).count(), 7, "{stored}");
    let (before, after) = KEY.split_at(5);
    let pieces = vec![format!("data: {before}\n\n"), format!("data: {after}\n\n")];
    let streaming =
        ScriptedServer::start(move |_, _| Reaction::Events(pieces.clone(), Ending::Whole));
    let more = json!({"headers": {"X-Api-Key": "${TOKEN}"}, "stream": true});
    let reply = open(&streaming, more, 1).ask(&why()).await.unwrap();
    assert_eq!(reply.answer, Some("[redacted]".into()));
}

/// The value of a header that is no credential may be the name of a field, or part of an id.
#[tokio::test]
async fn a_header_that_is_no_credential_changes_no_reply() {
    let reply = json!({"documents": ["documents/1"], "answer": "of documents"});
    let scripted = ScriptedServer::start(move |_, _| Reaction::json(200, &reply));
    for (header, id, answer) in [
        ("X-Collection", "documents/1", "of documents"),
        ("X-Api-Key", "[redacted]/1", "of [redacted]"),
    ] {
        let settings = settings(&scripted, json!({"headers": {header: "${NAME}"}}));
        let variable = |name: &str| (name == "NAME").then(|| "documents".to_owned());
        let target = HttpTarget::new(&settings, traffic(1), variable).unwrap();
        let reply = target.ask(&why()).await.unwrap();
        assert_eq!(reply.documents.unwrap()[0].id.as_deref(), Some(id));
        assert_eq!(reply.answer, Some(answer.into()));
    }
}

#[tokio::test]
async fn a_declared_charset_is_honoured() {
    let scripted = ScriptedServer::start(|_, _| {
        let kind = "application/json; charset=ISO-8859-1".to_owned();
        let body = b"{\"answer\": \"Z\xfcrich\"}".to_vec();
        Reaction::Status(200, vec![("content-type", kind)], body)
    });
    let reply = open(&scripted, json!({}), 1).ask(&why()).await.unwrap();
    assert_eq!(reply.answer, Some("Zürich".into()));
}

#[tokio::test]
async fn credentials_in_parameters_and_bodies_come_back_from_no_server() {
    let scripted = ScriptedServer::start(|request, _| {
        Reaction::body(400, format!("bad {} {}", request.path, request.body))
    });
    let more = json!({
        "query": {"api_key": "in-the-query"},
        "body": {"q": "{{ question }}", "auth": {"token": "in-the-body"}},
    });
    let error = open(&scripted, more, 1).ask(&why()).await.unwrap_err();
    let message = chain(&error);
    assert!(message.contains("api_key=[redacted]"), "{message}");
    assert!(message.contains("\"token\":\"[redacted]\""), "{message}");
}

/// PHP escapes slashes, and Go ampersands.
#[tokio::test]
async fn escaped_credentials_are_found_in_streams() {
    let events = vec![
        "data: {\"text\": \"a\", \"attributes\": {\"echo\": \"se\\/cret-\\u0026-key\"}}\n\n"
            .to_owned(),
        "data: [DONE]\n\n".to_owned(),
    ];
    let scripted =
        ScriptedServer::start(move |_, _| Reaction::Events(events.clone(), Ending::Whole));
    let settings = settings(
        &scripted,
        json!({"headers": {"X-Api-Key": "${NAME}"}, "stream": {"text": "$.text"}}),
    );
    let variable = |name: &str| (name == "NAME").then(|| "se/cret-&-key".to_owned());
    let target = HttpTarget::new(&settings, traffic(1), variable).unwrap();
    let reply = target.ask(&why()).await.unwrap();
    assert_eq!(reply.attributes["echo"], "[redacted]");
}
