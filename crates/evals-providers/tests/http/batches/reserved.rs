//! What stays reserved of the cost of batches.

use std::fs;
use std::num::NonZeroU32;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use evals_models::ChatModel as _;
use evals_providers::{BatchEvent, BatchHost, BatchSize, BatchedChat, OpenAiChat};

use super::{Folder, Notes, ask_all, asking, assert_ends, model, recorded, settings, texts, until};
use crate::scripted_server::batches::{BatchServer, Line, Script, echo};
use crate::{chat_settings, traffic};

/// A program that moves the files of replies away when it is warned of their lines.
#[derive(Debug)]
struct Mover {
    notes: Arc<Notes>,
    folder: Arc<Folder>,
}

impl Folder {
    /// The files of replies.
    fn replies(&self) -> Vec<PathBuf> {
        let is_replies = |path: &PathBuf| path.to_string_lossy().ends_with(".replies.jsonl");
        self.files().into_iter().filter(is_replies).collect()
    }
}

impl BatchHost for Mover {
    fn on_event(&self, event: &BatchEvent) {
        if let BatchEvent::Warning { .. } = event {
            for path in self.folder.replies() {
                fs::rename(&path, path.with_extension("aside")).expect("a file");
            }
        }
    }

    fn reserve(&self, size: &BatchSize) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
        self.notes.reserve(size)
    }

    fn release(&self, size: &BatchSize) {
        self.notes.release(size);
    }
}

#[tokio::test]
async fn the_cost_of_a_reply_that_cannot_be_read_stays_reserved() {
    let mut script = Script::sound();
    // The program warns of the stray line before it reads the others.
    script.answer = Box::new(|_, body| Line::Odd(echo(body)));
    let server = BatchServer::start(script);
    let (folder, notes) = (Arc::new(Folder::new()), Notes::new());
    let host = Arc::new(Mover {
        notes: Arc::clone(&notes),
        folder: Arc::clone(&folder),
    });
    let model = BatchedChat::new(model(&server), settings(&folder.0), host);
    let reply = texts(ask_all(&model, &["a"]).await).remove(0);
    assert_ends(&reply, "Terminal", "cannot keep the replies of a batch in");
    assert_eq!(notes.reserved.load(Ordering::SeqCst), 1);
    // A caller that gets the reply later pays for it.
    for path in folder.files() {
        if path.to_string_lossy().ends_with(".aside") {
            fs::rename(&path, path.with_extension("jsonl")).unwrap();
        }
    }
    assert_eq!(texts(ask_all(&model, &["a"]).await), ["echo: a"]);
    model.stored(&asking("a"));
    notes.reserves(0).await;
    assert_eq!(server.sizes(), [1]);
}

#[tokio::test]
async fn only_the_cost_of_a_reply_stays_reserved_when_its_caller_has_gone() {
    let server = BatchServer::start(Script::sound());
    let (folder, notes) = (Folder::new(), Notes::new());
    let mut limited = chat_settings(&server.server.openai_url());
    limited.max_tokens = NonZeroU32::new(100);
    let chat = OpenAiChat::new(limited, traffic(2)).expect("sound settings");
    let model = BatchedChat::new(chat, settings(&folder.0), notes.clone());
    server.hold(true);
    tokio::select! {
        _ = ask_all(&model, &["a"]) => panic!("the batch ended"),
        () = recorded(&folder, "batch") => {}
    }
    let tokens = || notes.tokens.load(Ordering::SeqCst);
    assert_eq!(tokens(), 100);
    server.hold(false);
    until("the 7 tokens of the reply are reserved", || tokens() == 7).await;
    notes.reserves(1).await;
    // A later caller gets the reply and pays for it.
    assert_eq!(texts(ask_all(&model, &["a"]).await), ["echo: a"]);
    model.stored(&asking("a"));
    notes.reserves(0).await;
    assert_eq!((tokens(), server.sizes()), (0, vec![1]));
}
