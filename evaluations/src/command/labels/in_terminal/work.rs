//! The answers one after the other, and what the keys do.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io;

use anyhow::Result;
use evals_messages::{quantity, visible};

use super::key::Key;
use super::keys::Keys;
use super::note;
use super::screen::Screen;
use crate::annotations::{JudgedAnswer, LabelVerdict, Labelling, NewLabel, Queued, Storing};
use crate::clock::{now, timestamp};
use crate::exit::Exit;

/// One person at work.
pub(super) struct Work<'r, 'i> {
    labelling: Labelling<'r>,
    queue: Vec<Queued>,
    /// The place in the queue; its end when every answer has a label.
    place: usize,
    /// Notes on answers that have no label yet, by place in the queue.
    drafts: BTreeMap<usize, String>,
    screen: Screen,
    keys: Keys<'i>,
}

/// What follows a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Next {
    /// Wait for another key.
    Key,
    /// Show the answer at the place.
    Answer,
    Quit,
}

impl<'r, 'i> Work<'r, 'i> {
    pub(super) fn new(
        labelling: Labelling<'r>,
        queue: Vec<Queued>,
        screen: Screen,
        keys: Keys<'i>,
    ) -> Self {
        let place = queue.iter().position(|it| it.label.is_none());
        Self {
            place: place.unwrap_or(queue.len()),
            labelling,
            queue,
            drafts: BTreeMap::new(),
            screen,
            keys,
        }
    }

    pub(super) fn run(mut self) -> Result<Exit> {
        let ended = self.until_quit();
        let drafts = self.drafts.len();
        if drafts > 0 {
            let notes = quantity::of(drafts, "note");
            Screen::print(&format!(
                "\n{notes} on answers without a label: not stored\n"
            ))?;
        }
        Screen::print("\n")?;
        ended.map(|()| Exit::Done)
    }

    fn until_quit(&mut self) -> Result<()> {
        loop {
            self.show(false)?;
            loop {
                let key = self.keys.pressed()?;
                match self.act(&key)? {
                    Next::Key => {}
                    Next::Answer => break,
                    Next::Quit => return Ok(()),
                }
            }
        }
    }

    fn answer(&self) -> Option<&'r JudgedAnswer> {
        let queued = self.queue.get(self.place)?;
        Some(&self.labelling.run.answers[queued.place])
    }

    fn show(&self, is_whole: bool) -> io::Result<()> {
        let all = self.queue.len();
        let Some(answer) = self.answer() else {
            return Screen::print(&format!(
                "\n{} labelled. A larger `--sample` goes on; the labels so far count.\nu back  q quit\n",
                match all {
                    1 => "The answer is".to_owned(),
                    all => format!("All {all} answers are"),
                }
            ));
        };
        let labelled = self.queue.iter().filter(|it| it.label.is_some()).count();
        let repetition = match answer.repeat {
            1 => String::new(),
            repeat => format!(", repetition {repeat}"),
        };
        let place = format!(
            "{} of {all}, {labelled} labelled: {}{repetition}",
            self.place + 1,
            answer.id
        );
        let is_cut = self.screen.answer(&place, answer, is_whole)?;
        self.state()?;
        self.help(answer, is_cut)
    }

    /// Shows the person's own label and note.
    fn state(&self) -> io::Result<()> {
        let label = self.queue[self.place].label.as_ref();
        let mut state = String::new();
        if let Some(label) = label {
            state = format!("\nYour label: {}", label.verdict);
        }
        let note = self.note();
        if !note.is_empty() {
            _ = write!(state, "\nYour note: {}", visible::line(note));
        }
        Screen::print(&format!("{state}\n"))
    }

    /// The note on the answer, stored or not.
    fn note(&self) -> &str {
        let stored = self.queue[self.place].label.as_ref();
        let draft = self.drafts.get(&self.place).map(String::as_str);
        draft.unwrap_or_else(|| stored.map_or("", |label| &label.note))
    }

    fn help(&self, answer: &JudgedAnswer, is_cut: bool) -> io::Result<()> {
        let mut keys = vec!["1 pass", "2 fail", "0 cannot say", "n note", "u back"];
        keys.push(match self.queue[self.place].label {
            Some(_) => "s next",
            None => "s skip",
        });
        if !answer.passages.is_empty() {
            keys.push("p passages");
        }
        if is_cut {
            keys.push("m more");
        }
        keys.push("q quit");
        Screen::keys(&keys)
    }

    fn act(&mut self, key: &Key) -> Result<Next> {
        let Some(answer) = self.answer() else {
            return Ok(match key {
                Key::Character('u') | Key::Left => self.back(),
                Key::Character('q') | Key::Enter => Next::Quit,
                _ => Next::Key,
            });
        };
        match key {
            Key::Character('1') => self.label(LabelVerdict::Pass),
            Key::Character('2') => self.label(LabelVerdict::Fail),
            Key::Character('0') => self.label(LabelVerdict::CannotSay),
            Key::Character('n') => self.edit_note(),
            Key::Character('u') | Key::Left => Ok(self.back()),
            Key::Character('s') | Key::Right | Key::Enter => Ok(self.skip()),
            Key::Character('p') => {
                let is_cut = self.screen.passages(answer, false)?;
                self.help(answer, is_cut)?;
                Ok(Next::Key)
            }
            Key::Character('m') => {
                self.show(true)?;
                if !answer.passages.is_empty() {
                    self.screen.passages(answer, true)?;
                    self.help(answer, false)?;
                }
                Ok(Next::Key)
            }
            Key::Character('q') => Ok(Next::Quit),
            _ => Ok(Next::Key),
        }
    }

    fn label(&mut self, verdict: LabelVerdict) -> Result<Next> {
        if !self.store(verdict)? {
            return Ok(Next::Key);
        }
        Screen::print(&format!("{verdict}\n"))?;
        self.place = self.unlabelled().unwrap_or(self.queue.len());
        Ok(Next::Answer)
    }

    /// Stores a label with the note; `false` if the file holds one that this person has not seen.
    fn store(&mut self, verdict: LabelVerdict) -> Result<bool> {
        let queued = &self.queue[self.place];
        let storing = self.labelling.store(&NewLabel {
            place: queued.place,
            verdict,
            note: self.note(),
            seen: queued.label.as_ref().map(|label| &label.version),
            reveals: false,
            time: &timestamp(now()),
        })?;
        let (label, is_stored) = match storing {
            Storing::Stored(label) => (label, true),
            Storing::Unseen(label) => (label, false),
        };
        self.queue[self.place].label = Some(label);
        if is_stored {
            self.drafts.remove(&self.place);
        } else {
            let labeller = visible::line(self.labelling.labeller);
            Screen::print(&format!(
                "\nNot stored: another program has stored a label of {labeller} for this answer. Press the key again to replace it, or s to keep it.\n"
            ))?;
            self.state()?;
        }
        Ok(is_stored)
    }

    fn edit_note(&mut self) -> Result<Next> {
        let before = self.note().to_owned();
        let Some(note) = note::read(&mut self.keys, &before)? else {
            return Ok(Next::Answer);
        };
        if note != before {
            self.drafts.insert(self.place, note);
            if let Some(label) = &self.queue[self.place].label {
                let verdict = label.verdict;
                if !self.store(verdict)? {
                    return Ok(Next::Key);
                }
            }
        }
        Ok(Next::Answer)
    }

    fn back(&mut self) -> Next {
        if self.place == 0 {
            return Next::Key;
        }
        self.place -= 1;
        Next::Answer
    }

    /// Goes to the next answer: from one with a label to the next without, else to the one behind it.
    fn skip(&mut self) -> Next {
        let later = self.unlabelled();
        match later {
            Some(place) => self.place = place,
            None if self.queue[self.place].label.is_some() => self.place = self.queue.len(),
            None => return Next::Key,
        }
        Next::Answer
    }

    /// The place of the next answer without a label, from the start again after the last one. The answer at the place itself does not
    /// count.
    fn unlabelled(&self) -> Option<usize> {
        let is_open = |place: &usize| self.queue[*place].label.is_none();
        let later = (self.place + 1)..self.queue.len();
        let earlier = 0..self.place.min(self.queue.len());
        later.chain(earlier).find(is_open)
    }
}
