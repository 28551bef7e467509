//! A page that is drawn again and again in the same place.

use std::io;

use console::{Term, truncate_str};

/// A page on stderr, which is a terminal. It disappears when this is dropped.
#[derive(Debug)]
pub struct LivePage {
    terminal: Term,
    /// How many lines of it are on the screen.
    lines: usize,
}

impl LivePage {
    pub(super) fn new() -> Self {
        Self {
            terminal: Term::buffered_stderr(),
            lines: 0,
        }
    }

    /// Columns that a line may have now. The last one stays free, because a line that ends there may move the cursor down.
    pub fn width(&self) -> u16 {
        self.terminal.size().1.max(2) - 1
    }

    /// Replaces the page. Lines that the screen has no room for are left out.
    pub fn show(&mut self, page: &str) {
        // Failing to draw must not end the command.
        let _ = self.draw(page);
    }

    fn draw(&mut self, page: &str) -> io::Result<()> {
        let (rows, width) = (self.terminal.size().0, self.width());
        self.erase()?;
        // The cursor needs a line of its own.
        let lines: Vec<&str> = page.lines().take(usize::from(rows).max(2) - 1).collect();
        for line in &lines {
            let line = truncate_str(line, usize::from(width), "");
            self.terminal.write_line(&line)?;
        }
        self.lines = lines.len();
        // All at once, so that the page does not flicker.
        self.terminal.flush()
    }

    fn erase(&mut self) -> io::Result<()> {
        self.terminal.move_cursor_up(self.lines)?;
        self.lines = 0;
        self.terminal.clear_to_end_of_screen()
    }
}

impl Drop for LivePage {
    fn drop(&mut self) {
        let _ = self.erase();
        let _ = self.terminal.flush();
    }
}
