//! A note that is typed on one line of a terminal.

use anyhow::Result;

use super::key::Key;
use super::keys::Keys;
use super::screen::Screen;
use crate::annotations::checked_note;

/// Reads a note that begins as `text`. Enter ends it; `None` if Escape does.
pub(super) fn read(keys: &mut Keys<'_>, text: &str) -> Result<Option<String>> {
    Screen::print("Note. Enter keeps it, Esc leaves it as it was.\n")?;
    let mut note = text.to_owned();
    loop {
        Screen::line("> ", &note)?;
        match keys.typed()? {
            Key::Character(character) => note.push(character),
            Key::Pasted(text) => note.push_str(&text),
            Key::Backspace => {
                note.pop();
            }
            Key::Erase => note.clear(),
            Key::Left | Key::Right => {}
            Key::Escape => {
                Screen::print("\n")?;
                return Ok(None);
            }
            Key::Enter => {
                Screen::print("\n")?;
                match checked_note(&note) {
                    Ok(checked) => return Ok(Some(checked.to_owned())),
                    Err(error) => Screen::print(&format!("{error}\n"))?,
                }
            }
        }
    }
}
