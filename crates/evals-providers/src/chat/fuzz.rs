//! Fuzzes the removal of reasoning from replies: the answer is the text after the reasoning.

use evals_fuzz::Target;

use super::reasoning::split;

const CORPUS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fuzz");

#[test]
fn reasoning_is_what_comes_before_an_answer() {
    Target::new("reasoning", CORPUS)
        .seed("<think>\nFrance?\n</think>\n\nParis.")
        .seed("France?\n</think>\nParis.")
        .seed("```json\n{\"reason\":\"a.</think>b\",\n\"pass\":false}\n```")
        .seed(" <reasoning>a</reasoning> <thought>b</thought>c")
        .dictionary([
            "<think>",
            "</think>",
            "<thinking>",
            "</thinking>",
            "<think",
            "</",
            ">",
            "\n",
            "\r\n",
            "\"",
            "{",
            "}",
            "```",
            " ",
            "\u{a0}",
        ])
        .run(|input| {
            let reply = String::from_utf8_lossy(input);
            let (answer, reasoning) = split(&reply);
            assert!(reply.ends_with(&answer), "{answer:?}");
            assert!(!reasoning.is_some_and(|it| it.trim().is_empty()));
            // As thoughts between tags, with an answer behind them.
            if !reply.contains("</thought>") {
                let wrapped = format!("<thought>{reply}</thought>\n\nParis.");
                let (answer, reasoning) = split(&wrapped);
                assert_eq!(answer, "Paris.");
                assert_eq!(reasoning.unwrap_or_default(), reply.trim());
            }
        });
}
