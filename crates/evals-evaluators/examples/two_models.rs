//! Compares two models over the same cases. They are scripted, so that the example needs no server; `evals-providers` has real ones.
//!
//! ```sh
//! cargo run --package evals-evaluators --example two_models
//! ```

use std::error::Error;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use evals::render::Console;
use evals::{Change, Experiment, Report, Summary, Titled};
use evals_evaluators::{DatasetFile, FileFormat, Registry, Resources, Untyped};
use evals_metrics::{Bootstrap, PairedTest};
use evals_models::{
    ChatError, ChatModel, ChatReply, ChatRequest, Finish, Message, ModelIdentity, Served, Usage,
};
use serde_json::{Map, Value};

const ARITHMETIC: &str = "
name: arithmetic
cases:
  - {inputs: 1 + 1, expected_output: '2'}
  - {inputs: 2 * 2, expected_output: '4'}
  - {inputs: 2 + 3, expected_output: '5'}
  - {inputs: 2 * 3, expected_output: '6'}
  - {inputs: 3 * 3, expected_output: '9'}
  - {inputs: 4 + 6, expected_output: '10'}
evaluators: [NumberMatch, {Contains: the answer}]
";

/// A model that adds, whatever it is asked, or one that knows better.
#[derive(Debug)]
struct Scripted {
    identity: ModelIdentity,
    multiplies: bool,
}

#[async_trait]
impl ChatModel for Scripted {
    fn identity(&self) -> &ModelIdentity {
        &self.identity
    }

    fn parameters(&self) -> Map<String, Value> {
        Map::new()
    }

    async fn chat(&self, request: &ChatRequest) -> Result<ChatReply, ChatError> {
        let question = request.messages.last().map_or("", |last| &last.content);
        let digits: Vec<u32> = question.chars().filter_map(|it| it.to_digit(10)).collect();
        let result = if self.multiplies && question.contains('*') {
            digits.iter().product::<u32>()
        } else {
            digits.iter().sum()
        };
        Ok(ChatReply {
            text: format!("I think the answer is {result}."),
            tool_calls: Vec::new(),
            reasoning: None,
            finish: Finish::Stop,
            usage: Usage::default(),
            served: Served {
                service_time: Duration::from_millis(1),
                attempts: 1,
                cached: false,
                batched: false,
            },
        })
    }
}

#[tokio::main]
pub(crate) async fn main() -> Result<(), Box<dyn Error>> {
    let (small, small_summary) = answers("small", false).await?;
    let (large, large_summary) = answers("large", true).await?;
    let sides = [
        ("small", &small, &small_summary),
        ("large", &large, &large_summary),
    ]
    .map(|(title, report, summary)| Titled {
        title,
        report,
        summary,
    });
    let change = Change::between(&sides, PairedTest::default(), |_| true);
    Ok(Console::default().change(io::stdout(), &change)?)
}

/// Asks a model every question.
async fn answers(
    name: &str,
    multiplies: bool,
) -> Result<(Report<Untyped>, Summary), Box<dyn Error>> {
    let model: Arc<dyn ChatModel> = Arc::new(Scripted {
        identity: ModelIdentity::new("scripted", name),
        multiplies,
    });
    let (registry, resources) = (Registry::built_in(), Resources::default());
    let path = Path::new("arithmetic.yaml");
    let file = DatasetFile::read(ARITHMETIC, FileFormat::Yaml, path, &registry, &resources)?;
    let experiment = Experiment::new(file.dataset, move |case, scope| {
        let model = Arc::clone(&model);
        async move {
            let question = case.input.as_str().unwrap_or_default();
            let request = ChatRequest::new(vec![Message::user(question)]);
            let reply = model.chat(&request).await?;
            scope.timing("model", reply.served.service_time);
            Ok(Value::from(reply.text))
        }
    });
    let report = experiment.name(name).run().await;
    let summary = report.summary(&Bootstrap::default());
    Ok((report, summary))
}
