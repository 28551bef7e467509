//! Addresses of PostgreSQL, which may have a password only as an environment variable.

use evals_messages::credential::is_credential;

use super::Written;

/// The variable of the password, if the address names none.
const USUAL: &str = "PGPASSWORD";

/// `postgres://USER:${NAME}@HOST:PORT/DATABASE?OPTIONS`, in parts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PostgresAddress {
    /// The address without the password.
    pub shown: String,
    /// The environment variable that holds the password, and whether it has to be set.
    pub password: (String, bool),
}

impl PostgresAddress {
    /// Reads an address.
    ///
    /// # Errors
    ///
    /// It has a password, or another credential, that is written out. The message does not repeat it.
    pub fn parse(written: &str) -> Result<Self, String> {
        let (_, rest) = written.split_once("//").unwrap_or(("", written));
        let end = rest.find(['/', '?']).unwrap_or(rest.len());
        // A password that is written out may have a slash in it.
        let is_split = rest[end..]
            .split('?')
            .next()
            .is_some_and(|path| path.contains('@'));
        let (authority, path) = rest.split_at(end);
        let (user, host) = match authority.rsplit_once('@') {
            Some((user, host)) => (Some(user), host),
            None => (None, authority),
        };
        let credential = "may not hold a password; write the name of an environment variable, as in `postgres://me:${NAME}@host/database`, or \
            set `PGPASSWORD`";
        let (user, password) = match user.map(|it| it.split_once(':').unwrap_or((it, ""))) {
            None if is_split => return Err(credential.to_owned()),
            None => (None, ""),
            Some((user, password)) => (Some(user), password),
        };
        let variable = match password {
            "" => (USUAL.to_owned(), false),
            password => match Written::parse(password).map(|it| it.lone_variable()) {
                Ok(Some(name)) => (name, true),
                _ => return Err(credential.to_owned()),
            },
        };
        let query = path.split_once('?').map_or("", |(_, query)| query);
        let mut names = query
            .split('&')
            .map(|pair| pair.split('=').next().unwrap_or(pair));
        if names.any(is_credential) {
            return Err(credential.to_owned());
        }
        if written.contains(char::is_whitespace) {
            return Err("is not a URL".to_owned());
        }
        let user = user.map_or_else(String::new, |user| format!("{user}@"));
        Ok(Self {
            shown: format!("postgres://{user}{host}{path}"),
            password: variable,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_is_an_environment_variable() {
        for (written, shown, variable) in [
            ("postgres://localhost", "postgres://localhost", None),
            (
                "postgresql://me@h:5433/news?sslmode=require",
                "postgres://me@h:5433/news?sslmode=require",
                None,
            ),
            (
                "postgres://me:${DB_SECRET}@h/news",
                "postgres://me@h/news",
                Some("DB_SECRET"),
            ),
            (
                "postgres://me@/news?host=/tmp/pg@1",
                "postgres://me@/news?host=/tmp/pg@1",
                None,
            ),
        ] {
            let address = PostgresAddress::parse(written).unwrap();
            let usual = (USUAL.to_owned(), false);
            let expected = variable.map_or(usual, |name| (name.to_owned(), true));
            assert_eq!(address.shown, shown);
            assert_eq!(address.password, expected);
        }
        for written in [
            "postgres://me:secret@h/news",
            "postgres://me:se/cret@h/news",
            "postgres://me:x${DB_SECRET}@h/news",
            "postgres://h/news?password=secret",
        ] {
            let message = PostgresAddress::parse(written).unwrap_err();
            assert!(message.starts_with("may not hold a password"), "{message}");
            assert!(!message.contains("cret"), "{message}");
        }
    }
}
