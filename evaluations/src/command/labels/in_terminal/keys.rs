//! The keyboard of a terminal, key by key.

use std::io::{self, Read as _, Write as _, stdin, stdout};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use rustix::termios::{
    LocalModes, OptionalActions, SpecialCodeIndex, Termios, tcgetattr, tcsetattr,
};

use super::key::Key;
use crate::interruption::{Interrupted, Interruption};

/// How long to wait for a byte before looking for a signal, in tenths of a second.
const TENTHS: u8 = 1;
/// The pause after a reading that returned nothing at once, as of a terminal that went away.
const PAUSE: Duration = Duration::from_millis(20);
/// A key that follows another one this soon is held down, or was pressed twice: it must not label the next answer.
const HELD: Duration = Duration::from_millis(120);

/// The keys of the terminal, each as soon as it is pressed and without its echo. Dropping this gives the terminal its mode back.
pub(super) struct Keys<'i> {
    interruption: &'i Interruption,
    _mode: Mode,
    /// When the last key came.
    last: Option<Instant>,
}

/// The mode in which keys come at once. Dropping it restores the mode before.
struct Mode {
    before: Termios,
}

impl Mode {
    fn enter() -> io::Result<Self> {
        let before = tcgetattr(stdin())?;
        let mut mode = before.clone();
        // Without signals of the terminal: Ctrl-Z would leave this mode to the shell.
        mode.local_modes
            .remove(LocalModes::ICANON | LocalModes::ECHO | LocalModes::ISIG);
        mode.special_codes[SpecialCodeIndex::VMIN] = 0;
        mode.special_codes[SpecialCodeIndex::VTIME] = TENTHS;
        tcsetattr(stdin(), OptionalActions::Now, &mode)?;
        let entered = Self { before };
        // The terminal marks pasted texts. Their lines would be keys otherwise.
        stdout().write_all(b"\x1b[?2004h")?;
        stdout().flush()?;
        Ok(entered)
    }
}

impl Drop for Mode {
    fn drop(&mut self) {
        let _ = stdout().write_all(b"\x1b[?2004l");
        let _ = stdout().flush();
        // Keys that nobody read yet are dropped, so that the shell does not take them for a command.
        let _ = tcsetattr(stdin(), OptionalActions::Flush, &self.before);
    }
}

impl<'i> Keys<'i> {
    pub(super) fn new(interruption: &'i Interruption) -> Result<Self> {
        Ok(Self {
            interruption,
            _mode: Mode::enter().context("cannot read single keys from this terminal")?,
            last: None,
        })
    }

    /// The next key that is pressed on purpose. Fails with [`Interrupted`] on Ctrl-C and on a signal.
    pub(super) fn pressed(&mut self) -> Result<Key> {
        loop {
            let before = self.last;
            let key = self.typed()?;
            let times = before.zip(self.last);
            let is_held = times.is_some_and(|(before, now)| now.duration_since(before) < HELD);
            if !is_held {
                return Ok(key);
            }
        }
    }

    /// The next key of a text that somebody types.
    pub(super) fn typed(&mut self) -> Result<Key> {
        loop {
            let Some(first) = self.byte()? else {
                continue;
            };
            if let Some(key) = Key::decode(first, &mut || self.byte())? {
                self.last = Some(Instant::now());
                return Ok(key);
            }
        }
    }

    /// The next byte; `None` if none comes for a while.
    fn byte(&self) -> Result<Option<u8>> {
        if self.interruption.is_interrupted() {
            return Err(Interrupted.into());
        }
        let asked = Instant::now();
        let mut byte = [0];
        match stdin().lock().read(&mut byte) {
            Ok(0) => {
                if asked.elapsed() < PAUSE {
                    thread::sleep(PAUSE);
                }
                Ok(None)
            }
            Ok(_) => Ok(Some(byte[0])),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => Ok(None),
            Err(error) => Err(error).context("cannot read keys from the terminal"),
        }
    }
}
