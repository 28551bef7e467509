//! A target that is a chat model with a prompt.

use std::sync::Arc;

use async_trait::async_trait;
use evals::{Span, Timing};
use evals_models::{ChatModel, ChatRequest, Failure, Finish, Message};
use serde_json::Value;

use crate::template::Template;
use crate::{Inputs, Reply, Request, Target, TargetError, TargetIdentity};

/// A chat model that is sent one message for each case, behind those of its conversation.
///
/// The message is the prompt, a [`Template`], or without one the question, or the inputs of a dataset file's case: a text as it is,
/// anything else as JSON. The reply is the model's text with its tokens, and the request is a span.
#[derive(Clone, Debug)]
pub struct ChatTarget {
    identity: TargetIdentity,
    model: Arc<dyn ChatModel>,
    prompt: Option<Template>,
}

impl ChatTarget {
    /// A model that is sent the question alone.
    pub fn new(model: Arc<dyn ChatModel>) -> Self {
        let name = model.identity().to_string();
        Self {
            identity: TargetIdentity {
                parameters: model.parameters(),
                ..TargetIdentity::new("chat", name)
            },
            model,
            prompt: None,
        }
    }

    /// Sets the prompt.
    #[must_use]
    pub fn prompt(mut self, prompt: Template) -> Self {
        let text = Value::from(prompt.text());
        self.identity.parameters.insert("prompt".to_owned(), text);
        self.prompt = Some(prompt);
        self
    }

    /// Sets the version of what is tested.
    #[must_use]
    pub fn version(mut self, version: impl Into<String>) -> Self {
        self.identity.version = Some(version.into());
        self
    }

    fn message(&self, request: &Request) -> Result<String, TargetError> {
        match (&self.prompt, &request.inputs) {
            (Some(prompt), _) => prompt.fill(request).map_err(|error| {
                let message = format!("the prompt cannot be filled in for this case: {error}");
                TargetError::of_call(Failure::Content, message)
            }),
            (None, Inputs::Question(question)) => Ok(question.clone()),
            (None, Inputs::Value(Value::String(text))) => Ok(text.clone()),
            (None, Inputs::Value(inputs)) => Ok(inputs.to_string()),
        }
    }
}

#[async_trait]
impl Target for ChatTarget {
    fn identity(&self) -> &TargetIdentity {
        &self.identity
    }

    async fn ask(&self, request: &Request) -> Result<Reply, TargetError> {
        let message = Message::user(self.message(request)?);
        let messages = request.history().chain([message]).collect();
        let mut asked = ChatRequest::new(messages);
        asked.repeat = request.repeat;
        let model = self.model.identity();
        let reply = self.model.chat(&asked).await;
        let reply = reply.map_err(|error| TargetError::of_call(error.failure, error))?;
        if reply.text.is_empty() {
            let why = match reply.finish {
                Finish::Length => "; its reasoning used all of `max_tokens`",
                Finish::ContentFilter => "; its provider withheld the text",
                Finish::Stop | Finish::Unknown | Finish::Other(_) => "",
            };
            let message = format!("`{model}` replied with an empty text{why}");
            return Err(TargetError::of_call(Failure::Content, message));
        }
        let step = Span {
            duration: reply.served.service_time,
            ..Span::model_request(&model.name)
        };
        let step = step
            .attribute("gen_ai.usage.input_tokens", reply.usage.input_tokens)
            .attribute("gen_ai.usage.output_tokens", reply.usage.output_tokens);
        Ok(Reply {
            answer: Some(Value::String(reply.text)),
            usage: Some(reply.usage),
            model: Some(model.name.clone()),
            spans: Some(evals::SpanTree { roots: vec![step] }),
            timings: vec![Timing {
                stage: Reply::STAGE.to_owned(),
                duration: reply.served.service_time,
                cached: reply.served.cached,
            }],
            ..Reply::default()
        })
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use evals::FailureClass;
    use evals_models::{ChatError, ChatReply, ModelIdentity, Served, Usage};
    use serde_json::{Map, json};

    use super::*;

    /// Repeats the message, the repetition behind it, and says nothing to an empty one.
    #[derive(Debug)]
    struct Parrot(ModelIdentity);

    #[async_trait]
    impl ChatModel for Parrot {
        fn identity(&self) -> &ModelIdentity {
            &self.0
        }

        fn parameters(&self) -> Map<String, Value> {
            Map::from_iter([("temperature".to_owned(), json!(0))])
        }

        async fn chat(&self, request: &ChatRequest) -> Result<ChatReply, ChatError> {
            let message = &request.messages[0].content;
            if message == "fail" {
                return Err(ChatError {
                    model: self.0.clone(),
                    failure: Failure::Terminal,
                    source: "no credit".into(),
                });
            }
            let text = match message.as_str() {
                "" => String::new(),
                message => format!("{message}#{}", request.repeat),
            };
            Ok(ChatReply {
                text,
                tool_calls: Vec::new(),
                reasoning: None,
                finish: Finish::Length,
                usage: Usage {
                    input_tokens: 3,
                    output_tokens: 4,
                    estimated: false,
                },
                served: Served {
                    service_time: Duration::from_secs(2),
                    attempts: 1,
                    cached: true,
                    batched: false,
                },
            })
        }
    }

    fn target() -> ChatTarget {
        ChatTarget::new(Arc::new(Parrot(ModelIdentity::new("mine", "parrot:1b"))))
    }

    async fn answer(target: &ChatTarget, request: Request) -> String {
        let reply = target.ask(&request).await.unwrap();
        reply.answer.unwrap().as_str().unwrap().to_owned()
    }

    #[tokio::test]
    async fn the_question_or_the_inputs_are_the_message() {
        let target = target();
        assert_eq!(
            answer(&target, Request::question("q", "why?")).await,
            "why?#1"
        );
        assert_eq!(
            answer(&target, Request::inputs("c", json!("text"))).await,
            "text#1"
        );
        assert_eq!(
            answer(&target, Request::inputs("c", json!({"a": 1}))).await,
            "{\"a\":1}#1"
        );
    }

    #[tokio::test]
    async fn a_prompt_frames_the_question_and_a_repetition_is_its_own() {
        let target = target()
            .prompt(Template::new("Q: {{ question }}").unwrap())
            .version("7");
        let mut request = Request::question("q", "why?");
        request.repeat = 2;
        assert_eq!(answer(&target, request).await, "Q: why?#2");
        let identity = serde_json::to_value(target.identity()).unwrap();
        assert_eq!(
            identity,
            json!({
                "kind": "chat", "name": "mine:parrot:1b", "version": "7",
                "parameters": {"temperature": 0, "prompt": "Q: {{ question }}"},
            })
        );
    }

    #[tokio::test]
    async fn tokens_time_and_the_request_come_with_the_answer() {
        let reply = target().ask(&Request::question("q", "why?")).await.unwrap();
        assert_eq!(reply.usage.unwrap().output_tokens, 4);
        assert_eq!(reply.model.as_deref(), Some("parrot:1b"));
        assert!(reply.timings[0].cached);
        let spans = reply.spans.unwrap();
        assert_eq!(spans.roots[0].name, "chat parrot:1b");
        assert_eq!(spans.roots[0].duration, Duration::from_secs(2));
    }

    #[tokio::test]
    async fn failures_keep_their_class_and_an_empty_reply_is_one() {
        let error = target()
            .ask(&Request::question("q", "fail"))
            .await
            .unwrap_err();
        assert_eq!(error.class(), FailureClass::Terminal);
        let error = target().ask(&Request::question("q", "")).await.unwrap_err();
        assert_eq!(error.class(), FailureClass::Content);
        assert_eq!(
            error.to_string(),
            "`mine:parrot:1b` replied with an empty text; its reasoning used all of `max_tokens`"
        );
        let target = target().prompt(Template::new("{{ k }}").unwrap());
        let error = target
            .ask(&Request::question("q", "why?"))
            .await
            .unwrap_err();
        assert_eq!(error.class(), FailureClass::Content);
    }
}
