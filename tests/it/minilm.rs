//! Tests of all-MiniLM-L6-v2 with its published weights. They need `EVALUATIONS_TEST_MODELS` to name the hub cache that
//! `scripts/fetch-test-model` creates.

use std::env;
use std::ffi::OsStr;
use std::fs;
use std::io::Write as _;
use std::path::PathBuf;

use serde_json::Value;

use crate::sandbox::{Sandbox, ended, json};

const NAME: &str = "sentence-transformers/all-MiniLM-L6-v2";
/// The checksum that the hub states for `model.safetensors`.
const WEIGHTS: &str = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db";

/// The folder that a variable names; `None`, with a message, if it is not set.
fn folder(variable: &str, content: &str) -> Option<PathBuf> {
    let folder = env::var_os(variable).filter(|folder| !folder.is_empty());
    if folder.is_none() {
        // The test harness hides the output of `eprintln!` when a test passes.
        let text = format!("skipped: {variable} names no Hugging Face home with {content}\n");
        std::io::stderr().write_all(text.as_bytes()).unwrap();
    }
    folder.map(PathBuf::from)
}

fn models() -> Option<PathBuf> {
    folder(
        "EVALUATIONS_TEST_MODELS",
        "all-MiniLM-L6-v2, which `make test` fetches",
    )
}

/// The files of a run.
struct Run {
    manifest: Value,
    report: Value,
    ranking: String,
}

impl Run {
    /// Runs a benchmark in a new sandbox, with a Hugging Face home and an embedding model.
    fn new(line: &str, home: impl AsRef<OsStr>, model: &str) -> Self {
        let sandbox = Sandbox::new();
        let settings = format!("embeddings:\n  model:\n    provider: local\n    name: {model}\n");
        sandbox.write("evaluations.yaml", settings);
        let ran = ended(sandbox.command(line).env("HF_HOME", home));
        assert_eq!(ran.code, Some(0), "{}", ran.stderr);
        let runs = sandbox.runs();
        assert_eq!(runs.len(), 1);
        Self {
            manifest: json(&runs[0].join("manifest.json")),
            report: json(&runs[0].join("report.json")),
            ranking: fs::read_to_string(runs[0].join("run.trec")).unwrap(),
        }
    }

    fn mean(&self, measure: &str) -> f64 {
        self.report["summary"]["scores"][measure]["value"]
            .as_f64()
            .unwrap()
    }
}

#[test]
fn the_real_model_runs_from_the_hub_cache_and_repeats_to_the_byte() {
    let Some(home) = models() else { return };
    let line = "sample --skip-qa --profile semantic --limit 40";
    let [first, second] = [(); 2].map(|()| Run::new(line, &home, NAME));
    let embedder = &first.manifest["models"]["embedder"];
    assert_eq!(
        (&embedder["provider"], &embedder["name"]),
        (&Value::from("local"), &Value::from(NAME))
    );
    let digest = embedder["digest"].as_str().unwrap();
    assert!(
        digest.starts_with(&format!("sha256:{WEIGHTS},")),
        "{digest}"
    );
    assert_eq!(second.manifest["models"], first.manifest["models"]);
    assert_eq!(first.ranking.lines().count(), 40 * 5);
    assert_eq!(second.ranking, first.ranking);
}

/// MTEB publishes nDCG@10 0.645 and R@100 0.925 for the model in f32.
#[test]
fn eight_bits_reproduce_the_published_figures_of_scifact() {
    let Some(models) = models() else { return };
    let Some(home) = folder("EVALUATIONS_REAL_HF_HOME", "beir:scifact") else {
        return;
    };
    let model = models.join("hub/models--sentence-transformers--all-MiniLM-L6-v2");
    let line = "beir:scifact --skip-qa --profile semantic --set embeddings.model.dtype=int8";
    let run = Run::new(line, home, model.to_str().unwrap());
    // A processor without 8-bit dot products keeps seven bits of the weights, as the model's identity says.
    let seven_bits = run.manifest["models"]["embedder"]
        .to_string()
        .contains("int8-7bit");
    let most = if seven_bits { 0.005 } else { 0.003 };
    for (measure, published) in [("nDCG@10", 0.645), ("R@100", 0.925)] {
        let mean = run.mean(measure);
        assert!((mean - published).abs() <= most, "{measure} {mean}");
    }
}
