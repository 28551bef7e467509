//! Each refusal that servers are known to send, and its class.

use Failure::{Content, Terminal, Transient};

use super::*;

fn classified(status: u16, body: &str) -> Refusal {
    classify(
        status,
        &HeaderMap::new(),
        body.as_bytes(),
        SystemTime::UNIX_EPOCH,
    )
}

fn meaning_of(status: u16, body: &str) -> (Failure, Option<Remedy>) {
    let refusal = classified(status, body);
    (refusal.failure, refusal.remedy)
}

#[test]
fn every_refusal_has_its_class() {
    let quota = r#"{"error":{"message":"You exceeded your current quota","type":"insufficient_quota","code":null}}"#;
    let quota_code = r#"{"error":{"message":"no","type":"requests","code":"insufficient_quota"}}"#;
    let too_long = r#"{"error":{"message":"This model's maximum context length is 8192 tokens","type":"invalid_request_error","code":"context_length_exceeded"}}"#;
    let no_model = r#"{"error":{"message":"The model `gpt-9` does not exist or you do not have access to it.","code":"model_not_found"}}"#;
    let parameter = r#"{"error":{"message":"Unsupported parameter: 'top_k'","code":"unsupported_parameter","param":"top_k"}}"#;
    let cases: &[(u16, &str, Failure, Option<Remedy>)] = &[
        (400, "{}", Content, None),
        (400, too_long, Content, None),
        (400, parameter, Terminal, Some(Remedy::Setting)),
        (
            400,
            r#"{"error":{"message":"qwen9 is not a valid model ID","code":400}}"#,
            Terminal,
            Some(Remedy::Model),
        ),
        (
            400,
            r#"[{"error":{"code":400,"message":"API key not valid. Please pass a valid API key."}}]"#,
            Terminal,
            Some(Remedy::Key),
        ),
        (
            400,
            r#"{"error":"\"qwen2.5\" does not support thinking"}"#,
            Terminal,
            Some(Remedy::Setting),
        ),
        (401, "", Terminal, Some(Remedy::Key)),
        (402, "", Terminal, Some(Remedy::Quota)),
        (403, "", Terminal, Some(Remedy::Key)),
        (
            403,
            r#"{"error":{"code":403,"message":"your input was flagged"}}"#,
            Content,
            None,
        ),
        (404, no_model, Terminal, Some(Remedy::Model)),
        (
            404,
            r#"{"error":"model 'qwen3' not found"}"#,
            Terminal,
            Some(Remedy::Model),
        ),
        (404, "404 page not found", Terminal, Some(Remedy::Address)),
        (405, "", Terminal, Some(Remedy::Address)),
        (307, "", Terminal, Some(Remedy::Address)),
        (408, "", Transient, None),
        (409, "", Transient, None),
        (413, "", Content, None),
        (
            422,
            r#"{"detail":[{"loc":["body","messages"],"msg":"bad"}]}"#,
            Content,
            None,
        ),
        (425, "", Transient, None),
        (429, "", Transient, None),
        (
            429,
            r#"{"error":{"message":"Rate limit reached: too many tokens per minute","type":"tokens","code":"rate_limit_exceeded"}}"#,
            Transient,
            None,
        ),
        (429, quota, Terminal, Some(Remedy::Quota)),
        (429, quota_code, Terminal, Some(Remedy::Quota)),
        (500, "", Transient, None),
        (
            500,
            r#"{"error":"the input length exceeds the context length"}"#,
            Content,
            None,
        ),
        (
            500,
            r#"{"error":"model requires more system memory (14.8 GiB) than is available (7.1 GiB)"}"#,
            Terminal,
            Some(Remedy::Memory),
        ),
        (501, "", Terminal, Some(Remedy::Address)),
        // The words of llama.cpp, infinity and text-embeddings-inference, by their sources.
        (
            501,
            r#"{"error":{"code":501,"message":"This server does not support reranking. Start it with `--reranking`","type":"not_supported_error"}}"#,
            Terminal,
            Some(Remedy::Reranking),
        ),
        (
            400,
            r#"{"error":{"message":"ModelNotDeployedError: model=`m` does not support `rerank`.","code":400}}"#,
            Terminal,
            Some(Remedy::Reranking),
        ),
        (
            400,
            r#"{"error":{"message":"ModelNotDeployedError: model=`m` does not support `embed` for modality `text`.","code":400}}"#,
            Terminal,
            Some(Remedy::Embeddings),
        ),
        (
            424,
            r#"{"error":"model is not a re-ranker model","error_type":"backend"}"#,
            Terminal,
            Some(Remedy::Reranking),
        ),
        (
            502,
            "<html><title>Bad Gateway</title></html>",
            Transient,
            None,
        ),
        (503, "", Transient, None),
        (504, "", Transient, None),
        (524, "", Transient, None),
        (529, "", Transient, None),
        // A queue that is full, one that thinks its caller is gone, and an unknown status.
        (424, "", Transient, None),
        (498, "", Transient, None),
        (499, "", Transient, None),
        (418, "", Content, None),
        // The server refuses a setting, not the question.
        (
            400,
            r#"{"error":{"message":"max_tokens is too large: 99999. This model supports at most 16384 completion tokens","param":"max_tokens","code":"invalid_value"}}"#,
            Terminal,
            Some(Remedy::Setting),
        ),
        (
            400,
            r#"{"error":{"message":"Invalid 'temperature': decimal above maximum value.","param":"temperature","code":"decimal_above_max_value"}}"#,
            Terminal,
            Some(Remedy::Setting),
        ),
        (
            422,
            r#"{"detail":[{"loc":["body","temperature"],"msg":"Input should be less than or equal to 2"}]}"#,
            Terminal,
            Some(Remedy::Setting),
        ),
        (
            400,
            r#"{"error":{"message":"Invalid value: 'tool'.","param":"messages[0].role","code":"invalid_value"}}"#,
            Content,
            None,
        ),
        (
            400,
            r#"{"error":{"message":"API key expired. Please renew the API key."}}"#,
            Terminal,
            Some(Remedy::Key),
        ),
        (
            400,
            r#"{"error":{"message":"Your credit balance is too low to access the Anthropic API."}}"#,
            Terminal,
            Some(Remedy::Quota),
        ),
        (
            500,
            r#"{"error":{"message":"System role not supported"}}"#,
            Terminal,
            Some(Remedy::SystemRole),
        ),
        (
            404,
            r#"{"error":{"message":"This model is only supported in v1/responses and not in v1/chat/completions."}}"#,
            Terminal,
            Some(Remedy::Conversations),
        ),
        (
            403,
            "<!DOCTYPE html><title>Attention Required! | Cloudflare</title>",
            Content,
            Some(Remedy::Firewall),
        ),
        (
            429,
            r#"{"error":{"message":"Request too large for gpt-4o on tokens per min (TPM): Limit 30000, Requested 40000.","code":"rate_limit_exceeded"}}"#,
            Content,
            None,
        ),
    ];
    for (status, body, failure, remedy) in cases {
        let refusal = classified(*status, body);
        assert_eq!(
            (refusal.failure, refusal.remedy),
            (*failure, *remedy),
            "{status} {body}"
        );
    }
}

#[test]
fn llama_cpp_python_says_500_of_what_others_refuse() {
    // Recorded from llama-cpp-python 0.3.36.
    let format = r#"{"error":{"message":"1 validation error:\n  {'type': 'literal_error', 'loc': ('body', 'response_format', 'type'), 'msg': \"Input should be 'text' or 'json_object'\", 'input': 'json_schema', 'ctx': {'expected': \"'text' or 'json_object'\"}}\n\n  File \"/srv/llama_cpp/server/app.py\", line 376, in create_chat_completion\n    POST /v1/chat/completions","type":"internal_server_error","param":null,"code":null}}"#;
    let refusal = classified(500, format);
    assert_eq!((refusal.status, refusal.stands_for), (500, 422));
    assert_eq!((refusal.failure, refusal.remedy), (Content, None));
    assert!(refusal.body.is_about("response_format"));

    let writes = r#"{"error":{"message":"Llama model must be created with embedding=True to call this method","type":"internal_server_error","param":null,"code":null}}"#;
    assert_eq!(
        meaning_of(500, writes),
        (Terminal, Some(Remedy::Embeddings))
    );

    // An error that the server may recover from stays a fault.
    let fault = r#"{"error":{"message":"llama_decode returned -1","type":"internal_server_error","param":null,"code":null}}"#;
    assert_eq!(meaning_of(500, fault), (Transient, None));
}

#[test]
fn llamacpps_own_server_has_its_own_refusals() {
    // Recorded from llama-server 0.5.0-dev.
    let cases = [
        (
            500,
            r#"{"error":{"code":500,"message":"input (2001 tokens) is too large to process. increase the physical batch size (current batch size: 512)","type":"server_error"}}"#,
            (Content, None),
        ),
        (
            400,
            r#"{"error":{"code":400,"message":"request (20019 tokens) exceeds the available context size (8192 tokens), try increasing it","type":"exceed_context_size_error","n_prompt_tokens":20019,"n_ctx":8192}}"#,
            (Content, None),
        ),
        (
            501,
            r#"{"error":{"code":501,"message":"This server does not support embeddings. Start it with `--embeddings`","type":"not_supported_error"}}"#,
            (Terminal, Some(Remedy::Embeddings)),
        ),
        (
            400,
            r#"{"error":{"code":400,"message":"Pooling type 'none' is not OAI compatible. Please use a different pooling type","type":"invalid_request_error"}}"#,
            (Terminal, Some(Remedy::Embeddings)),
        ),
    ];
    for (status, body, meaning) in cases {
        assert_eq!(meaning_of(status, body), meaning, "{body}");
    }
}

#[test]
fn overload_lowers_concurrency() {
    for status in [408, 429, 503, 504, 524, 529] {
        assert!(classified(status, "").overloaded, "{status}");
    }
    assert!(!classified(500, "").overloaded);
    let quota = r#"{"error":{"code":"insufficient_quota"}}"#;
    assert!(!classified(429, quota).overloaded);
}

#[test]
fn a_model_that_is_loaded_is_waited_for() {
    let loading = r#"{"error":{"code":503,"message":"Loading model","type":"unavailable_error"}}"#;
    assert!(classified(503, loading).loading);
    assert!(!classified(503, "").loading);
}

#[test]
fn only_what_nobody_knows_is_suspected_of_being_everyones() {
    let complaint = |status, body| classified(status, body).complaint;
    assert_eq!(complaint(418, ""), Some(Complaint::Unknown));
    assert_eq!(complaint(403, "<html>"), Some(Complaint::Unknown));
    assert_eq!(complaint(400, ""), None);
    assert_eq!(complaint(424, ""), None);
    assert_eq!(
        complaint(400, "maximum context length is 10"),
        Some(Complaint::TooLong)
    );
    // Infinity, about a text and about their number.
    assert_eq!(
        complaint(
            422,
            r#"{"detail":[{"msg":"String should have at most 8 characters"}]}"#
        ),
        Some(Complaint::TooLong)
    );
    assert_eq!(
        complaint(
            422,
            r#"{"detail":[{"msg":"List should have at most 8 items after validation, not 9"}]}"#
        ),
        None
    );
}

#[test]
fn errors_inside_successful_answers_have_classes_too() {
    let cases = [
        (
            r#"{"error":{"code":429,"message":"slow down"}}"#,
            429,
            Transient,
        ),
        (
            r#"{"error":{"code":402,"message":"no credits"}}"#,
            402,
            Terminal,
        ),
        (
            r#"{"error":{"code":"502","message":"provider"}}"#,
            502,
            Transient,
        ),
        (
            r#"{"error":{"type":"overloaded_error","message":"busy"}}"#,
            503,
            Transient,
        ),
        (
            r#"{"error":{"type":"invalid_request_error","message":"bad"}}"#,
            400,
            Content,
        ),
        (r#"{"error":"something broke"}"#, 500, Transient),
    ];
    for (body, status, failure) in cases {
        let json = serde_json::from_str(body).unwrap();
        let refusal = classify_embedded(ErrorBody::from_json(&json));
        assert_eq!(
            (refusal.status, refusal.failure),
            (status, failure),
            "{body}"
        );
    }
}

#[test]
fn a_pause_matters_only_where_another_attempt_does() {
    let headers: HeaderMap = [(
        reqwest::header::RETRY_AFTER,
        reqwest::header::HeaderValue::from_static("7"),
    )]
    .into_iter()
    .collect();
    let pause = |status| classify(status, &headers, b"", SystemTime::UNIX_EPOCH).retry_after;
    assert_eq!(pause(429), Some(Duration::from_secs(7)));
    assert_eq!(pause(503), Some(Duration::from_secs(7)));
    assert_eq!(pause(401), None);
}
