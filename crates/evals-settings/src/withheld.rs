//! Keeps credentials for one server from a target on another one that a file names.

use evals_yaml::Tree;
use std::fmt;

use super::layer::Layer;
use crate::redaction;
use evals_targets::TargetAddress;

/// The parts of a request that may hold a credential.
const PARTS: [&str; 3] = ["headers", "query", "body"];

/// Parts of requests to the target that a layer sets and that do not count, because they may hold credentials for another server.
#[derive(Debug, Clone, PartialEq)]
pub struct Withheld {
    /// The layer that sets them.
    origin: String,
    parts: Vec<&'static str>,
    /// The layer that names the target.
    names_target: String,
    address: String,
}

impl fmt::Display for Withheld {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            origin,
            parts,
            names_target,
            address,
        } = self;
        let parts: Vec<String> = parts
            .iter()
            .map(|part| format!("`target.{part}`"))
            .collect();
        let address = redaction::prose(address);
        write!(
            formatter,
            "{} of {origin} left out: {names_target} names the target `{address}`, and {origin} no address on that server; if the server \
             may see them, name the target with `--target`",
            parts.join(", ")
        )
    }
}

/// Takes headers, parameters and bodies out of `layers`, weakest first, if they may be for another server than the target's.
///
/// A file, which may come from somebody else, can name the target. Then the parts of each other file count only if that file names
/// an address on the same server. Options are the user's own: their parts count always, and every part counts if an option names the
/// target.
pub(super) fn withhold(layers: &mut [Layer]) -> Vec<Withheld> {
    layers.iter_mut().for_each(spell_out);
    let Some((deciding, address)) = layers
        .iter()
        .enumerate()
        .rev()
        .find_map(|(index, layer)| Some((index, address(&layer.tree)?)))
    else {
        return Vec::new();
    };
    if layers[deciding].is_option {
        return Vec::new();
    }
    let Some(server) = server(&address) else {
        return Vec::new();
    };
    let names_target = layers[deciding].origin.clone();
    let mut withheld = Vec::new();
    for (index, layer) in layers.iter_mut().enumerate() {
        let is_trusted = index == deciding
            || layer.is_option
            || self::address(&layer.tree)
                .is_some_and(|own| self::server(&own).as_ref() == Some(&server));
        if is_trusted {
            continue;
        }
        let parts = take_parts(&mut layer.tree);
        if !parts.is_empty() {
            withheld.push(Withheld {
                origin: layer.origin.clone(),
                parts,
                names_target: names_target.clone(),
                address: address.clone(),
            });
        }
    }
    withheld
}

/// Writes a target that is its address alone as a mapping, so that layers overlay each other key by key in both forms.
fn spell_out(layer: &mut Layer) {
    if let Some(target) = layer.tree.get_mut("target")
        && target.value.text().is_some()
    {
        let address = std::mem::take(&mut target.value);
        target.value.put("address", target.line, address);
    }
}

/// The address of the target, if a layer names it.
fn address(tree: &Tree) -> Option<String> {
    let address = tree.get("target.address")?.value.text()?;
    Some(address.to_owned())
}

/// Scheme, host and port of a service's address; `None` for other targets.
fn server(address: &str) -> Option<String> {
    let Ok(TargetAddress::Http(url)) = address.parse() else {
        return None;
    };
    let (scheme, rest) = url.split_once("://")?;
    let scheme = scheme.to_ascii_lowercase();
    let authority = rest.split(['/', '\\', '?', '#']).next().unwrap_or(rest);
    let authority = authority.to_ascii_lowercase();
    let default_port = if scheme == "https" { ":443" } else { ":80" };
    let host = authority.strip_suffix(default_port).unwrap_or(&authority);
    Some(format!("{scheme}://{host}"))
}

/// Takes the parts away that are not empty, and names them.
fn take_parts(tree: &mut Tree) -> Vec<&'static str> {
    let is_empty = |value: &Tree| *value == Tree::default() || *value == Tree::Mapping(Vec::new());
    let mut taken = |part: &&str| {
        let part = tree.take(&format!("target.{part}"));
        part.is_some_and(|part| !is_empty(&part.value))
    };
    PARTS.into_iter().filter(|part| taken(part)).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::super::layer::tests::set;
    use super::super::resolve;
    use super::*;

    const SECRETS: &str = "headers: {Authorization: \"Bearer ${TOKEN}\"}, query: {key: \"${KEY}\"}, body: {api_key: \"${KEY}\"}";

    fn file(origin: &str, target: &str) -> Layer {
        Layer::new(origin, Tree::parse(&format!("target: {target}")).unwrap())
    }

    fn option(address: &str) -> Layer {
        let address = Tree::Leaf(Value::String(address.to_owned()));
        Layer::option("`--target`", "target.address", address)
    }

    /// The parts that are sent, and the notes.
    fn sent(layers: Vec<Layer>) -> (Vec<&'static str>, Vec<String>) {
        let resolved = resolve(layers).unwrap();
        let target = serde_json::to_value(&resolved.settings.target).unwrap();
        let parts = PARTS.into_iter().filter(|part| target.get(part).is_some());
        let notes = resolved.withheld.iter().map(ToString::to_string);
        (parts.collect(), notes.collect())
    }

    fn secrets_at(address: &str) -> String {
        format!("{{address: \"{address}\", {SECRETS}}}")
    }

    #[test]
    fn a_foreign_file_below_the_settings_does_not_get_their_credentials() {
        for foreign in ["{address: \"https://evil/ask\"}", "\"https://evil/ask\""] {
            let own = format!("{{{SECRETS}}}");
            let layers = vec![
                file("foreign.yaml", foreign),
                file("evaluations.yaml", &own),
            ];
            let (parts, notes) = sent(layers);
            assert!(parts.is_empty(), "{parts:?}");
            assert_eq!(
                notes,
                [
                    "`target.headers`, `target.query`, `target.body` of evaluations.yaml left out: foreign.yaml names the target \
                     `https://evil/ask`, and evaluations.yaml no address on that server; if the server may see them, name the target \
                     with `--target`"
                ]
            );
        }
    }

    #[test]
    fn credentials_follow_a_target_on_the_same_server_only() {
        let named = |address: &str| {
            let upper = format!("{{address: \"{address}\"}}");
            sent(vec![
                file("target.yaml", &secrets_at("http://a:81/ask")),
                file("mine.yaml", &upper),
            ])
        };
        for same in ["http://a:81/other", "HTTP://A:81", "http://a:81?x=/"] {
            assert_eq!(named(same), (PARTS.to_vec(), vec![]), "{same}");
        }
        for other in [
            "http://b/ask",
            "http://a/ask",
            "https://a:81/ask",
            "http://a:81.b/ask",
            "http://b\\\\@a:81/",
        ] {
            let (parts, notes) = named(other);
            assert!(parts.is_empty(), "{other}: {parts:?}");
            assert_eq!(notes.len(), 1, "{other}");
        }
        assert_eq!(server("https://a:443/x"), server("https://A"));
        assert_ne!(server("http://a:443/x"), server("http://a"));
    }

    #[test]
    fn options_of_the_command_line_always_count() {
        let own = format!("{{{SECRETS}}}");
        let all = (PARTS.to_vec(), vec![]);
        assert_eq!(
            sent(vec![file("evaluations.yaml", &secrets_at("http://a"))]),
            all
        );
        let elsewhere = vec![
            file("target.yaml", &secrets_at("http://a")),
            option("https://b/ask"),
        ];
        assert_eq!(sent(elsewhere), all);
        let chosen = vec![
            file("foreign.yaml", "https://c"),
            file("evaluations.yaml", &own),
            option("https://b"),
        ];
        assert_eq!(sent(chosen), all);
        let header = vec![
            file("foreign.yaml", "https://c"),
            set(&["target.headers.X-Key=abc"]),
        ];
        assert_eq!(sent(header), (vec!["headers"], vec![]));
        let address = vec![
            file("target.yaml", &own),
            set(&["target.address=https://b"]),
        ];
        assert_eq!(sent(address), all);
    }

    #[test]
    fn other_keys_than_those_of_requests_stay() {
        let lower = file(
            "target.yaml",
            "{address: \"http://a\", method: PUT, response: {answer: $.text}, headers: {}}",
        );
        let resolved = resolve(vec![lower, file("mine.yaml", "https://b")]).unwrap();
        assert_eq!(
            serde_json::to_value(&resolved.settings.target).unwrap(),
            json!({"address": "https://b", "method": "PUT", "response": {"answer": "$.text"}})
        );
        assert_eq!(resolved.withheld, []);
    }
}
