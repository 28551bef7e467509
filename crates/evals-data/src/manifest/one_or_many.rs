//! One value or a list of values.

use std::fmt;
use std::marker::PhantomData;

use serde::de::value::SeqAccessDeserializer;
use serde::de::{IntoDeserializer, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};

/// Reads either one value or a list of values into a list.
///
/// This is a hand-written visitor because an untagged enum would lose the line of an error inside it.
pub(crate) fn one_or_many<'de, D, T>(deserializer: D) -> Result<Vec<T>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    deserializer.deserialize_any(OneOrMany(PhantomData))
}

struct OneOrMany<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for OneOrMany<T> {
    type Value = Vec<T>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("one value or a list of values")
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Vec<T>, E> {
        Ok(vec![T::deserialize(text.into_deserializer())?])
    }

    fn visit_bool<E: serde::de::Error>(self, value: bool) -> Result<Vec<T>, E> {
        Ok(vec![T::deserialize(value.into_deserializer())?])
    }

    fn visit_i64<E: serde::de::Error>(self, value: i64) -> Result<Vec<T>, E> {
        Ok(vec![T::deserialize(value.into_deserializer())?])
    }

    fn visit_u64<E: serde::de::Error>(self, value: u64) -> Result<Vec<T>, E> {
        Ok(vec![T::deserialize(value.into_deserializer())?])
    }

    fn visit_f64<E: serde::de::Error>(self, value: f64) -> Result<Vec<T>, E> {
        Ok(vec![T::deserialize(value.into_deserializer())?])
    }

    fn visit_seq<A: SeqAccess<'de>>(self, sequence: A) -> Result<Vec<T>, A::Error> {
        Vec::deserialize(SeqAccessDeserializer::new(sequence))
    }
}
