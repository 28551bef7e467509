//! A written page as a parser of HTML sees it.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use flate2::read::DeflateDecoder;
use html5gum::{DefaultEmitter, Token, Tokenizer};
use serde_json::Value;

/// Elements without content, which have no end tag.
const VOID: [&str; 4] = ["meta", "br", "wbr", "input"];

/// An element with its attributes and the text directly inside it.
#[derive(Debug, Default)]
pub(crate) struct Element {
    pub(crate) name: String,
    pub(crate) attributes: Vec<(String, String)>,
    pub(crate) text: String,
}

impl Element {
    pub(crate) fn attribute(&self, name: &str) -> Option<&str> {
        let mut attributes = self.attributes.iter();
        attributes.find(|it| it.0 == name).map(|it| it.1.as_str())
    }
}

/// The elements of a page in the order of their start tags. Panics if one is not closed where it should be.
pub(crate) fn elements(page: &str) -> Vec<Element> {
    let mut emitter = DefaultEmitter::default();
    // The contents of scripts and titles are no markup.
    emitter.naively_switch_states(true);
    let mut elements: Vec<Element> = Vec::new();
    let mut open: Vec<usize> = Vec::new();
    for token in Tokenizer::new_with_emitter(page, emitter) {
        let Ok(token) = token;
        match token {
            Token::StartTag(tag) => {
                let name = text(&tag.name);
                let attributes = tag.attributes.iter();
                let attributes = attributes.map(|(name, value)| (text(name), text(value)));
                if !tag.self_closing && !VOID.contains(&name.as_str()) {
                    open.push(elements.len());
                }
                elements.push(Element {
                    attributes: attributes.collect(),
                    name,
                    text: String::new(),
                });
            }
            Token::EndTag(tag) => {
                let innermost = open.pop().map(|index| elements[index].name.as_str());
                assert_eq!(
                    innermost,
                    Some(text(&tag.name).as_str()),
                    "closed too early"
                );
            }
            Token::String(string) => {
                if let Some(&index) = open.last() {
                    elements[index].text.push_str(&text(&string.value));
                }
            }
            Token::Comment(comment) => panic!("a comment: {comment:?}"),
            Token::Error(error) => panic!("not well-formed: {error:?}"),
            Token::Doctype(_) => {}
        }
    }
    assert!(open.is_empty(), "not closed: {open:?}");
    elements
}

/// The content of a block of data.
pub(crate) fn block(elements: &[Element], id: &str) -> Option<Value> {
    let element = elements.iter().find(|it| it.attribute("id") == Some(id))?;
    assert_eq!(element.attribute("type"), Some("text/plain"), "{id}");
    let compressed = STANDARD.decode(&element.text).expect("Base64");
    let json = DeflateDecoder::new(compressed.as_slice());
    Some(serde_json::from_reader(json).expect("JSON"))
}

/// All blocks of one kind, one after the other.
pub(crate) fn blocks(elements: &[Element], kind: &str) -> Vec<Value> {
    let numbered = (0..).map_while(|number| block(elements, &format!("{kind}-{number}")));
    numbered
        .flat_map(|block| block.as_array().expect("an array").clone())
        .collect()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("UTF-8")
}
