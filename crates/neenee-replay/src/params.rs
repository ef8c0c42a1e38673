//! Parameters of a policy as a user writes them: `key=value`, read once, every key accounted for.
//! Deliberately untyped until asked: which keys there are is each policy's own affair.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::str::FromStr;

/// What was set of a policy. A policy reads what it knows and then asks whether that was all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Params {
    values: BTreeMap<String, String>,
}

/// Parameters being read: what was asked for is known from then on.
#[derive(Debug)]
pub(crate) struct Reading<'p> {
    params: &'p Params,
    known: RefCell<BTreeSet<&'static str>>,
}

/// Why parameters do not fit a policy.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum ParamError {
    /// It is not `key=value`.
    #[error("expected key=value, found `{0}`")]
    Form(String),
    /// The value is of another kind.
    #[error("expected {expected} for `{key}`, found `{found}`")]
    Value {
        /// The key.
        key: String,
        /// What it takes.
        expected: &'static str,
        /// What was there.
        found: String,
    },
    /// The policy has no such key.
    #[error("no parameter `{key}`; there {}", known(.valid))]
    Key {
        /// The key.
        key: String,
        /// What there is.
        valid: Vec<&'static str>,
    },
    /// There is no such policy.
    #[error("no policy `{name}`; there are {}", .valid.join(", "))]
    Policy {
        /// The name.
        name: String,
        /// What there is.
        valid: Vec<&'static str>,
    },
}

fn known(valid: &[&str]) -> String {
    match valid {
        [] => "are none".to_owned(),
        valid => format!("are {}", valid.join(", ")),
    }
}

impl Params {
    /// Reads `key=value`; a later one of the same key wins.
    ///
    /// # Errors
    /// The first that has no `=` or no key.
    pub fn parse<T: AsRef<str>>(assignments: &[T]) -> Result<Self, ParamError> {
        let mut params = Params::default();
        for assignment in assignments {
            let assignment = assignment.as_ref();
            match assignment.split_once('=') {
                Some((key, value)) if !key.trim().is_empty() => {
                    params.set(key.trim(), value.trim());
                }
                _ => return Err(ParamError::Form(assignment.to_owned())),
            }
        }
        Ok(params)
    }

    /// Sets one.
    pub fn set(&mut self, key: &str, value: &str) {
        self.values.insert(key.to_owned(), value.to_owned());
    }

    /// Everything that is set, by key.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        let values = self.values.iter();
        values.map(|(key, value)| (key.as_str(), value.as_str()))
    }

    /// Begins to read them.
    pub(crate) fn read(&self) -> Reading<'_> {
        Reading {
            params: self,
            known: RefCell::default(),
        }
    }
}

impl Reading<'_> {
    /// A whole number, `_` between digits allowed.
    pub(crate) fn count(&self, key: &'static str, default: usize) -> Result<usize, ParamError> {
        self.get(key, default, "a whole number", |text| {
            text.replace('_', "").parse().ok()
        })
    }

    /// A number from 0 up.
    pub(crate) fn number(&self, key: &'static str, default: f64) -> Result<f64, ParamError> {
        self.get(key, default, "a number from 0 up", |text| {
            let number = f64::from_str(text).ok()?;
            (number.is_finite() && number >= 0.0).then_some(number)
        })
    }

    fn get<T>(
        &self,
        key: &'static str,
        default: T,
        expected: &'static str,
        parse: impl Fn(&str) -> Option<T>,
    ) -> Result<T, ParamError> {
        self.known.borrow_mut().insert(key);
        let Some(text) = self.params.values.get(key) else {
            return Ok(default);
        };
        parse(text).ok_or_else(|| ParamError::Value {
            key: key.to_owned(),
            expected,
            found: text.clone(),
        })
    }

    /// That nothing was set which nobody asked for.
    pub(crate) fn finish(&self) -> Result<(), ParamError> {
        let known = self.known.borrow();
        match self
            .params
            .values
            .keys()
            .find(|key| !known.contains(key.as_str()))
        {
            None => Ok(()),
            Some(key) => Err(ParamError::Key {
                key: key.clone(),
                valid: known.iter().copied().collect(),
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_set_is_read_and_what_nobody_knows_is_told() {
        let params = Params::parse(&["keep=5", "trigger = 100_000", "fraction=0.5"]).unwrap();
        let params = params.read();
        assert_eq!(params.count("keep", 3), Ok(5));
        assert_eq!(params.count("trigger", 1), Ok(100_000));
        let error = params.finish().unwrap_err().to_string();
        assert_eq!(error, "no parameter `fraction`; there are keep, trigger");
        assert_eq!(params.number("fraction", 0.0), Ok(0.5));
        assert_eq!(params.finish(), Ok(()));
    }

    #[test]
    fn nonsense_is_refused() {
        assert!(Params::parse(&["keep"]).is_err());
        assert!(Params::parse(&["=3"]).is_err());
        let params = Params::parse(&["keep=-1", "x=nan"]).unwrap();
        let params = params.read();
        let error = params.count("keep", 3).unwrap_err().to_string();
        assert_eq!(error, "expected a whole number for `keep`, found `-1`");
        assert!(params.number("x", 1.0).is_err());
    }
}
