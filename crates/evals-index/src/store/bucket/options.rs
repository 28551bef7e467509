//! The options of the engine for an object store, with limits for requests that fail.

use std::collections::HashMap;
use std::time::Duration;

use crate::store::StoreSettings;

/// How long the requests that open a store are repeated: an address with a typing error should not take longer.
const OPENING: Duration = Duration::from_secs(10);
/// The longest pause of the engine between two attempts at a request.
const LONGEST_PAUSE: Duration = Duration::from_secs(15);
/// A number of retries that no request reaches: only the time limits them.
const MOST_RETRIES: usize = 10_000;

/// The options for reading and writing tables.
pub(in crate::store) fn engine_options(settings: &StoreSettings) -> HashMap<String, String> {
    options(settings, settings.retry_for)
}

/// How long the requests that open a store are repeated.
pub(in crate::store) fn opening_limit(settings: &StoreSettings) -> Duration {
    settings.retry_for.min(OPENING)
}

/// How long a list may take whose requests are repeated for `retry_for`. No single request takes longer, so a longer list has many pages.
pub(in crate::store) fn list_limit(settings: &StoreSettings, retry_for: Duration) -> Duration {
    retry_for + LONGEST_PAUSE + settings.timeout
}

/// The options for requests that are repeated for `retry_for`.
pub(super) fn options(settings: &StoreSettings, retry_for: Duration) -> HashMap<String, String> {
    // The engine accepts only whole seconds here.
    let retry_seconds = retry_for.as_millis().div_ceil(1_000);
    let bounds = [
        ("client_max_retries", MOST_RETRIES.to_string()),
        ("client_retry_timeout", retry_seconds.to_string()),
        ("timeout", format!("{}ms", settings.timeout.as_millis())),
        // The engine has a second layer of retries, which would multiply the time of the first one by four.
        ("lance_aimd_max_retries", "0".to_owned()),
    ];
    let bounds = bounds.map(|(name, value)| (name.to_owned(), value));
    bounds.into_iter().chain(settings.options.clone()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_option_of_the_settings_wins_over_a_bound() {
        let own = ("client_max_retries".to_owned(), "2".to_owned());
        let settings = StoreSettings {
            options: [own].into(),
            retry_for: Duration::from_mins(1),
            ..StoreSettings::default()
        };
        let opening = options(&settings, opening_limit(&settings));
        assert_eq!(opening["client_retry_timeout"], "10");
        let options = engine_options(&settings);
        assert_eq!(options["client_max_retries"], "2");
        assert_eq!(options["client_retry_timeout"], "60");
    }

    #[test]
    fn fractions_of_seconds_are_not_cut_off() {
        let settings = StoreSettings {
            retry_for: Duration::from_millis(500),
            timeout: Duration::from_millis(1_500),
            ..StoreSettings::default()
        };
        let options = engine_options(&settings);
        assert_eq!(options["client_retry_timeout"], "1");
        assert_eq!(options["timeout"], "1500ms");
    }
}
