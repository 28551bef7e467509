//! Recorded command lines, to type again.

use evals_runs::shell_word::shell_word;

/// The option that names a shard.
const SHARD: &str = "--shard";

/// A recorded command line as a shell reads it. The program has its plain name: its path may be another one elsewhere.
pub(super) fn typed(line: &[String]) -> String {
    let words = line.iter().skip(1);
    let words = words.map(|word| shell_word(word).into_owned());
    let program = env!("CARGO_PKG_NAME").to_owned();
    let words: Vec<String> = std::iter::once(program).chain(words).collect();
    format!("`{}`", words.join(" "))
}

/// A recorded command line with another shard.
pub(super) fn with_shard(line: &[String], shard: &str) -> Vec<String> {
    let mut words = line.to_vec();
    let together = format!("{SHARD}=");
    for place in 0..words.len() {
        if words[place].starts_with(&together) {
            words[place] = format!("{together}{shard}");
        } else if place > 0 && words[place - 1] == SHARD {
            shard.clone_into(&mut words[place]);
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(words: &[&str]) -> Vec<String> {
        words.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_command_can_be_typed_again() {
        let line = line(&[
            "/opt/bin/evaluations",
            "./my data.yaml",
            "--set",
            "a=it's",
            "--k",
            "5",
            "--name",
            "",
        ]);
        assert_eq!(
            typed(&line),
            r"`evaluations './my data.yaml' --set 'a=it'\''s' --k 5 --name ''`"
        );
    }

    #[test]
    fn only_the_shard_changes() {
        for (words, other) in [
            (
                line(&["e", "x", "--shard", "1/4", "1/4"]),
                "`evaluations x --shard 3/4 1/4`",
            ),
            (
                line(&["e", "--shard=1/4", "x"]),
                "`evaluations --shard=3/4 x`",
            ),
        ] {
            assert_eq!(typed(&with_shard(&words, "3/4")), other);
        }
    }
}
