//! Where sessions are kept: a folder with SQLite in it, or a PostgreSQL database.
//! Deliberately blind to the environment: the binary reads variables and hands the text in.

use std::fmt;
use std::path::PathBuf;

/// A place for sessions.
#[derive(Clone, PartialEq, Eq)]
pub enum Location {
    /// A folder; SQLite.
    Folder(PathBuf),
    /// The address of a PostgreSQL database, password included.
    Postgres(String),
}

impl Location {
    /// Reads `postgres://…`, `postgresql://…`, or a path.
    pub fn parse(text: &str) -> Self {
        if text.starts_with("postgres://") || text.starts_with("postgresql://") {
            Location::Postgres(text.to_owned())
        } else {
            Location::Folder(PathBuf::from(text))
        }
    }
}

/// Never with a password.
impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Location::Folder(folder) => write!(f, "{}", folder.display()),
            Location::Postgres(address) => f.write_str(&without_secrets(address)),
        }
    }
}

impl fmt::Debug for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

/// The address with neither password nor parameters, which may hold one.
pub(crate) fn without_secrets(address: &str) -> String {
    let (scheme, rest) = address.split_once("://").unwrap_or(("postgres", address));
    let rest = rest.split(['?', '#']).next().unwrap_or(rest);
    // The last @ ends the user's part, since an unescaped one in a password is a common slip.
    let (user, host) = rest.rsplit_once('@').unwrap_or(("", rest));
    let user = user.split(':').next().unwrap_or(user);
    if user.is_empty() {
        format!("{scheme}://{host}")
    } else {
        format!("{scheme}://{user}@{host}")
    }
}

#[cfg(test)]
mod tests {
    use super::Location;

    #[test]
    fn an_address_is_shown_without_what_must_stay_secret() {
        for (given, shown) in [
            ("postgres://u:p@h:5432/d", "postgres://u@h:5432/d"),
            ("postgresql://u:p@ss/w@h/d", "postgresql://u@h/d"),
            ("postgres://h/d?password=p&user=u", "postgres://h/d"),
            ("postgres://u@h/d#p", "postgres://u@h/d"),
        ] {
            assert_eq!(Location::parse(given).to_string(), shown, "{given}");
        }
    }

    #[test]
    fn anything_else_is_a_folder() {
        for path in ["/var/lib/x", "sessions", r"C:\sessions", "mysql://h/d"] {
            assert!(
                matches!(Location::parse(path), Location::Folder(_)),
                "{path}"
            );
        }
    }
}
