//! Python literals and constructor calls, which is how genai-prices writes its data down.
//! Deliberately not Python: no names are looked up and nothing is run.

use anyhow::{Context as _, bail};

/// A value as written.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Value {
    /// `'text'`, adjacent ones joined.
    Text(String),
    /// A number, or the text in a `Decimal('…')`.
    Number(f64),
    /// A name that is not called: `None`, `True`.
    Name(String),
    /// `[…]` and `(…)`.
    List(Vec<Value>),
    /// `{…}`.
    Dict(Vec<(Value, Value)>),
    /// `Name(…)`, with its named arguments; others have no name.
    Call(String, Vec<(String, Value)>),
}

impl Value {
    /// The items of a list; none of anything else.
    pub(super) fn items(&self) -> &[Value] {
        match self {
            Value::List(items) => items,
            _ => &[],
        }
    }

    /// What is called.
    pub(super) fn callee(&self) -> &str {
        match self {
            Value::Call(name, _) => name,
            _ => "",
        }
    }

    /// The argument of that name.
    pub(super) fn get(&self, name: &str) -> Option<&Value> {
        match self {
            Value::Call(_, arguments) => arguments
                .iter()
                .find(|(key, _)| key == name)
                .map(|(_, value)| value),
            _ => None,
        }
    }

    /// The text of a string.
    pub(super) fn text(&self) -> Option<&str> {
        match self {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The number, or that of `Decimal('…')`.
    pub(super) fn number(&self) -> Option<f64> {
        match self {
            Value::Number(number) => Some(*number),
            Value::Call(name, arguments) if name == "Decimal" => {
                arguments.first()?.1.text()?.parse().ok()
            }
            _ => None,
        }
    }
}

/// Reads one value from the start of `text`.
pub(super) fn parse(text: &str) -> anyhow::Result<Value> {
    let mut reader = Reader { text, at: 0 };
    reader.value().with_context(|| {
        let line = text[..reader.at].matches('\n').count() + 1;
        format!("failed to read Python data at line {line} of the value")
    })
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
}

impl Reader<'_> {
    fn value(&mut self) -> anyhow::Result<Value> {
        match self.peek() {
            Some('\'' | '"') => {
                let mut text = String::new();
                while matches!(self.peek(), Some('\'' | '"')) {
                    text.push_str(&self.string()?);
                }
                Ok(Value::Text(text))
            }
            Some('[') => Ok(Value::List(self.sequence(']')?)),
            Some('(') => Ok(Value::List(self.sequence(')')?)),
            Some('{') => self.dict(),
            Some(first) if first.is_ascii_digit() || first == '-' => {
                let word = self.word();
                let number = word.replace('_', "").parse();
                Ok(Value::Number(
                    number.with_context(|| format!("{word} is no number"))?,
                ))
            }
            Some(first) if first.is_alphabetic() || first == '_' => self.name(),
            other => bail!("expected a value, found {other:?}"),
        }
    }

    fn name(&mut self) -> anyhow::Result<Value> {
        let name = self.word().to_owned();
        if self.peek() != Some('(') {
            return Ok(Value::Name(name));
        }
        self.at += 1;
        let mut arguments = Vec::new();
        while !self.take(')') {
            let mark = self.at;
            let key = self.word().to_owned();
            let named = !key.is_empty() && self.take('=');
            if !named {
                self.at = mark;
            }
            let value = self.value()?;
            arguments.push((if named { key } else { String::new() }, value));
            if !self.take(',') && self.peek() != Some(')') {
                bail!("expected `,` or `)` in the call of {name}");
            }
        }
        Ok(Value::Call(name, arguments))
    }

    fn sequence(&mut self, close: char) -> anyhow::Result<Vec<Value>> {
        self.at += 1;
        let mut items = Vec::new();
        while !self.take(close) {
            items.push(self.value()?);
            if !self.take(',') && self.peek() != Some(close) {
                bail!("expected `,` or `{close}`");
            }
        }
        Ok(items)
    }

    fn dict(&mut self) -> anyhow::Result<Value> {
        self.at += 1;
        let mut items = Vec::new();
        while !self.take('}') {
            let key = self.value()?;
            if !self.take(':') {
                bail!("expected `:`");
            }
            items.push((key, self.value()?));
            if !self.take(',') && self.peek() != Some('}') {
                bail!("expected `,` or `}}`");
            }
        }
        Ok(Value::Dict(items))
    }

    fn string(&mut self) -> anyhow::Result<String> {
        let quote = self.peek().context("expected a string")?;
        self.at += 1;
        let mut text = String::new();
        let mut characters = self.text[self.at..].char_indices();
        while let Some((offset, character)) = characters.next() {
            match character {
                '\\' => match characters.next() {
                    Some((_, 'n')) => text.push('\n'),
                    Some((_, 't')) => text.push('\t'),
                    // Other escapes stand for themselves here; none of them is in what is compared.
                    Some((_, other)) => text.push(other),
                    None => bail!("a string does not end"),
                },
                _ if character == quote => {
                    self.at += offset + 1;
                    return Ok(text);
                }
                _ => text.push(character),
            }
        }
        bail!("a string does not end")
    }

    /// Letters, digits, `_`, `.` and a leading `-`, after blanks.
    fn word(&mut self) -> &str {
        self.peek();
        let rest = &self.text[self.at..];
        let end = rest
            .char_indices()
            .find(|(offset, character)| {
                let sign = *offset == 0 && *character == '-';
                !(sign || character.is_alphanumeric() || matches!(character, '_' | '.'))
            })
            .map_or(rest.len(), |(offset, _)| offset);
        self.at += end;
        &rest[..end]
    }

    fn take(&mut self, wanted: char) -> bool {
        let found = self.peek() == Some(wanted);
        if found {
            self.at += wanted.len_utf8();
        }
        found
    }

    /// The next character after blanks, not taken.
    fn peek(&mut self) -> Option<char> {
        let rest = &self.text[self.at..];
        self.at += rest.len() - rest.trim_start().len();
        self.text[self.at..].chars().next()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_lists_and_strings_are_read() {
        let value = parse(
            "[Model(id='a\\'b' \"c\", 7, prices=Price(x=Decimal('0.25'), y=None), d={'k': (1, -2.5)},)] + 1",
        )
        .unwrap();
        let model = &value.items()[0];
        assert_eq!(model.callee(), "Model");
        assert_eq!(model.get("id").and_then(Value::text), Some("a'bc"));
        let prices = model.get("prices").unwrap();
        assert_eq!(prices.get("x").and_then(Value::number), Some(0.25));
        assert_eq!(prices.get("y"), Some(&Value::Name("None".to_owned())));
        let pair = Value::List(vec![Value::Number(1.0), Value::Number(-2.5)]);
        let dict = Value::Dict(vec![(Value::Text("k".to_owned()), pair)]);
        assert_eq!(model.get("d"), Some(&dict));
    }

    #[test]
    fn what_is_not_a_value_is_refused() {
        for text in ["", "[1 2]", "f(a=", "'open", "{1}", "+"] {
            assert!(parse(text).is_err(), "{text}");
        }
    }
}
