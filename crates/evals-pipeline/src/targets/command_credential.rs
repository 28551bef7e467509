//! Finds a credential that is written into a command. Commands are stored in runs and shown in reports.

use evals_providers::is_credential;

/// The name of the first credential whose value the command holds: `API_KEY=…`, `--api-key …`, `--password=…`. A value that the shell
/// inserts, such as `$API_KEY`, does not count.
pub(super) fn credential_in(command: &str) -> Option<String> {
    let unquoted = |word: &str| word.trim_matches(['"', '\'']).to_owned();
    let words: Vec<String> = command.split_whitespace().map(unquoted).collect();
    let is_literal = |value: &str| !value.is_empty() && !value.contains(['$', '`', '%']);
    let credential = |name: &str| {
        let name = name.trim_start_matches('-');
        // Keys of records are far more common in commands than keys that are called nothing else.
        let is_plain_key = matches!(name.rsplit(['-', '_']).next(), Some("key" | "keys"))
            && !name.to_ascii_lowercase().contains("api");
        (is_credential(name) && !is_plain_key).then(|| name.to_owned())
    };
    for (at, word) in words.iter().enumerate() {
        let found = match word.split_once('=') {
            Some((name, value)) if is_literal(value) => credential(name),
            None if word.starts_with('-') => {
                let value = words.get(at + 1);
                let value = value.filter(|value| is_literal(value) && !value.starts_with('-'));
                value.and_then(|_| credential(word))
            }
            Some(_) | None => None,
        };
        if found.is_some() {
            return found;
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credentials_are_found_by_their_names() {
        for (command, name) in [
            ("API_KEY=sk-1 python rag.py", Some("API_KEY")),
            ("python rag.py --api-key sk-1", Some("api-key")),
            ("python rag.py --password='a'", Some("password")),
            ("python rag.py --api-key $API_KEY", None),
            ("API_KEY=\"$(cat key)\" python rag.py", None),
            (
                "python rag.py --id-key id --max-tokens 5 --token-count 3",
                None,
            ),
            ("python rag.py --password --verbose", None),
        ] {
            assert_eq!(credential_in(command).as_deref(), name, "{command}");
        }
    }
}
