//! HTML as text: what a reader of the page sees, without its layout.

use html5gum::{DefaultEmitter, Token, Tokenizer};

use super::TextContent;

/// Elements whose content nobody reads as text.
const HIDDEN: [&[u8]; 9] = [
    b"script",
    b"style",
    b"template",
    b"noscript",
    b"iframe",
    b"svg",
    b"math",
    b"object",
    b"select",
];

/// The title is that of `<title>`, else the first heading.
pub(super) fn content(text: &str) -> TextContent {
    let mut page = Page::default();
    let mut emitter = DefaultEmitter::default();
    // The contents of scripts and titles are no markup.
    emitter.naively_switch_states(true);
    for token in Tokenizer::new_with_emitter(text, emitter) {
        let Ok(token) = token;
        match token {
            Token::StartTag(tag) => page.open(&tag.name, tag.self_closing),
            Token::EndTag(tag) => page.close(&tag.name),
            Token::String(string) => page.write(&String::from_utf8_lossy(&string.value)),
            Token::Comment(_) | Token::Doctype(_) | Token::Error(_) => {}
        }
    }
    page.finish()
}

/// A page as far as it was read.
#[derive(Default)]
struct Page {
    /// The hidden element that is open, and how many of its name are open inside it.
    hidden: Option<(Vec<u8>, usize)>,
    in_pre: usize,
    /// The text of `<title>` or of the first heading, while it is open.
    collected: Option<(Vec<u8>, String)>,
    title: Option<String>,
    heading: Option<String>,
    text: String,
    /// Whether white space has to come before the next word.
    gap: Gap,
}

#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
enum Gap {
    #[default]
    None,
    Space,
    Line,
    Paragraph,
}

impl Page {
    fn open(&mut self, name: &[u8], self_closing: bool) {
        if let Some((hidden, depth)) = &mut self.hidden {
            *depth += usize::from(hidden == name && !self_closing);
            return;
        }
        if HIDDEN.contains(&name) {
            self.hidden = (!self_closing).then(|| (name.to_owned(), 0));
            self.gap = self.gap.max(Gap::Space);
            return;
        }
        self.separate(name);
        self.in_pre += usize::from(name == b"pre");
        let is_heading = matches!(name, [b'h', b'1'..=b'6']);
        let is_wanted =
            (name == b"title" && self.title.is_none()) || (is_heading && self.heading.is_none());
        if is_wanted && self.collected.is_none() {
            self.collected = Some((name.to_owned(), String::new()));
        }
    }

    fn close(&mut self, name: &[u8]) {
        if let Some((hidden, depth)) = &mut self.hidden {
            if hidden == name {
                match depth.checked_sub(1) {
                    Some(less) => *depth = less,
                    None => self.hidden = None,
                }
            }
            return;
        }
        if name == b"pre" {
            self.in_pre = self.in_pre.saturating_sub(1);
        }
        self.separate(name);
        if let Some((_, text)) = self.collected.take_if(|(open, _)| open == name) {
            let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
            let place = if name == b"title" {
                &mut self.title
            } else {
                &mut self.heading
            };
            *place = Some(text).filter(|text| !text.is_empty());
        }
    }

    /// Sets the gap that an element makes.
    fn separate(&mut self, name: &[u8]) {
        let gap = match name {
            b"td" | b"th" | b"option" | b"button" => Gap::Space,
            b"br" | b"li" | b"tr" | b"dt" | b"dd" => Gap::Line,
            // Elements that stand on lines of their own.
            b"address" | b"article" | b"aside" | b"blockquote" | b"body" | b"caption"
            | b"center" | b"details" | b"dialog" | b"dir" | b"div" | b"dl" | b"fieldset"
            | b"figcaption" | b"figure" | b"footer" | b"form" | b"h1" | b"h2" | b"h3" | b"h4"
            | b"h5" | b"h6" | b"head" | b"header" | b"hr" | b"html" | b"legend" | b"main"
            | b"menu" | b"nav" | b"ol" | b"p" | b"pre" | b"section" | b"summary" | b"table"
            | b"title" | b"ul" => Gap::Paragraph,
            _ => return,
        };
        self.gap = self.gap.max(gap);
    }

    fn write(&mut self, text: &str) {
        if self.hidden.is_some() {
            return;
        }
        if let Some((name, collected)) = &mut self.collected {
            collected.push_str(text);
            // The text of the page does not begin with its title.
            if name == b"title" {
                return;
            }
        }
        if self.in_pre > 0 {
            self.fill_gap();
            self.text.push_str(text);
            return;
        }
        for piece in text.split_inclusive(char::is_whitespace) {
            let word = piece.trim_end();
            if !word.is_empty() {
                self.fill_gap();
                self.text.push_str(word);
            }
            if word.len() < piece.len() {
                self.gap = self.gap.max(Gap::Space);
            }
        }
    }

    fn fill_gap(&mut self) {
        let gap = std::mem::take(&mut self.gap);
        if self.text.is_empty() {
            return;
        }
        self.text.push_str(match gap {
            Gap::None => "",
            Gap::Space => " ",
            Gap::Line => "\n",
            Gap::Paragraph => "\n\n",
        });
    }

    fn finish(self) -> TextContent {
        TextContent {
            title: self.title.or(self.heading),
            text: self.text.trim().to_owned(),
            ..TextContent::default()
        }
    }
}
