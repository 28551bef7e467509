//! What a model thinks aloud before it answers, where it writes that into the answer.

/// Names of the tags that models put their reasoning between.
const TAGS: [&str; 4] = ["think", "thinking", "reasoning", "thought"];

/// Takes the reasoning off the front of a reply: what remains, and the reasoning if there was any.
///
/// Reasoning comes first: blocks in the middle of an answer are part of it. A block that is never closed is a reply whose
/// budget ran out, and all of it is reasoning. A closing tag alone ends reasoning whose opening tag was part of the prompt.
pub(super) fn split(reply: &str) -> (String, Option<String>) {
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
pub(super) fn join(first: Option<String>, second: Option<String>) -> Option<String> {
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

/// What lies before and after a closing tag that nothing before it opens.
fn closed(text: &str) -> Option<(&str, &str)> {
    let (thought, after) = text.split_once("</think>")?;
    (!thought.contains("<think>")).then_some((thought, after))
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
        assert_eq!(
            parts("France?\n</think>\nParis."),
            ("Paris.".into(), Some("France?".into()))
        );
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
