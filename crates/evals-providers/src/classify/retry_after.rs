//! The pause that a server asks for in its headers.

use std::time::{Duration, SystemTime};

use reqwest::header::HeaderMap;

/// The longest pause that is read. A longer one is a mistake of the server, and could overflow clocks.
const LONGEST: Duration = Duration::from_hours(24);

/// The pause that the headers ask for: `retry-after-ms`, `Retry-After` in seconds or as a date, or else the time until used-up limits
/// are reset. Headers that cannot be read are ignored.
pub(crate) fn pause(headers: &HeaderMap, now: SystemTime) -> Option<Duration> {
    let text = |name: &str| headers.get(name)?.to_str().ok().map(str::trim);
    let milliseconds = || text("retry-after-ms").and_then(|value| seconds(value, 1e-3));
    let asked = || {
        let value = text("retry-after")?;
        seconds(value, 1.0).or_else(|| until(value, now))
    };
    let reset = |limit: &str| {
        let used_up = text(&format!("x-ratelimit-remaining-{limit}"))? == "0";
        used_up
            .then(|| text(&format!("x-ratelimit-reset-{limit}")))
            .flatten()
            .and_then(units)
    };
    milliseconds()
        .or_else(asked)
        .or_else(|| reset("requests").max(reset("tokens")))
}

fn seconds(text: &str, unit: f64) -> Option<Duration> {
    let value = text.parse::<f64>().ok()? * unit;
    (value >= 0.0).then(|| Duration::from_secs_f64(value.min(LONGEST.as_secs_f64())))
}

fn until(text: &str, now: SystemTime) -> Option<Duration> {
    let date = httpdate::parse_http_date(text).ok()?;
    let pause = date.duration_since(now).unwrap_or_default();
    Some(pause.min(LONGEST))
}

/// `OpenAI`'s way to write durations: `1s`, `6m0s`, `1h2m3.5s`, `20ms`.
fn units(text: &str) -> Option<Duration> {
    let mut rest = text;
    let mut total = 0.0;
    while !rest.is_empty() {
        let (number, after) = rest.split_at(rest.find(|letter: char| letter.is_alphabetic())?);
        let end = after
            .find(|letter: char| !letter.is_alphabetic())
            .unwrap_or(after.len());
        let (unit, after) = after.split_at(end);
        let scale = match unit {
            "d" => 86_400.0,
            "h" => 3_600.0,
            "m" => 60.0,
            "s" => 1.0,
            "ms" => 1e-3,
            _ => return None,
        };
        total += number.parse::<f64>().ok()? * scale;
        rest = after;
    }
    seconds(&total.to_string(), 1.0)
}

#[cfg(test)]
mod tests {
    use reqwest::header::{HeaderName, HeaderValue};

    use super::*;

    fn asked(headers: &[(&'static str, &'static str)]) -> Option<Duration> {
        let now = httpdate::parse_http_date("Sun, 06 Nov 1994 08:49:37 GMT").unwrap();
        let headers = headers.iter().map(|(name, value)| {
            (
                HeaderName::from_static(name),
                HeaderValue::from_static(value),
            )
        });
        pause(&headers.collect(), now)
    }

    #[test]
    fn reads_seconds_and_dates() {
        let cases = [
            ("2", Some(2_000)),
            (" 1.5 ", Some(1_500)),
            ("0", Some(0)),
            ("Sun, 06 Nov 1994 08:49:47 GMT", Some(10_000)),
            ("Sun, 06 Nov 1994 08:00:00 GMT", Some(0)),
        ];
        for (value, expected) in cases {
            assert_eq!(
                asked(&[("retry-after", value)]),
                expected.map(Duration::from_millis),
                "{value}"
            );
        }
    }

    #[test]
    fn survives_absurd_values() {
        let day = Some(Duration::from_hours(24));
        let cases = [
            ("-5", None),
            ("soon", None),
            ("", None),
            ("NaN", None),
            ("1000000000", day),
            ("1e300", day),
            ("inf", day),
            ("Sat, 06 Nov 2094 08:49:37 GMT", day),
        ];
        for (value, expected) in cases {
            assert_eq!(asked(&[("retry-after", value)]), expected, "{value}");
        }
        assert_eq!(asked(&[]), None);
    }

    #[test]
    fn prefers_milliseconds() {
        assert_eq!(
            asked(&[("retry-after", "2"), ("retry-after-ms", "250")]),
            Some(Duration::from_millis(250))
        );
    }

    #[test]
    fn reads_when_used_up_limits_are_reset() {
        let limits = [
            ("x-ratelimit-remaining-requests", "0"),
            ("x-ratelimit-reset-requests", "1m0.5s"),
            ("x-ratelimit-remaining-tokens", "900"),
            ("x-ratelimit-reset-tokens", "6h0m0s"),
        ];
        assert_eq!(asked(&limits), Some(Duration::from_millis(60_500)));
        assert_eq!(units("20ms"), Some(Duration::from_millis(20)));
        assert_eq!(units("1 fortnight"), None);
        assert_eq!(units("12"), None);
    }
}
