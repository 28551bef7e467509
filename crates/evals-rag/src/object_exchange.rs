//! Asks a chat model for a JSON object, and asks once more if the reply has no valid one.

use evals_models::{ChatError, ChatReply, ChatRequest, Finish, Message};

use crate::PromptError;
use crate::exchange::Exchange;

/// Why an exchange ended without an object.
#[derive(Debug)]
pub(crate) enum NoObject<C> {
    /// The model gave no reply.
    Chat(ChatError),
    /// The message that asks for a correction cannot be filled in.
    Prompt(PromptError),
    /// The reply was cut, even with twice the budget.
    Cut { output_tokens: u64 },
    /// The provider withheld the text.
    Filtered,
    /// Neither the first reply nor the corrected one can be read; the complaint is about the last.
    Unreadable(C),
}

impl Exchange<'_> {
    /// Returns the object that `read` finds in a reply. If it finds none, sends the reply back once, with the message that
    /// `repair` words from the complaint.
    pub(crate) async fn ask_for_object<T, C>(
        &mut self,
        mut request: ChatRequest,
        read: impl Fn(&str) -> Result<T, C>,
        repair: impl Fn(&C) -> Result<String, PromptError>,
    ) -> Result<T, NoObject<C>> {
        let reply = self.ask_for_text(&mut request).await?;
        let complaint = match read(&reply.text) {
            Ok(object) => return Ok(object),
            Err(complaint) => complaint,
        };
        let message = repair(&complaint).map_err(NoObject::Prompt)?;
        // Some servers refuse a message without text.
        let broken = if reply.text.trim().is_empty() {
            "(no text)"
        } else {
            &reply.text
        };
        request
            .messages
            .extend([Message::assistant(broken), Message::user(message)]);
        let reply = self.ask_for_text(&mut request).await?;
        read(&reply.text).map_err(NoObject::Unreadable)
    }

    /// Returns a complete reply. If the first one is cut off, asks again with twice the budget.
    async fn ask_for_text<C>(
        &mut self,
        request: &mut ChatRequest,
    ) -> Result<ChatReply, NoObject<C>> {
        let reply = self.ask_whole(request).await.map_err(NoObject::Chat)?;
        match reply.finish {
            Finish::Length => Err(NoObject::Cut {
                output_tokens: reply.usage.output_tokens,
            }),
            Finish::ContentFilter => Err(NoObject::Filtered),
            _ => Ok(reply),
        }
    }
}
