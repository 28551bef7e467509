//! Whether a vector has a direction, which cosine needs.

use thiserror::Error;

/// Why a vector has no direction.
#[derive(Clone, Copy, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum NoDirection {
    /// A component is infinite or not a number.
    #[error("component {component} of its vector is `{value}`")]
    NotFinite {
        /// Number of the component, from 0.
        component: usize,
        /// Its value.
        value: f32,
    },
    /// All components are zero.
    #[error("all {dimension} components of its vector are zero")]
    Zero {
        /// Length of the vector.
        dimension: usize,
    },
    /// The components are finite, but the sum of their squares overflows 32-bit floats, or is below the normal ones.
    #[error("its vector has the length {length:.1e}, whose square is beyond 32-bit numbers")]
    Length {
        /// The root of the sum of the squares.
        length: f64,
    },
}

/// Checks that a vector can be compared with others by cosine, in the 32-bit floats that indexes compute with.
///
/// A vector whose squared length overflows or vanishes in these has no cosine with any other, and a search never finds it.
///
/// ```
/// use evals_models::check_direction;
///
/// assert!(check_direction(&[0.0, -2.0]).is_ok());
/// assert!(check_direction(&[0.0, 0.0]).is_err());
/// assert!(check_direction(&[3e20, 4e20]).is_err());
/// ```
pub fn check_direction(vector: &[f32]) -> Result<(), NoDirection> {
    if let Some(component) = vector.iter().position(|value| !value.is_finite()) {
        let value = vector[component];
        return Err(NoDirection::NotFinite { component, value });
    }
    if vector.iter().all(|value| *value == 0.0) {
        let dimension = vector.len();
        return Err(NoDirection::Zero { dimension });
    }
    let squares = vector.iter().map(|value| f64::from(*value).powi(2));
    let square: f64 = squares.sum();
    if (f64::from(f32::MIN_POSITIVE)..=f64::from(f32::MAX)).contains(&square) {
        return Ok(());
    }
    let length = square.sqrt();
    Err(NoDirection::Length { length })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vectors_need_a_direction() {
        let message = |vector: &[f32]| check_direction(vector).unwrap_err().to_string();
        assert_eq!(check_direction(&[0.0, 0.5]), Ok(()));
        assert_eq!(
            message(&[0.0, -0.0]),
            "all 2 components of its vector are zero"
        );
        assert_eq!(message(&[]), "all 0 components of its vector are zero");
        assert_eq!(
            message(&[0.0, f32::NAN]),
            "component 1 of its vector is `NaN`"
        );
        assert_eq!(
            message(&[f32::NEG_INFINITY, 1.0]),
            "component 0 of its vector is `-inf`"
        );
        let beyond = "whose square is beyond 32-bit numbers";
        assert_eq!(
            message(&[3e20, 4e20]),
            format!("its vector has the length 5.0e20, {beyond}")
        );
        assert!(message(&[1e-25; 384]).ends_with(beyond));
        assert!(message(&[f32::from_bits(1)]).ends_with(beyond));
    }

    #[test]
    fn vectors_whose_squared_length_is_normal_have_a_direction() {
        for value in [1e19, -1e19, 1.1e-19, 1.0] {
            assert_eq!(check_direction(&[value]), Ok(()), "{value}");
        }
        for value in [2e19, 1.0e-19] {
            assert!(check_direction(&[value]).is_err(), "{value}");
        }
        // Each square is finite, and their sum is not.
        assert_eq!(check_direction(&[1.5e19]), Ok(()));
        assert!(check_direction(&[1.5e19; 2]).is_err());
    }
}
