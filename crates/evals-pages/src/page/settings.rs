//! The settings of a run that differ from the defaults.

use anyhow::Result;
use evals_runs::run_record::RecordedSettings;
use evals_settings::Settings;

/// Each setting of a run that differs from its default, with its value: `("search.limit", "10, by default 5")`.
pub(super) fn changed(settings: &RecordedSettings) -> Result<Vec<(String, String)>> {
    let defaults = RecordedSettings::of(&Settings::default())?.flat();
    let changed = settings.flat().into_iter().filter_map(|(path, value)| {
        let default = defaults.get(&path);
        if default == Some(&value) {
            return None;
        }
        let shown = match default {
            Some(default) => format!("{value}, by default {default}"),
            None => value,
        };
        Some((path, shown))
    });
    Ok(changed.collect())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_what_differs_from_the_defaults_is_listed() {
        let mut settings = serde_json::to_value(Settings::default()).unwrap();
        let listed = |settings: &serde_json::Value| {
            changed(&RecordedSettings::of(settings).unwrap()).unwrap()
        };
        assert_eq!(listed(&settings), []);
        settings["search"]["limit"] = json!(10);
        settings["prices"]["gpt"] = json!({"input": 2.5});
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        assert_eq!(
            listed(&settings),
            [
                pair("prices.gpt.input", "2.5"),
                pair("search.limit", "10, by default 5")
            ]
        );
    }
}
