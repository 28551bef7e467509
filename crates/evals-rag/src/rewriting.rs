//! Questions of conversations, rewritten by a model so that they can be searched without what was said before.

use std::collections::BTreeMap;
use std::sync::Arc;

use evals::{TaskError, TaskScope};
use evals_models::{ChatModel, ChatRequest, Message};
use minijinja::context;

use crate::answering::AnswerFailure;
use crate::call::Purpose;
use crate::conversation::{last_turns, speakers};
use crate::failures::class;
use crate::shown::Shown;
use crate::targets::Conversations;
use crate::writing::Writer;
use crate::{Prompt, PromptError, Question};

/// Asks a chat model to write each question so that it can be understood without the turns before it.
///
/// Questions without earlier turns stay as they are. A question is rewritten once for each repetition: the benchmarks and the search
/// profiles of a run search for the same text. A question that the model does not rewrite fails its case. Calls are recorded under the
/// names of [`Purpose::Rewriter`].
#[derive(Debug)]
pub struct Rewriter {
    writer: Writer,
    prompt: Prompt,
    spoken: BTreeMap<String, Spoken>,
}

/// A question, and what was said before it.
#[derive(Debug)]
struct Spoken {
    history: Vec<Message>,
    question: String,
    /// How many turns the history had before the oldest were left out.
    cut_from: Option<usize>,
}

/// The failure of a question that was not rewritten.
#[derive(Debug, thiserror::Error)]
#[error("the question was not rewritten from its conversation")]
struct NotRewritten(#[source] Arc<AnswerFailure>);

impl Rewriter {
    /// The attribute of a case that holds the text which was searched for.
    pub const REWRITTEN: &str = "rewritten question";

    /// Rewrites those of `questions` that have earlier turns, of which the model reads the last `turns`. [`Prompt::rewrite`] lists the
    /// values that the prompt may use.
    pub fn new(
        model: Arc<dyn ChatModel>,
        prompt: Prompt,
        questions: &[Question],
        turns: usize,
    ) -> Self {
        let spoken = questions.iter().filter_map(|question| {
            let history = &question.turn.as_ref()?.history;
            let (kept, whole) = last_turns(history, turns);
            let spoken = Spoken {
                history: kept.to_vec(),
                question: question.text.clone(),
                cut_from: (kept.len() < history.len()).then_some(whole),
            };
            (!kept.is_empty()).then(|| (question.id.clone(), spoken))
        });
        Self {
            writer: Writer::new(model, Purpose::Rewriter),
            prompt,
            spoken: spoken.collect(),
        }
    }

    /// The requests of one repetition.
    ///
    /// # Errors
    ///
    /// The prompt cannot be filled in.
    pub fn requests(&self) -> impl Iterator<Item = Result<ChatRequest, PromptError>> {
        self.spoken.values().map(|spoken| self.request(spoken, 1))
    }

    /// The rewritten question of a case; `None` if it has no earlier turns. Records the text, whether older turns were left out, and the
    /// calls, which count as cached if an earlier benchmark or profile of this run made them.
    pub(crate) async fn rewrite(
        &self,
        case: &str,
        scope: &TaskScope,
    ) -> Result<Option<String>, TaskError> {
        let Some(spoken) = self.spoken.get(case) else {
            return Ok(None);
        };
        let request = self.request(spoken, scope.repeat());
        let key = (case.to_owned(), scope.repeat(), spoken.history.len());
        let text = self.writer.write(key, request, scope).await;
        let text = text.map_err(|failure| {
            let class = class(failure.failure());
            TaskError::new(NotRewritten(failure)).classed(class)
        })?;
        scope.attribute(Self::REWRITTEN, text.as_str());
        if let Some(turns) = spoken.cut_from {
            scope.attribute(Conversations::CUT, turns);
        }
        Ok(Some(text))
    }

    fn request(&self, spoken: &Spoken, repeat: u32) -> Result<ChatRequest, PromptError> {
        let said = spoken.history.iter();
        let said = said.map(|message| message.content.as_str());
        let shown: Vec<&str> = said.chain([spoken.question.as_str()]).collect();
        let prompt = self.prompt.render(context! {
            messages => speakers(&spoken.history),
            question => spoken.question.as_str(),
            nonce => Shown::new(&shown).nonce(),
        })?;
        Ok(ChatRequest {
            repeat,
            ..ChatRequest::new(vec![Message::user(prompt)])
        })
    }
}

#[cfg(test)]
mod tests {
    use evals::FailureClass;
    use evals_metrics::Judgements;
    use evals_models::{Failure, Finish};
    use evals_targets::Turn;
    use serde_json::Map;

    use super::*;
    use crate::tests::fakes::{Scripted, ended, said};

    fn question(id: &str, text: &str, history: Vec<Message>) -> Question {
        Question {
            id: id.to_owned(),
            text: text.to_owned(),
            answer: None,
            accepted: Vec::new(),
            answerable: true,
            relevant: Judgements::new(),
            evidence: Vec::new(),
            nuggets: Vec::new(),
            user: None,
            turn: Some(Turn {
                conversation: "c".to_owned(),
                number: 1,
                history,
            }),
            cluster: None,
            metadata: Map::new(),
        }
    }

    fn rewriter(model: &Arc<Scripted>, turns: usize) -> Rewriter {
        let history = vec![
            Message::user("Hello?"),
            Message::assistant("Hello!"),
            Message::user("Which tower has two bells?"),
            Message::assistant("The north tower."),
        ];
        let questions = [
            question("first", "Hello?", Vec::new()),
            question("last", "How old is it?", history),
        ];
        Rewriter::new(Arc::clone(model) as _, Prompt::rewrite(), &questions, turns)
    }

    #[tokio::test]
    async fn the_model_reads_the_last_turns_and_writes_a_question_once_for_each_repetition() {
        let model = Scripted::new([said(" How old is the north tower?\n")]);
        let rewriter = rewriter(&model, 1);
        let scope = TaskScope::default();
        assert_eq!(rewriter.rewrite("first", &scope).await.unwrap(), None);
        for cached in [false, true] {
            let text = rewriter.rewrite("last", &scope).await.unwrap();
            assert_eq!(text.as_deref(), Some("How old is the north tower?"));
            let recording = scope.take();
            let timing = &recording.timings[0];
            assert_eq!((timing.stage.as_str(), timing.cached), ("rewrite", cached));
            let tokens = recording.metrics.get("rewrite input tokens");
            assert_eq!(tokens, Some(&100.0));
            assert_eq!(
                recording.attributes[Rewriter::REWRITTEN],
                "How old is the north tower?"
            );
            assert_eq!(recording.attributes[Conversations::CUT], 2);
        }
        let requests = model.requests();
        assert_eq!(requests.len(), 1);
        let prompt = &requests[0].messages[0].content;
        let (_, nonce) = prompt.split_once("<user-").unwrap();
        let nonce = &nonce[..16];
        let said = format!(
            "<user-{nonce}>\nWhich tower has two bells?\n</user-{nonce}>\n\n\
             <assistant-{nonce}>\nThe north tower.\n</assistant-{nonce}>\n\n\
             The last question:\n\n<question-{nonce}>\nHow old is it?\n</question-{nonce}>"
        );
        assert!(prompt.contains(&said), "{prompt}");
        assert!(!prompt.contains("Hello"), "{prompt}");
    }

    #[tokio::test]
    async fn a_question_that_is_not_rewritten_fails_and_its_calls_count() {
        let cut = Scripted::new([ended("How old", Finish::Length)]);
        let away = Scripted::failing(Failure::Transient);
        let expected = [
            (cut, FailureClass::Content, Some(&100.0)),
            (away, FailureClass::Transient, None),
        ];
        for (model, class, tokens) in expected {
            let scope = TaskScope::default();
            let rewriter = rewriter(&model, 9);
            let error = rewriter.rewrite("last", &scope).await.unwrap_err();
            assert_eq!(
                error.get_ref().to_string(),
                "the question was not rewritten from its conversation"
            );
            assert!(error.get_ref().source().is_some());
            assert_eq!(error.class(), Some(class));
            let recording = scope.take();
            assert_eq!(recording.metrics.get("rewrite input tokens"), tokens);
            assert!(recording.attributes.is_empty());
            let again = rewriter.rewrite("last", &scope).await.unwrap_err();
            assert_eq!(again.class(), Some(class));
            let asked = if class == FailureClass::Content { 1 } else { 2 };
            assert_eq!(model.requests().len(), asked);
        }
    }
}
