//! The reasoning that some models write into their replies, before the answer.

use serde::de::IgnoredAny;

/// The tags between which models put their reasoning.
const TAGS: [&str; 4] = ["think", "thinking", "reasoning", "thought"];

/// Splits a reply into the answer and the reasoning before it, if there is any.
///
/// Reasoning comes first; blocks in the middle of an answer are part of the answer. A block that is never closed means that the budget
/// ran out, so all of it is reasoning. A closing tag alone ends reasoning whose opening tag was part of the prompt, as in some chat
/// templates. But an answer may also mention that tag. In JSON it always does. Elsewhere the tag ends reasoning if it has a line to
/// itself, or stands between two texts without blanks, as models write it.
pub(crate) fn split(reply: &str) -> (String, Option<String>) {
    let mut rest = reply.trim_start();
    let mut thoughts = Vec::new();
    while let Some((tag, inside)) = opened(rest) {
        let (thought, after) = match inside.split_once(&format!("</{tag}>")) {
            Some((thought, after)) => (thought, after.trim_start()),
            None => (inside, ""),
        };
        thoughts.push(thought.trim());
        rest = after;
    }
    if thoughts.is_empty()
        && let Some((thought, after)) = closed(rest)
        && !is_json(rest)
    {
        thoughts.push(thought.trim());
        rest = after.trim_start();
    }
    if thoughts.is_empty() {
        return (reply.to_owned(), None);
    }
    thoughts.retain(|thought| !thought.is_empty());
    let reasoning = (!thoughts.is_empty()).then(|| thoughts.join("\n\n"));
    (rest.to_owned(), reasoning)
}

/// Two sources of reasoning together.
pub(crate) fn join(first: Option<String>, second: Option<String>) -> Option<String> {
    let parts: Vec<String> = [first, second]
        .into_iter()
        .flatten()
        .filter(|part| !part.trim().is_empty())
        .collect();
    (!parts.is_empty()).then(|| parts.join("\n\n"))
}

fn opened(text: &str) -> Option<(&'static str, &str)> {
    TAGS.iter().find_map(|tag| {
        let inside = text.strip_prefix('<')?.strip_prefix(tag)?;
        Some((*tag, inside.strip_prefix('>')?))
    })
}

/// The texts before and after a closing tag that ends reasoning, if the reasoning before it has no opening tag.
fn closed(text: &str) -> Option<(&str, &str)> {
    let tags = text.match_indices("</think>");
    let mut parts = tags.map(|(at, tag)| (&text[..at], &text[at + tag.len()..]));
    let (thought, after) = parts.find(|(thought, after)| ends(thought, after))?;
    (!thought.contains("<think>")).then_some((thought, after))
}

/// Whether a tag between these texts ends reasoning: it has a line to itself, or touches the texts, unlike a word in a sentence.
fn ends(before: &str, after: &str) -> bool {
    let line_before = before.trim_end_matches([' ', '\t', '\r']);
    let line_after = after.trim_start_matches([' ', '\t', '\r']);
    let begins_line = line_before.is_empty() || line_before.ends_with('\n');
    let ends_line = line_after.is_empty() || line_after.starts_with('\n');
    let of_text = |letter: char| letter.is_alphanumeric() || ".!?:…。！？*)".contains(letter);
    let touches_before = before.ends_with(of_text);
    let touches_after =
        after.starts_with(|letter: char| letter.is_alphanumeric() || "{[*#<".contains(letter));
    (begins_line || touches_before) && (ends_line || touches_after)
}

/// Whether a reply is only JSON, in a fence or without one.
fn is_json(reply: &str) -> bool {
    let reply = reply.trim();
    let fenced = reply
        .strip_prefix("```")
        .and_then(|it| it.strip_suffix("```"));
    let json = fenced.map_or(reply, |it| it.strip_prefix("json").unwrap_or(it));
    serde_json::from_str::<IgnoredAny>(json).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(reply: &str) -> (String, Option<String>) {
        split(reply)
    }

    #[test]
    fn takes_leading_blocks_off() {
        let expected = ("Paris.".to_owned(), Some("France?".to_owned()));
        assert_eq!(parts("<think>\nFrance?\n</think>\n\nParis."), expected);
        assert_eq!(parts("\n <reasoning>France?</reasoning>Paris."), expected);
        assert_eq!(
            parts("<think>a</think> <think>b</think> c"),
            ("c".into(), Some("a\n\nb".into()))
        );
    }

    #[test]
    fn an_empty_block_is_no_reasoning() {
        assert_eq!(
            parts("<think>\n\n</think>\n\nParis."),
            ("Paris.".into(), None)
        );
    }

    #[test]
    fn an_unclosed_block_leaves_nothing() {
        assert_eq!(
            parts("<think>Let me see, {\"pass\": true} or"),
            (
                String::new(),
                Some("Let me see, {\"pass\": true} or".into())
            )
        );
    }

    #[test]
    fn the_prompt_may_have_opened_the_block() {
        let expected = ("Paris.".to_owned(), Some("France?".to_owned()));
        for reply in [
            "France?\n</think>\nParis.",
            "France?\r\n </think> \r\n\r\nParis.",
            "France?</think>Paris.",
            "France?</think>\n\nParis.",
            "France?\n</think>Paris.",
        ] {
            assert_eq!(parts(reply), expected, "{reply}");
        }
        let verdict = r#"{"reason":"it says </think> in it","pass":false}"#;
        assert_eq!(
            parts(&format!("Is it {{pass}}?\n</think>\n\n{verdict}")).0,
            verdict
        );
        assert_eq!(
            parts("Is `</think>` a tag?\n</think>\n\nYes.").0,
            "Yes.",
            "of several the first that ends something"
        );
        assert_eq!(
            parts("France?\n</think>"),
            (String::new(), Some("France?".into()))
        );
    }

    #[test]
    fn a_reply_that_speaks_of_the_tag_stays_whole() {
        for reply in [
            r#"{"reason":"it says </think> in it","pass":false}"#,
            r#"{"reason":"it says</think>in it","pass":false}"#,
            "```json\n{\"reason\":\"a.</think>b\",\n\"pass\":false}\n```",
            "Verdict: {\"reason\":\"it says </think> in it\",\"pass\":false}",
            "The model writes </think> at the end of its thoughts.",
            "The tag `</think>` ends it, and \"</think>\" too.",
            "It ends with (</think>), or with </think>.",
            "</think> is the tag that ends it.",
            "A thought has two tags: <think>so</think>.\n</think>\n",
        ] {
            assert_eq!(parts(reply), (reply.to_owned(), None), "{reply}");
        }
    }

    #[test]
    fn tags_inside_an_answer_belong_to_it() {
        for answer in [
            "Write <think>so</think> first.",
            "<thinker>no tag</thinker>",
            " plain ",
        ] {
            assert_eq!(parts(answer), (answer.into(), None));
        }
    }
}
