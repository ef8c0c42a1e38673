//! Keys of providers: where they come from, and a type that shows them to nobody.
//! Deliberately no key store: an environment variable or a file of the user's is asked, and nothing is kept.

use std::fmt;
use std::fs;
use std::io;
use std::path::Path;

/// A key. It has no `Display`, its `Debug` shows nothing of it, and it is never serialised.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Takes a key, without the white space around it.
    pub fn new(key: &str) -> Self {
        Secret(key.trim().to_owned())
    }

    /// The key in a file, which holds nothing else.
    ///
    /// # Errors
    /// When the file cannot be read. What it holds is in no error.
    pub fn from_file(path: &Path) -> io::Result<Self> {
        fs::read_to_string(path).map(|key| Secret::new(&key))
    }

    /// Whether there is nothing in it.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The key itself, for the one header that it belongs in.
    pub(crate) fn reveal(&self) -> &str {
        &self.0
    }

    /// `text` with every occurrence of the key masked: some servers repeat it in their errors.
    pub(crate) fn mask(&self, text: &str) -> String {
        // A key of a few letters is none, and masking it would only garble the message.
        if self.0.len() < 8 {
            return text.to_owned();
        }
        text.replace(&self.0, "[key]")
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_shown_nowhere() {
        let key = Secret::new(" sk-test-1234567890 \n");
        assert_eq!(key.reveal(), "sk-test-1234567890");
        assert!(!format!("{key:?}").contains("1234"));
        assert_eq!(key.mask("bad key sk-test-1234567890."), "bad key [key].");
    }
}
