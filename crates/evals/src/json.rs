//! How reports write values as JSON: durations, numbers that must be finite, lists that keep their order, and `null`. Digests of JSON.

use std::panic::{self, AssertUnwindSafe};

use serde::Serialize;
use serde_json::Value;
use sha2::{Digest as _, Sha256};

/// Bytes of each digest. 48 bits tell an edited text from the original one; nobody signs anything with them.
const LENGTH: usize = 6;

/// Turns a value that JSON writes as `null` into `None`.
pub(crate) fn present<T: Serialize>(value: Option<T>) -> Option<T> {
    value.filter(|value| !is_null(value))
}

fn is_null(value: &impl Serialize) -> bool {
    // A value that panics here panics again when the report is written, where the error belongs.
    let written = panic::catch_unwind(AssertUnwindSafe(|| serde_json::to_value(value)));
    matches!(written, Ok(Ok(Value::Null)))
}

/// A digest of the JSON of a value.
pub(crate) fn digest(part: &(impl Serialize + ?Sized)) -> String {
    // A value that JSON cannot hold is never in a stored report.
    let mut value = serde_json::to_value(part).unwrap_or(Value::Null);
    // The order of members is no part of the content.
    value.sort_all_objects();
    let digest = Sha256::digest(value.to_string());
    hex::encode(&digest[..LENGTH])
}

/// Durations as a JSON number of seconds, exact to the nanosecond below 2^23 seconds (97 days).
pub(crate) mod seconds {
    use std::time::Duration;

    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    pub(crate) fn serialize<S: Serializer>(
        duration: &Duration,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.serialize_f64(duration.as_secs_f64())
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Duration, D::Error> {
        Duration::try_from_secs_f64(f64::deserialize(deserializer)?).map_err(D::Error::custom)
    }
}

/// Checks that numbers are finite before they become JSON. `serde_json` would silently write others as `null`, which cannot
/// be read back as a number.
pub(crate) mod finite {
    use std::collections::BTreeMap;

    use serde::ser::Error as _;
    use serde::{Serialize as _, Serializer};

    #[expect(
        clippy::trivially_copy_pass_by_ref,
        reason = "serde passes fields by reference"
    )]
    pub(crate) fn serialize<S: Serializer>(number: &f64, serializer: S) -> Result<S::Ok, S::Error> {
        if number.is_finite() {
            serializer.serialize_f64(*number)
        } else {
            Err(S::Error::custom(format_args!(
                "{number} is not a finite number"
            )))
        }
    }

    pub(crate) fn serialize_all<S: Serializer>(
        numbers: &BTreeMap<String, f64>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        match numbers.iter().find(|(_, number)| !number.is_finite()) {
            Some((name, number)) => Err(S::Error::custom(format_args!(
                "`{name}` is not a finite number: {number}"
            ))),
            None => numbers.serialize(serializer),
        }
    }

    #[expect(clippy::ref_option, reason = "serde passes fields by reference")]
    pub(crate) fn serialize_option<S: Serializer>(
        number: &Option<f64>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        match number {
            Some(number) => serialize(number, serializer),
            None => serializer.serialize_none(),
        }
    }
}

/// A list of named values as a JSON object that keeps the list's order.
pub(crate) mod in_order {
    use std::fmt;
    use std::marker::PhantomData;

    use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
    use serde::ser::{Serialize, Serializer};

    pub(crate) fn serialize<T: Serialize, S: Serializer>(
        entries: &[(String, T)],
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.collect_map(entries.iter().map(|(name, value)| (name, value)))
    }

    pub(crate) fn deserialize<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Vec<(String, T)>, D::Error> {
        deserializer.deserialize_map(Entries(PhantomData))
    }

    struct Entries<T>(PhantomData<T>);

    impl<'de, T: Deserialize<'de>> Visitor<'de> for Entries<T> {
        type Value = Vec<(String, T)>;

        fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
            formatter.write_str("an object of named values")
        }

        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
            let mut entries = Vec::with_capacity(map.size_hint().unwrap_or(0));
            while let Some(entry) = map.next_entry()? {
                entries.push(entry);
            }
            Ok(entries)
        }
    }
}
