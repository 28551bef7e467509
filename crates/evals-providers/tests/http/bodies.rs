//! Bodies that are larger than any answer, and bodies with bytes that are no text.

use std::io::Write as _;

use evals_models::{ChatModel, EmbedError, Embedder, Failure, Reranker, TextKind};
use evals_providers::{
    ConnectError, HttpEmbedder, HttpReranker, RerankSettings, list_openai_models,
};
use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::json;

use crate::scripted_server::{Reaction, Received, ScriptedServer};
use crate::{chain, embed_settings, ollama, openai, question, server, traffic};

const MEGABYTE: usize = 1 << 20;

/// JSON with so many bytes of white space before its end, compressed to a thousandth.
fn bomb(json: &str, blanks: usize) -> Reaction {
    let (start, end) = json.split_at(json.len() - 1);
    let mut gzip = GzEncoder::new(Vec::new(), Compression::fast());
    gzip.write_all(start.as_bytes()).expect("memory");
    let block = vec![b' '; MEGABYTE];
    for _ in 0..blanks / MEGABYTE {
        gzip.write_all(&block).expect("memory");
    }
    gzip.write_all(end.as_bytes()).expect("memory");
    let headers = vec![("content-encoding", "gzip".to_owned())];
    Reaction::Status(200, headers, gzip.finish().expect("memory"))
}

/// A server that answers requests to such paths with this, and all others as it should.
fn bombing(path: &'static str, bomb: Reaction) -> ScriptedServer {
    ScriptedServer::start(move |request: &Received, _| {
        let is_probe = request.body["input"] == json!(["probe"])
            || request.body["documents"] == json!(["probe"]);
        if request.path.ends_with(path) && !is_probe {
            bomb.clone()
        } else {
            Reaction::Sound
        }
    })
}

const REPLY: &str = r#"{"choices": [{"message": {"content": "Paris"}, "finish_reason": "stop"}],
    "message": {"content": "Paris"}, "done": true}"#;

#[tokio::test]
async fn a_reply_ends_at_its_limit() {
    for path in ["/chat/completions", "/api/chat"] {
        let scripted = bombing(path, bomb(REPLY, 64 * MEGABYTE));
        let (reply, url, what) = if path == "/api/chat" {
            let reply = ollama(&scripted, 3).await.chat(&question()).await;
            (reply, scripted.ollama_url(), "a chat reply")
        } else {
            let reply = openai(&scripted, 3).chat(&question()).await;
            (reply, scripted.openai_url(), "a chat completion")
        };
        let error = reply.unwrap_err();
        assert_eq!(error.failure, Failure::Content);
        let expected = format!("`{url}` answered with more than 32 MiB, the limit for {what}");
        assert!(chain(&error).ends_with(&expected), "{}", chain(&error));
        assert_eq!(scripted.received_at(path).len(), 1, "paid for once");
    }
}

#[tokio::test]
async fn a_large_reply_is_read() {
    let scripted = bombing("/chat/completions", bomb(REPLY, 31 * MEGABYTE));
    let reply = openai(&scripted, 1).chat(&question()).await.unwrap();
    assert_eq!(reply.text, "Paris");
}

#[tokio::test]
async fn a_refusal_that_goes_on_for_ever_is_a_refusal() {
    let Reaction::Status(_, headers, body) = bomb(r#"{"error": "no"}"#, 64 * MEGABYTE) else {
        unreachable!("a bomb is a status with a body")
    };
    let scripted = bombing("/chat/completions", Reaction::Status(401, headers, body));
    let error = openai(&scripted, 3).chat(&question()).await.unwrap_err();
    assert_eq!(error.failure, Failure::Terminal);
    assert!(chain(&error).contains("answered 401"), "{}", chain(&error));
}

#[tokio::test]
async fn embeddings_end_where_those_of_the_batch_would() {
    let rows = json!({"data": [{"embedding": [1, 0, 0, 0]}], "embeddings": [[1, 0, 0, 0]]});
    for path in ["/embeddings", "/api/embed"] {
        let scripted = bombing(path, bomb(&rows.to_string(), 8 * MEGABYTE));
        let embedder: Box<dyn Embedder> = if path == "/embeddings" {
            let settings = embed_settings(&scripted.openai_url());
            Box::new(HttpEmbedder::openai(settings, traffic(3)).await.unwrap())
        } else {
            let settings = embed_settings(&scripted.ollama_url());
            Box::new(HttpEmbedder::ollama(settings, traffic(3)).await.unwrap())
        };
        let before = scripted.received_at(path).len();
        let embedded = embedder.embed(&["x", "y"], TextKind::Document).await;
        let error = embedded.unwrap_err();
        let expected = "answered with more than 2 MiB, the limit for embeddings";
        assert!(chain(&error).ends_with(expected), "{}", chain(&error));
        let EmbedError::Model { failure, .. } = error else {
            panic!("{error:?}")
        };
        assert_eq!(failure, Failure::Content);
        assert_eq!(
            scripted.received_at(path).len() - before,
            1,
            "not in halves"
        );
    }
}

#[tokio::test]
async fn scores_end_where_those_of_the_batch_would() {
    let rows = json!({"results": [{"index": 0, "relevance_score": 1}]});
    let scripted = bombing("/rerank", bomb(&rows.to_string(), 8 * MEGABYTE));
    let settings = RerankSettings::new(server(&scripted.ollama_url()), "scripted");
    let reranker = HttpReranker::connect(settings, traffic(3)).await.unwrap();
    let before = scripted.received_at("/rerank").len();
    let error = reranker.rerank("q", &["x"], 1).await.unwrap_err();
    let expected = "answered with more than 2 MiB, the limit for scores";
    assert!(chain(&error).ends_with(expected), "{}", chain(&error));
    assert_eq!(error.failure, Failure::Content);
    assert_eq!(scripted.received_at("/rerank").len() - before, 1);
}

#[tokio::test]
async fn a_list_of_models_ends_at_its_limit() {
    let scripted = bombing("/models", bomb(r#"{"data": []}"#, 64 * MEGABYTE));
    let error = list_openai_models(server(&scripted.openai_url())).await;
    let error = error.unwrap_err();
    let expected = "answered with more than 8 MiB, the limit for a list of models";
    assert!(chain(&error).ends_with(expected), "{}", chain(&error));
    assert!(matches!(error, ConnectError::Server { .. }));
}

/// The reply has arrived and is paid for: a character less is no reason to ask again.
#[tokio::test]
async fn what_is_no_character_is_replaced() {
    let bodies: [(&[u8], &str); 5] = [
        (b"Pa\xffris", "Pa\u{fffd}ris"),
        (b"Paris \\ud83d", "Paris \u{fffd}"),
        (b"\\ude00\\ud83d\\ude00", "\u{fffd}😀"),
        (b"\\\\ud83d", "\\ud83d"),
        (b"\xed\xa0\x80", "\u{fffd}\u{fffd}\u{fffd}"),
    ];
    for (content, expected) in bodies {
        let mut whole = b"{\"choices\":[{\"message\":{\"content\":\"".to_vec();
        whole.extend_from_slice(content);
        whole.extend_from_slice(b"\"}}],\"message\":{\"content\":\"");
        whole.extend_from_slice(content);
        whole.extend_from_slice(b"\"},\"done\":true}");
        let mut streamed = b"data: {\"choices\":[{\"delta\":{\"content\":\"".to_vec();
        streamed.extend_from_slice(content);
        streamed.extend_from_slice(b"\"}}]}\n\ndata: [DONE]\n\n");
        let mut marked = "\u{feff}".as_bytes().to_vec();
        marked.extend_from_slice(&whole);
        for body in [&whole, &marked] {
            let scripted = bombing("/api/chat", Reaction::body(200, body.clone()));
            let reply = ollama(&scripted, 3).await.chat(&question()).await.unwrap();
            assert_eq!((reply.text.as_str(), reply.served.attempts), (expected, 1));
        }
        for body in [whole, marked, streamed] {
            let scripted = bombing("/chat/completions", Reaction::body(200, body));
            let reply = openai(&scripted, 3).chat(&question()).await.unwrap();
            assert_eq!((reply.text.as_str(), reply.served.attempts), (expected, 1));
        }
    }
}

/// It was made for the request, whatever it is, and another one would be paid for too.
#[tokio::test]
async fn an_object_that_is_no_reply_is_not_asked_for_again() {
    let nested = format!("{{\"a\":{}1{}}}", "[".repeat(200), "]".repeat(200));
    for body in [
        r#"{"choices": "x", "message": "x", "done": true}"#,
        r#"{"choices": [], "logprob": NaN}"#,
        "{\"choices\": [{\"message\": {\"content\": \"a\nb\"}}]}",
        nested.as_str(),
    ] {
        let scripted = bombing("/chat/completions", Reaction::body(200, body));
        let error = openai(&scripted, 3).chat(&question()).await.unwrap_err();
        assert_eq!(error.failure, Failure::Content, "{body}");
        assert_eq!(scripted.received().len(), 1, "{body}");
        let scripted = bombing("/api/chat", Reaction::body(200, body));
        let error = ollama(&scripted, 3).await.chat(&question()).await;
        assert_eq!(error.unwrap_err().failure, Failure::Content, "{body}");
        assert_eq!(scripted.received_at("/api/chat").len(), 1, "{body}");
    }
}
