//! Answers as the protocols say.

use serde_json::{Value, json};

use super::Received;
use super::reaction::Saying;

/// Length of the vectors.
const DIMENSION: usize = 4;

/// The content type and the body of a sound answer.
pub(super) fn answer(request: &Received, saying: &Saying) -> (&'static str, Vec<u8>) {
    let body = match request.path.as_str() {
        "/api/tags" => tags(),
        "/api/show" => json!({"model_info": {"scripted.context_length": 8192}}),
        "/api/pull" => return ("application/x-ndjson", pull()),
        "/api/ps" => json!({"models": []}),
        "/v1/models" => json!({"object": "list", "data": [{"id": "scripted"}]}),
        "/api/embed" => json!({"embeddings": vectors(request)}),
        "/v1/embeddings" => openai_vectors(request),
        path if path.ends_with("/rerank") => scores(request),
        "/api/chat" if saying.streamed => return ("application/x-ndjson", ollama_pieces(saying)),
        "/api/chat" => ollama_reply(saying),
        _ if saying.streamed => return ("text/event-stream", openai_pieces(saying)),
        _ => openai_reply(saying),
    };
    ("application/json", body.to_string().into_bytes())
}

fn tags() -> Value {
    let model = |name: &str| {
        json!({
            "name": name, "model": name, "modified_at": "2026-01-31T12:00:00.123456789+01:00", "size": 4_661_224_676_u64,
            "digest": format!("digest-of-{name}"),
        })
    };
    json!({"models": [model("scripted:latest"), model("scripted:8b")]})
}

/// The steps of a pull that succeeds, in Ollama's words.
fn pull() -> Vec<u8> {
    let layer = |digest: &str, total: u64, completed: Option<u64>| {
        let mut step = json!({"status": format!("pulling {digest}"), "digest": format!("sha256:{digest}"), "total": total});
        if let Some(completed) = completed {
            step["completed"] = json!(completed);
        }
        step
    };
    let steps = [
        json!({"status": "pulling manifest"}),
        layer("8934d96d3f08", 1_000, None),
        layer("8934d96d3f08", 1_000, Some(400)),
        layer("8934d96d3f08", 1_000, Some(1_000)),
        layer("8c17c2ebb0ea", 24, Some(24)),
        json!({"status": "verifying sha256 digest"}),
        json!({"status": "writing manifest"}),
        json!({"status": "success"}),
    ];
    let lines = steps.iter().map(|step| format!("{step}\n"));
    lines.collect::<String>().into_bytes()
}

/// A vector that depends on nothing but the text.
fn vectors(request: &Received) -> Vec<Vec<f64>> {
    let texts = request.body["input"]
        .as_array()
        .cloned()
        .unwrap_or_default();
    let texts = texts.iter().filter_map(Value::as_str);
    texts.map(vector).collect()
}

/// Counts bytes by their value's last two bits, from 1 so that no vector is zero.
pub(super) fn vector(text: &str) -> Vec<f64> {
    let mut vector = vec![1.0; DIMENSION];
    for byte in text.bytes() {
        vector[usize::from(byte) % DIMENSION] += 1.0;
    }
    vector
}

fn openai_vectors(request: &Received) -> Value {
    let rows = vectors(request).into_iter().enumerate();
    let rows = rows.map(|(index, vector)| json!({"index": index, "embedding": vector}));
    json!({"object": "list", "data": rows.collect::<Vec<_>>()})
}

/// Worst first, so that whoever relies on the order of rows is found out. Texts under `texts` are answered as
/// text-embeddings-inference answers them.
fn scores(request: &Received) -> Value {
    let query = request.body["query"].as_str().unwrap_or_default();
    let given = |field: &str| request.body[field].as_array().cloned();
    let rows = |texts: Vec<Value>, name: &str| {
        let texts = texts.iter().filter_map(Value::as_str).enumerate();
        let mut rows: Vec<(usize, f64)> = texts
            .map(|(index, text)| (index, score(query, text)))
            .collect();
        rows.sort_by(|left, right| left.1.total_cmp(&right.1));
        let rows = rows.into_iter();
        rows.map(|(index, score)| json!({"index": index, name: score}))
            .collect::<Vec<_>>()
    };
    match (given("texts"), given("documents")) {
        (Some(texts), _) => json!(rows(texts, "score")),
        (None, documents) => json!({
            "results": rows(documents.unwrap_or_default(), "relevance_score"),
            "usage": {"total_tokens": 12},
        }),
    }
}

/// The share of the question's words that a text has, and a little for its length, so that scores differ.
fn score(query: &str, text: &str) -> f64 {
    let words: Vec<String> = query.split_whitespace().map(str::to_lowercase).collect();
    let text = text.to_lowercase();
    let found = words.iter().filter(|word| text.contains(*word));
    let share = |count: usize| f64::from(u32::try_from(count).unwrap_or(u32::MAX));
    share(found.count()) / share(words.len().max(1)) + share(text.len().min(10_000)) / 1e6
}

fn openai_reply(saying: &Saying) -> Value {
    let mut reply = json!({"id": "1", "object": "chat.completion", "choices": [{
        "index": 0,
        "message": {"role": "assistant", "content": saying.text},
        "finish_reason": saying.finish,
    }]});
    if let Some(reasoning) = &saying.reasoning {
        reply["choices"][0]["message"]["reasoning_content"] = json!(reasoning);
    }
    if let Some((prompt, completion)) = saying.usage {
        reply["usage"] = json!({"prompt_tokens": prompt, "completion_tokens": completion});
    }
    reply
}

fn openai_pieces(saying: &Saying) -> Vec<u8> {
    let mut events: Vec<Value> = pieces(&saying.text)
        .map(|piece| json!({"choices": [{"index": 0, "delta": {"content": piece}}]}))
        .collect();
    events.push(json!({"choices": [{"delta": {}, "finish_reason": saying.finish}]}));
    if let Some((prompt, completion)) = saying.usage {
        let usage = json!({"prompt_tokens": prompt, "completion_tokens": completion});
        events.push(json!({"choices": [], "usage": usage}));
    }
    let events = events.iter().map(|event| format!("data: {event}\n\n"));
    let body: String = events.chain(["data: [DONE]\n\n".to_owned()]).collect();
    body.into_bytes()
}

fn ollama_reply(saying: &Saying) -> Value {
    let mut reply = json!({
        "model": "scripted",
        "message": {"role": "assistant", "content": saying.text},
        "done": true,
    });
    if let Some(reasoning) = &saying.reasoning {
        reply["message"]["thinking"] = json!(reasoning);
    }
    if let Some(reason) = saying.finish {
        reply["done_reason"] = json!(reason);
    }
    if let Some((prompt, completion)) = saying.usage {
        reply["prompt_eval_count"] = json!(prompt);
        reply["eval_count"] = json!(completion);
    }
    reply
}

fn ollama_pieces(saying: &Saying) -> Vec<u8> {
    let piece = |piece| json!({"message": {"content": piece}, "done": false});
    let last = ollama_reply(&Saying {
        text: String::new(),
        ..saying.clone()
    });
    let parts = pieces(&saying.text).map(piece).chain([last]);
    let mut body = Vec::new();
    for part in parts {
        body.extend(part.to_string().into_bytes());
        body.push(b'\n');
    }
    body
}

/// A text in pieces of three characters.
fn pieces(text: &str) -> impl Iterator<Item = String> {
    let letters: Vec<char> = text.chars().collect();
    let pieces: Vec<String> = letters
        .chunks(3)
        .map(|piece| piece.iter().collect())
        .collect();
    pieces.into_iter()
}
