//! Values of PostgreSQL: the vector of a question as a parameter, and the cells of a row.

use std::error::Error;
use std::fmt::Write as _;

use bytes::BytesMut;
use tokio_postgres::types::{Format, FromSql, IsNull, Kind, ToSql, Type, to_sql_checked};

/// A vector, sent as text, so that the server reads it as whichever type its parameter has.
#[derive(Debug)]
pub(super) struct SqlVector<'v>(pub(super) &'v [f32]);

impl SqlVector<'_> {
    /// Whether a parameter of this type can be a vector: a type of pgvector with a dimension for each number, or an array.
    pub(super) fn fits(kind: &Type) -> bool {
        let is_array = matches!(kind.kind(), Kind::Array(element) if is_number(element));
        is_array || matches!(kind.name(), "vector" | "halfvec" | "text")
    }
}

impl ToSql for SqlVector<'_> {
    fn to_sql(
        &self,
        kind: &Type,
        out: &mut BytesMut,
    ) -> Result<IsNull, Box<dyn Error + Sync + Send>> {
        let is_array = matches!(kind.kind(), Kind::Array(_));
        let (open, close) = if is_array { ('{', '}') } else { ('[', ']') };
        out.write_char(open)?;
        for (index, value) in self.0.iter().enumerate() {
            let separator = if index > 0 { "," } else { "" };
            write!(out, "{separator}{value}")?;
        }
        out.write_char(close)?;
        Ok(IsNull::No)
    }

    fn accepts(_: &Type) -> bool {
        true
    }

    fn encode_format(&self, _: &Type) -> Format {
        Format::Text
    }

    to_sql_checked!();
}

/// A cell of a row, as the server sent it.
#[derive(Debug)]
pub(super) struct Cell<'r> {
    kind: Type,
    bytes: &'r [u8],
}

impl<'r> FromSql<'r> for Cell<'r> {
    fn from_sql(kind: &Type, bytes: &'r [u8]) -> Result<Self, Box<dyn Error + Sync + Send>> {
        let kind = kind.clone();
        Ok(Self { kind, bytes })
    }

    fn accepts(_: &Type) -> bool {
        true
    }
}

/// Whether [`Cell::word`] reads cells of this type.
pub(super) fn is_word(kind: &Type) -> bool {
    is_text(kind) || matches!(*kind, Type::INT2 | Type::INT4 | Type::INT8 | Type::UUID)
}

/// Whether [`Cell::number`] reads cells of this type.
pub(super) fn is_number(kind: &Type) -> bool {
    matches!(
        *kind,
        Type::INT2 | Type::INT4 | Type::INT8 | Type::FLOAT4 | Type::FLOAT8 | Type::NUMERIC
    )
}

pub(super) fn is_text(kind: &Type) -> bool {
    matches!(
        *kind,
        Type::TEXT | Type::VARCHAR | Type::BPCHAR | Type::NAME | Type::UNKNOWN
    )
}

impl Cell<'_> {
    /// An id or a text. `None` if the server sent anything but its type.
    pub(super) fn word(&self) -> Option<String> {
        match self.kind {
            Type::INT2 | Type::INT4 | Type::INT8 => self.whole().map(|it| it.to_string()),
            Type::UUID => {
                let digits = u128::from_be_bytes(self.bytes.try_into().ok()?);
                let digits = format!("{digits:032x}");
                let groups = [0..8, 8..12, 12..16, 16..20, 20..32].map(|group| &digits[group]);
                Some(groups.join("-"))
            }
            _ => std::str::from_utf8(self.bytes).ok().map(str::to_owned),
        }
    }

    /// A number, which may be NaN. `None` if the server sent anything but its type.
    pub(super) fn number(&self) -> Option<f64> {
        match self.kind {
            Type::FLOAT4 => Some(f32::from_be_bytes(self.bytes.try_into().ok()?).into()),
            Type::FLOAT8 => Some(f64::from_be_bytes(self.bytes.try_into().ok()?)),
            Type::NUMERIC => numeric(self.bytes),
            #[expect(clippy::cast_precision_loss, reason = "scores are far below 2^53")]
            _ => self.whole().map(|it| it as f64),
        }
    }

    fn whole(&self) -> Option<i64> {
        match self.bytes.len() {
            2 => Some(i16::from_be_bytes(self.bytes.try_into().ok()?).into()),
            4 => Some(i32::from_be_bytes(self.bytes.try_into().ok()?).into()),
            _ => Some(i64::from_be_bytes(self.bytes.try_into().ok()?)),
        }
    }
}

/// A `numeric`: digits to the base 10,000, the weight of the first one, and the sign, as `numeric_send` of PostgreSQL writes them
/// (src/backend/utils/adt/numeric.c).
fn numeric(bytes: &[u8]) -> Option<f64> {
    let word = |index: usize| {
        let pair = bytes.get(index * 2..index * 2 + 2)?;
        Some(i16::from_be_bytes(pair.try_into().ok()?))
    };
    let (count, weight) = (usize::try_from(word(0)?).ok()?, word(1)?);
    let sign = match word(2)?.cast_unsigned() {
        0x0000 => 1.0,
        0x4000 => -1.0,
        0xD000 => return Some(f64::INFINITY),
        0xF000 => return Some(f64::NEG_INFINITY),
        _ => return Some(f64::NAN),
    };
    // Written out and read, it is rounded once.
    let mut digits = String::from("0");
    for index in 0..count {
        _ = write!(digits, "{:04}", word(4 + index)?);
    }
    let last = i32::try_from(count).ok()? - 1;
    let exponent = 4 * (i32::from(weight) - last);
    let value: f64 = format!("{digits}e{exponent}").parse().ok()?;
    Some(sign * value)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(kind: Type, bytes: &[u8]) -> Option<f64> {
        Cell { kind, bytes }.number()
    }

    #[test]
    fn numerics_are_read_as_the_server_writes_them() {
        // What `SELECT numeric_send(…)` of PostgreSQL 16 prints.
        for (written, value) in [
            ("0000000000000000", 0.0),
            ("00010000000000000001", 1.0),
            ("0002ffff0000000900a40d17", 0.016_433_51),
            ("000200004000000100011388", -1.5),
            ("0001000100000000000c", 120_000.0),
            (
                "0005ffff00000014014a177a2449181e21ba",
                1.0 / 60.0 + 1.0 / 61.0,
            ),
            ("00000000d0000020", f64::INFINITY),
        ] {
            let bytes = hex(written);
            assert_eq!(number(Type::NUMERIC, &bytes), Some(value), "{written}");
        }
        assert!(
            number(Type::NUMERIC, &hex("00000000c0000000"))
                .unwrap()
                .is_nan()
        );
        assert_eq!(number(Type::NUMERIC, &[0, 3, 0, 0]), None);
    }

    fn hex(text: &str) -> Vec<u8> {
        let digits: Vec<u8> = text
            .chars()
            .filter_map(|it| it.to_digit(16))
            .map(|it| u8::try_from(it).unwrap())
            .collect();
        digits
            .chunks(2)
            .map(|pair| pair[0] * 16 + pair[1])
            .collect()
    }

    #[test]
    fn words_are_texts_whole_numbers_and_uuids() {
        let word = |kind: Type, bytes: &[u8]| Cell { kind, bytes }.word();
        assert_eq!(word(Type::TEXT, b"doc-1").as_deref(), Some("doc-1"));
        assert_eq!(
            word(Type::INT4, &[255, 255, 255, 254]).as_deref(),
            Some("-2")
        );
        let uuid: Vec<u8> = (0..16).collect();
        let expected = "00010203-0405-0607-0809-0a0b0c0d0e0f";
        assert_eq!(word(Type::UUID, &uuid).as_deref(), Some(expected));
        assert_eq!(word(Type::UUID, &[1]), None);
        assert_eq!(number(Type::FLOAT4, &0.25_f32.to_be_bytes()), Some(0.25));
    }

    #[test]
    fn a_vector_is_text_of_its_parameter() {
        let text = |kind: &Type| {
            let mut out = BytesMut::new();
            SqlVector(&[0.1, -2.0, 1e-9])
                .to_sql(kind, &mut out)
                .unwrap();
            String::from_utf8(out.to_vec()).unwrap()
        };
        assert_eq!(text(&Type::TEXT), "[0.1,-2,0.000000001]");
        assert_eq!(text(&Type::FLOAT4_ARRAY), "{0.1,-2,0.000000001}");
        assert!(SqlVector::fits(&Type::FLOAT8_ARRAY));
        assert!(!SqlVector::fits(&Type::INT4));
    }
}
