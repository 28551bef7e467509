//! The answerer that searches by itself: a language model with our search as a tool.

use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Instant;

use async_trait::async_trait;
use evals::{Span, TaskScope};
use evals_models::{ChatModel, ChatReply, ChatRequest, Message, ModelIdentity, Tool, ToolCall};
use minijinja::context;
use serde_json::{Value, json};

use super::chat::complete;
use super::{AnswerError, AnswerFailure, Answered, Refusals};
use crate::exchange::Exchange;
use crate::shown::Shown;
use crate::{Passage, Prompt, PromptError, SearchError};

/// The name of the tool.
const SEARCH: &str = "search";

/// Calls of one message that are answered. More at once are a model that repeats itself.
const MOST_CALLS: usize = 8;

/// The last message before the answer, when no step is left for another search.
const LAST: &str = "No more searches are possible. Answer the question now.";

/// The search that an agent calls.
#[async_trait]
pub trait AgentSearch: Send {
    /// The passages to show for a query, best first.
    async fn search(&mut self, query: &str) -> Result<Vec<Passage>, SearchError>;
}

/// Answers with a language model that calls our search as a tool, as often as it decides to.
///
/// The results number the passages, and a passage keeps its number in all of them, so an answer cites any passage that it was shown. In
/// the last step the model has no tool and has to answer.
///
/// Each call of the model and each call of the tool is a span: with its arguments, the documents found, and its time. A call that cannot
/// be carried out, because its arguments are malformed or the tool does not exist, is answered with what is wrong.
#[derive(Debug, Clone)]
pub struct AgentAnswerer {
    model: Arc<dyn ChatModel>,
    prompt: Prompt,
    passages_prompt: Prompt,
    refusals: Refusals,
    max_tokens: Option<NonZeroU32>,
    max_steps: NonZeroU32,
}

/// The answer of an [`AgentAnswerer`].
#[derive(Debug, Clone, PartialEq)]
pub struct AgentAnswered {
    /// The answer. It cites [`passages`](Self::passages) by their numbers.
    pub answered: Answered,
    /// All passages that the model was shown, in the order of their numbers.
    pub passages: Vec<Passage>,
    /// The model's searches, in order.
    pub searches: Vec<String>,
}

/// The state of one conversation.
struct Conversation<'a> {
    agent: &'a AgentAnswerer,
    search: &'a mut dyn AgentSearch,
    scope: &'a TaskScope,
    passages: Vec<Passage>,
    searches: Vec<String>,
}

impl AgentAnswerer {
    /// The steps if nothing else is set.
    pub const MAX_STEPS: NonZeroU32 = NonZeroU32::new(5).expect("5 is not 0");

    /// Asks `model` with the bundled prompts, in at most [`MAX_STEPS`](Self::MAX_STEPS) steps, within the model's own token budget.
    pub fn new(model: Arc<dyn ChatModel>, refusals: Refusals) -> Self {
        Self {
            model,
            prompt: Prompt::agent(),
            passages_prompt: Prompt::agent_passages(),
            refusals,
            max_tokens: None,
            max_steps: Self::MAX_STEPS,
        }
    }

    /// Uses other prompts: [`Prompt::agent`] and [`Prompt::agent_passages`] list the values that they may use.
    #[must_use]
    pub fn prompts(self, prompt: Prompt, passages_prompt: Prompt) -> Self {
        Self {
            prompt,
            passages_prompt,
            ..self
        }
    }

    /// Limits the tokens of each reply, reasoning included.
    #[must_use]
    pub fn max_tokens(self, max_tokens: NonZeroU32) -> Self {
        Self {
            max_tokens: Some(max_tokens),
            ..self
        }
    }

    /// Limits the calls of the model, the one that answers included. With 1 it cannot search.
    #[must_use]
    pub fn max_steps(self, max_steps: NonZeroU32) -> Self {
        Self { max_steps, ..self }
    }

    /// The model, as reports name it.
    pub fn identity(&self) -> &ModelIdentity {
        self.model.identity()
    }

    /// The limit on calls of the model.
    pub fn steps(&self) -> NonZeroU32 {
        self.max_steps
    }

    /// The first request of the conversation about `question`.
    ///
    /// # Errors
    ///
    /// The prompt cannot be filled in.
    pub fn request(&self, question: &str, repeat: u32) -> Result<ChatRequest, PromptError> {
        let prompt = self.prompt.render(context! {
            question,
            nonce => Shown::new(&[question]).nonce(),
            refusal => self.refusals.sentence(),
            steps => self.max_steps.get(),
        })?;
        Ok(ChatRequest {
            max_tokens: self.max_tokens,
            repeat,
            tools: vec![tool()],
            ..ChatRequest::new(vec![Message::user(prompt)])
        })
    }

    /// Answers `question` with the passages that `search` finds.
    ///
    /// Spans are recorded in `scope`, also those of a question that ends in an error. `repeat` is the repetition, from 1.
    pub async fn answer(
        &self,
        question: &str,
        search: &mut dyn AgentSearch,
        repeat: u32,
        scope: &TaskScope,
    ) -> Result<AgentAnswered, AnswerError> {
        scope.records_spans();
        let request = self
            .request(question, repeat)
            .map_err(AnswerFailure::from)?;
        let mut exchange = Exchange::new(&*self.model);
        let mut conversation = Conversation {
            agent: self,
            search,
            scope,
            passages: Vec::new(),
            searches: Vec::new(),
        };
        let replied = conversation.run(&mut exchange, request).await;
        match replied.and_then(|reply| complete(self.model.identity(), reply)) {
            Ok(reply) => Ok(AgentAnswered {
                answered: Answered::of(reply, &self.refusals, exchange.calls),
                passages: conversation.passages,
                searches: conversation.searches,
            }),
            Err(failure) => Err(AnswerError {
                failure,
                calls: exchange.calls,
            }),
        }
    }
}

impl Conversation<'_> {
    /// Lets the model search until it answers. Returns the reply that calls no tool.
    async fn run(
        &mut self,
        exchange: &mut Exchange<'_>,
        mut request: ChatRequest,
    ) -> Result<ChatReply, AnswerFailure> {
        let steps = self.agent.max_steps.get();
        for step in 1..=steps {
            let is_last = step == steps;
            if is_last {
                request.tools.clear();
                if step > 1 {
                    request.messages.push(Message::user(LAST));
                }
            }
            let reply = exchange.ask_past_reasoning(&request).await?;
            self.record(&reply);
            if reply.tool_calls.is_empty() || (is_last && !reply.text.trim().is_empty()) {
                return Ok(reply);
            }
            if is_last {
                break;
            }
            let calls = reply.tool_calls;
            request
                .messages
                .push(Message::calling(reply.text, calls.clone()));
            for (position, call) in calls.iter().enumerate() {
                let result = if position < MOST_CALLS {
                    self.carry_out(call).await?
                } else {
                    format!("not carried out: at most {MOST_CALLS} calls at once")
                };
                request.messages.push(Message::tool_result(call, result));
            }
        }
        Err(AnswerFailure::NoAnswer {
            model: self.agent.identity().clone(),
            steps,
        })
    }

    /// Carries a call out, and returns the text that the model reads.
    async fn carry_out(&mut self, call: &ToolCall) -> Result<String, AnswerFailure> {
        let arguments: Option<Value> = serde_json::from_str(&call.arguments).ok();
        let failed = |scope: &TaskScope, problem: String| {
            let arguments = arguments
                .clone()
                .unwrap_or_else(|| Value::from(call.arguments.as_str()));
            scope.span(
                Span::tool_call(&call.name, &arguments, true).attribute("error", problem.as_str()),
            );
            Ok(problem)
        };
        if call.name != SEARCH {
            return failed(
                self.scope,
                format!("there is no tool of that name; the only tool is `{SEARCH}`"),
            );
        }
        let query = arguments
            .as_ref()
            .and_then(|arguments| arguments.get("query")?.as_str());
        let Some(query) = query.map(str::trim).filter(|query| !query.is_empty()) else {
            let problem = r#"the arguments have to be a JSON object such as {"query": "words to search for"}"#;
            return failed(self.scope, problem.to_owned());
        };
        let started = Instant::now();
        let found = self.search.search(query).await;
        let arguments = json!({"query": query});
        let span = Span {
            duration: started.elapsed(),
            ..Span::tool_call(SEARCH, &arguments, found.is_err())
        };
        let found = match found {
            Ok(found) => found,
            Err(error) => {
                self.scope.span(span);
                return Err(error.into());
            }
        };
        let documents: Vec<&str> = found
            .iter()
            .map(|passage| passage.document.as_str())
            .collect();
        self.scope
            .span(span.attribute("documents", json!(documents)));
        self.searches.push(query.to_owned());
        self.show(found)
    }

    /// Numbers the passages, and writes them as the model reads them.
    fn show(&mut self, found: Vec<Passage>) -> Result<String, AnswerFailure> {
        let titles = found.iter().filter_map(|it| it.title.as_deref());
        let texts = found.iter().map(|passage| passage.text.as_str());
        let nonce = Shown::new(&titles.chain(texts).collect::<Vec<_>>())
            .nonce()
            .to_owned();
        let mut numbered = Vec::new();
        for passage in found {
            let (title, text) = (passage.title.clone(), passage.text.clone());
            let number = self.number(passage);
            numbered.push(context! { number, title, text });
        }
        let prompt = &self.agent.passages_prompt;
        Ok(prompt.render(context! { passages => numbered, nonce })?)
    }

    /// The number of a passage: that of an earlier result, or the next one.
    fn number(&mut self, passage: Passage) -> usize {
        let same = |shown: &Passage| {
            shown.document == passage.document
                && shown.ordinal == passage.ordinal
                && shown.text == passage.text
        };
        if let Some(position) = self.passages.iter().position(same) {
            return position + 1;
        }
        self.passages.push(passage);
        self.passages.len()
    }

    fn record(&self, reply: &ChatReply) {
        let span = Span {
            duration: reply.served.service_time,
            ..Span::model_request(&self.agent.identity().name)
        };
        self.scope.span(
            span.attribute("gen_ai.usage.input_tokens", reply.usage.input_tokens)
                .attribute("gen_ai.usage.output_tokens", reply.usage.output_tokens),
        );
    }
}

/// The tool, as the model reads it.
fn tool() -> Tool {
    Tool {
        name: SEARCH.to_owned(),
        description: "Searches the documents. Returns the passages that fit the query best, with their numbers.".to_owned(),
        parameters: json!({
            "type": "object",
            "properties": {"query": {"type": "string", "description": "A question or key words."}},
            "required": ["query"],
            "additionalProperties": false,
        }),
    }
}
