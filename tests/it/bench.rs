//! The command `evaluations bench embed`.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::{Value, json};

use crate::sandbox::{Sandbox, ended, json as read};
use crate::scripted_server::{Reaction, Saying, ScriptedServer};

/// A server that delays each reply by `after`.
fn server(after: Duration) -> ScriptedServer {
    ScriptedServer::start(move |_, _| {
        Reaction::Say(Saying {
            after,
            ..Saying::of("")
        })
    })
}

/// A sandbox with four texts and settings for a server; one of its models has a price.
fn sandbox(server: &ScriptedServer) -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write(
        "texts.txt",
        "one\none two\n\none two three\none two three four\n",
    );
    let settings = json!({
        "providers": {"openai": {"base_url": server.openai_url()}},
        "prices": {"scripted": {"input": 0.5}},
    });
    sandbox.write("evaluations.yaml", settings.to_string());
    sandbox
}

fn figures(sandbox: &Sandbox, line: &str) -> Value {
    let printed = sandbox.succeed(&format!("bench embed --json --texts texts.txt {line}"));
    serde_json::from_str(&printed).unwrap()
}

#[test]
fn models_are_measured_side_by_side_and_never_from_the_cache() {
    let server = server(Duration::ZERO);
    let sandbox = sandbox(&server);
    let figures = figures(
        &sandbox,
        "--seconds 1 --batch 4 --batch 1 --concurrency 1 --concurrency 2 --out figures.json --out figures.html \
         --model embedded:static-minilm --model openai:scripted --model openai:unpriced",
    );
    assert_eq!(figures, read(&sandbox.work().join("figures.json")));
    let page = std::fs::read_to_string(sandbox.work().join("figures.html")).unwrap();
    assert!(page.contains("openai:scripted"), "{page}");
    assert_eq!(figures["schema_version"], 1);
    assert_eq!(
        figures["texts"],
        json!({"source": "lines of texts.txt", "count": 4, "tokens": [1, 3, 4]})
    );
    let models = figures["models"].as_array().unwrap();
    let labels: Vec<&Value> = models.iter().map(|model| &model["label"]).collect();
    assert_eq!(
        labels,
        [
            "embedded:static-minilm",
            "openai:scripted",
            "openai:unpriced"
        ]
    );
    for model in models {
        let numbers = |list: &str, field: &str| -> Vec<u64> {
            let list = model[list].as_array().unwrap();
            list.iter().map(|it| it[field].as_u64().unwrap()).collect()
        };
        assert_eq!(numbers("latency", "batch"), [1, 4]);
        assert_eq!(numbers("throughput", "concurrency"), [1, 2]);
        assert_eq!(numbers("throughput", "batch"), [4, 4]);
        assert!(model["first_vector_seconds"].as_f64().unwrap() > 0.0);
        assert!(
            model["throughput"][1]["tokens_per_second"]
                .as_f64()
                .unwrap()
                > 0.0
        );
        assert_eq!(
            (&model["failure"], &model["left_out"]),
            (&Value::Null, &json!([]))
        );
    }
    let prices: Vec<&Value> = models
        .iter()
        .map(|model| &model["usd_per_million_tokens"])
        .collect();
    assert_eq!(prices, [&json!(0.0), &json!(0.5), &Value::Null]);
    assert!(models[1]["usd_spent"].as_f64().unwrap() > 0.0);
    assert_eq!(models[2]["usd_spent"], Value::Null);
    let timed: usize = models[1..]
        .iter()
        .flat_map(|model| model["latency"].as_array().unwrap())
        .map(|latency| usize::try_from(latency["seconds"]["n"].as_u64().unwrap()).unwrap())
        .sum();
    assert!(
        server.received_at("/embeddings").len() > timed,
        "each call reaches the server"
    );
    assert!(!sandbox.data().join("cache").exists());
}

#[test]
fn few_calls_have_no_percentiles_and_slow_batches_are_skipped() {
    let server = server(Duration::from_millis(150));
    let sandbox = sandbox(&server);
    let line = "--model openai:scripted --seconds 1.5 --batch 2 --concurrency 1 --concurrency 64";
    let figures = figures(&sandbox, line);
    let model = &figures["models"][0];
    let latency = &model["latency"][0]["seconds"];
    assert!(latency["n"].as_u64().unwrap() < 20, "{latency}");
    assert!(latency["mean"].as_f64().unwrap() >= 0.15, "{latency}");
    for percentile in ["p50", "p95", "p99"] {
        assert_eq!(latency[percentile], Value::Null, "{latency}");
    }
    let left_out = &model["left_out"][0];
    assert_eq!(
        (&left_out["batch"], &left_out["concurrency"]),
        (&json!(2), &json!(64))
    );
    assert!(
        left_out["reason"]
            .as_str()
            .unwrap()
            .starts_with("would take about ")
    );
    assert_eq!(model["throughput"].as_array().unwrap().len(), 1);
}

#[test]
fn a_model_that_fails_does_not_hide_the_others() {
    let server = ScriptedServer::start(|request, _| match request.body["model"].as_str() {
        Some("broken") => Reaction::json(404, &json!({"error": {"message": "no such model"}})),
        _ => Reaction::Sound,
    });
    let sandbox = sandbox(&server);
    let line =
        "bench embed --texts texts.txt --seconds 0.5 --model openai:broken --model openai:scripted";
    let ran = ended(&mut sandbox.command(line));
    assert_eq!(ran.code, Some(2), "{ran:?}");
    assert!(
        ran.stderr.contains("warning: openai:broken: "),
        "{}",
        ran.stderr
    );
    assert!(ran.stderr.contains("no such model"), "{}", ran.stderr);
    let rows = |model: &str| {
        ran.stdout
            .lines()
            .filter(|line| line.contains(model))
            .count()
    };
    assert_eq!(
        (rows("openai:broken"), rows("openai:scripted")),
        (1, 1 + 3 + 4),
        "{}",
        ran.stdout
    );
}

/// The text has one token at 0.5 USD per million, and the server fails during the measurement of throughput at the latest.
#[test]
fn the_cost_includes_calls_before_a_failure() {
    const ANSWERED: usize = 210;
    let answered = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&answered);
    let server = ScriptedServer::start(move |request, before| {
        if request.body["input"] != json!(["one"]) {
            return Reaction::Sound;
        }
        if before >= ANSWERED {
            return Reaction::json(400, &json!({"error": {"message": "no more"}}));
        }
        counted.fetch_add(1, Ordering::SeqCst);
        Reaction::Sound
    });
    let sandbox = sandbox(&server);
    sandbox.write("texts.txt", "one");
    let line = "bench embed --json --texts texts.txt --model openai:scripted --seconds 5 --batch 1 --concurrency 1";
    let ran = ended(&mut sandbox.command(line));
    let figures: Value = serde_json::from_str(&ran.stdout).unwrap();
    let spent = figures["models"][0]["usd_spent"].as_f64().unwrap();
    let answered = u32::try_from(answered.load(Ordering::SeqCst)).unwrap();
    let expected = f64::from(answered) * 0.5 / 1e6;
    assert!(
        (spent - expected).abs() < 1e-12,
        "{spent} {expected} {ran:?}"
    );
}

#[test]
fn the_bundled_texts_and_the_model_of_the_settings_are_the_default() {
    let printed = Sandbox::new().succeed("bench embed --seconds 0.5");
    assert!(
        printed.contains(" chunks of the bundled sample, "),
        "{printed}"
    );
    assert!(printed.contains("embedded:static-minilm"), "{printed}");
}

#[test]
fn a_skipped_measurement_has_no_table() {
    let server =
        ScriptedServer::start(|_, _| Reaction::json(404, &json!({"error": {"message": "gone"}})));
    let sandbox = sandbox(&server);
    let line = "bench embed --texts texts.txt --seconds 0.5 --model openai:scripted";
    let ran = ended(&mut sandbox.command(line));
    assert_eq!(ran.code, Some(2), "{ran:?}");
    for table in ["Latency", "Throughput"] {
        assert!(!ran.stdout.contains(table), "{}", ran.stdout);
    }
}

#[test]
fn bad_arguments_are_refused_before_any_request() {
    let server = server(Duration::ZERO);
    let sandbox = sandbox(&server);
    let refused =
        |rest: &str| sandbox.refuse(&format!("bench embed --model openai:scripted {rest}"));
    assert!(
        refused("--model embedded:large").contains("the only embedded model is `static-minilm`")
    );
    assert!(refused("--model foo:bar").contains("unknown provider `foo`"));
    assert!(refused("--model bge-m3").contains("has to be of the form PROVIDER:NAME"));
    assert!(refused("--out figures.csv").contains("has to end in .html, .json or .md"));
    assert!(refused("--out no/figures.json").contains("folder `no` does not exist"));
    assert!(refused("--seconds 0").contains("has to be from 0.1 to 86400"));
    assert!(refused("--batch 0").contains("has to be at least 1"));
    assert!(refused("--batch 1000000000000000").contains("has to be at most 65536"));
    assert!(refused("--texts none.txt").contains("cannot read `none.txt`"));
    assert!(server.received().is_empty());
}
