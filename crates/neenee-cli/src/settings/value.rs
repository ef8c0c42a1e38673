//! Values of settings: their kinds, and how each is read from TOML or from a bare text.
//! Deliberately no names and no places; an error here says only what was expected and what was found.

use std::fmt;

use toml::de::DeValue;

/// A value of a setting.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Value {
    /// On or off.
    Switch(bool),
    /// A whole number.
    Count(usize),
    /// Between 0 and 1.
    Fraction(f64),
    /// A text.
    Text(String),
    /// Several texts.
    List(Vec<String>),
}

/// What values a key takes.
#[derive(Debug)]
pub(crate) enum Kind {
    /// `true` or `false`.
    Switch,
    /// A whole number.
    Count {
        /// The smallest one that makes sense.
        least: usize,
    },
    /// A number between 0 and 1.
    Fraction,
    /// Any text but an empty one.
    Text,
    /// One of these.
    Choice(&'static [&'static str]),
    /// A list of globs.
    Globs,
    /// A list of names with addresses.
    Upstreams,
}

impl Kind {
    /// Reads a value of a TOML file.
    pub(crate) fn read(&self, value: &DeValue<'_>) -> Result<Value, String> {
        match (self, value) {
            (Kind::Switch, DeValue::Boolean(on)) => Ok(Value::Switch(*on)),
            (Kind::Count { least }, DeValue::Integer(number)) => {
                let digits = number.as_str().replace('_', "");
                usize::from_str_radix(digits.trim_start_matches('+'), number.radix())
                    .ok()
                    .filter(|count| count >= least)
                    .map(Value::Count)
                    .ok_or_else(|| self.refuse(&format!("{number}")))
            }
            (Kind::Fraction, DeValue::Integer(_) | DeValue::Float(_)) => {
                let text = match value {
                    DeValue::Integer(number) => number.as_str(),
                    DeValue::Float(number) => number.as_str(),
                    _ => "",
                };
                text.replace('_', "")
                    .parse()
                    .ok()
                    .filter(|fraction| (0.0..=1.0).contains(fraction))
                    .map(Value::Fraction)
                    .ok_or_else(|| self.refuse(text))
            }
            (Kind::Text | Kind::Choice(_), DeValue::String(text)) => self.word(text),
            (Kind::Globs | Kind::Upstreams, DeValue::Array(items)) => items
                .iter()
                .map(|item| match item.get_ref() {
                    DeValue::String(text) => Ok(text.clone().into_owned()),
                    other => Err(self.refuse(&format!("{} in it", a(other)))),
                })
                .collect::<Result<_, _>>()
                .map(Value::List),
            _ => Err(self.refuse(a(value))),
        }
    }

    /// Reads a bare text: of the environment or a flag. Lists are divided by commas, or TOML.
    pub(crate) fn read_text(&self, text: &str) -> Result<Value, String> {
        let text = text.trim();
        match self {
            Kind::Text | Kind::Choice(_) => self.word(text),
            Kind::Globs | Kind::Upstreams if !text.starts_with('[') => Ok(Value::List(
                text.split(',')
                    .map(str::trim)
                    .filter(|glob| !glob.is_empty())
                    .map(str::to_owned)
                    .collect(),
            )),
            _ => match DeValue::parse(text) {
                Ok(value) => self.read(value.get_ref()),
                Err(_) => Err(self.refuse(&format!("`{text}`"))),
            },
        }
    }

    fn word(&self, text: &str) -> Result<Value, String> {
        let fits = match self {
            Kind::Choice(words) => words.contains(&text),
            _ => !text.is_empty(),
        };
        if fits {
            Ok(Value::Text(text.to_owned()))
        } else {
            Err(self.refuse(&format!("`{text}`")))
        }
    }

    fn refuse(&self, found: &str) -> String {
        let expected = match self {
            Kind::Switch => "true or false".to_owned(),
            Kind::Count { least: 0 } => "a whole number".to_owned(),
            Kind::Count { least } => format!("a whole number from {least} up"),
            Kind::Fraction => "a number between 0 and 1".to_owned(),
            Kind::Text => "a text".to_owned(),
            Kind::Choice(words) => format!("one of {}", words.join(", ")),
            Kind::Globs => "a list of globs, such as [\"todo*\"]".to_owned(),
            Kind::Upstreams => "a list of NAME=URL".to_owned(),
        };
        format!("expected {expected}, found {found}")
    }
}

/// As TOML writes it.
impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Switch(on) => write!(f, "{on}"),
            Value::Count(count) => write!(f, "{count}"),
            Value::Fraction(fraction) => write!(f, "{fraction:?}"),
            Value::Text(text) => write!(f, "{}", toml::Value::from(text.as_str())),
            Value::List(texts) => write!(f, "{}", toml::Value::from(texts.clone())),
        }
    }
}

/// A value's kind with its article, for people.
fn a(value: &DeValue<'_>) -> &'static str {
    match value {
        DeValue::String(_) => "a text",
        DeValue::Integer(_) => "a whole number",
        DeValue::Float(_) => "a number with a fraction",
        DeValue::Boolean(true) => "true",
        DeValue::Boolean(false) => "false",
        DeValue::Datetime(_) => "a date",
        DeValue::Array(_) => "a list",
        DeValue::Table(_) => "a table",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_read_by_kind() {
        let least = Kind::Count { least: 1 };
        for (kind, text, expected) in [
            (&Kind::Switch, "true", Some(Value::Switch(true))),
            (&Kind::Switch, "yes", None),
            (&least, "6_000", Some(Value::Count(6_000))),
            (&least, "0x10", Some(Value::Count(16))),
            (&least, "0", None),
            (&least, "-1", None),
            (&least, "1.5", None),
            (&Kind::Fraction, "0.65", Some(Value::Fraction(0.65))),
            (&Kind::Fraction, "1", Some(Value::Fraction(1.0))),
            (&Kind::Fraction, "1.01", None),
            (&Kind::Fraction, "nan", None),
            (&Kind::Text, "", None),
            (
                &Kind::Globs,
                "a*, b",
                Some(Value::List(vec!["a*".into(), "b".into()])),
            ),
            (&Kind::Globs, "[]", Some(Value::List(vec![]))),
            (
                &Kind::Globs,
                "['{a,b}*']",
                Some(Value::List(vec!["{a,b}*".into()])),
            ),
            (&Kind::Globs, "[1]", None),
        ] {
            assert_eq!(kind.read_text(text).ok(), expected, "{text}");
        }
    }
}
