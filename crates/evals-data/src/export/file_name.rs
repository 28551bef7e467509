//! Names of files for documents, safe on every file system.

/// Most characters of an id in a name.
const LONGEST: usize = 60;

/// The name of the file of the `number`th document: `000007-some-id.txt`.
///
/// The number makes it unique, also where letters of both cases are the same and where long names are cut, and it keeps the order of the
/// documents. It also keeps the name from being one that Windows reserves. Of the id remain lower-case ASCII letters and digits.
pub(super) fn of(number: u64, id: &str) -> String {
    let mut slug = String::new();
    for character in id.chars() {
        if slug.len() == LONGEST {
            break;
        }
        if character.is_ascii_alphanumeric() {
            slug.push(character.to_ascii_lowercase());
        } else if !slug.ends_with('-') && !slug.is_empty() {
            slug.push('-');
        }
    }
    match slug.trim_end_matches('-') {
        "" => format!("{number:06}.txt"),
        slug => format!("{number:06}-{slug}.txt"),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_name_shows_the_id_and_nothing_else_of_it() {
        assert_eq!(
            of(1, "guides/Reset password.md"),
            "000001-guides-reset-password-md.txt"
        );
        assert_eq!(of(2, "../../etc/passwd"), "000002-etc-passwd.txt");
        assert_eq!(of(3, "C:\\CON"), "000003-c-con.txt");
        assert_eq!(of(4, "東京"), "000004.txt");
        assert_eq!(of(1_234_567, ""), "1234567.txt");
    }

    proptest! {
        #[test]
        fn names_are_safe_and_of_different_numbers_different(id in any::<String>(), other in any::<String>()) {
            let name = of(1, &id);
            let is_safe = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-' || byte == b'.';
            prop_assert!(name.bytes().all(is_safe) && name.len() <= 75);
            prop_assert!(name != of(2, &other) && name != of(10, &other));
        }
    }
}
