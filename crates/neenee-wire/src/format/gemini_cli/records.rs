//! The messages of a chat as the last update left them.
//! Deliberately reads no message; that is the reader's.

use std::borrow::Cow;
use std::collections::HashMap;

use crate::error::Fault;
use crate::json::Value;
use crate::source::Source;

pub(super) struct Records<'t, 'a> {
    pub(super) messages: Vec<Value<'t, 'a>>,
    /// What else the file holds: what it is, and its bytes.
    pub(super) outside: Vec<(&'static str, usize)>,
}

/// Messages in order, each known by its id: a later record of one replaces the earlier.
#[derive(Default)]
struct List<'t, 'a> {
    messages: Vec<Value<'t, 'a>>,
    places: HashMap<Cow<'a, str>, usize>,
    /// Bytes of each record that a later one took the place of.
    replaced: Vec<usize>,
}

pub(super) fn of<'t, 'a>(source: &'t Source<'a>) -> Result<Records<'t, 'a>, Fault> {
    let mut list = List::default();
    let mut any = false;
    for value in source.values() {
        let [update, messages, session, back, id] =
            value.fields(["$set", "messages", "sessionId", "$rewindTo", "id"]);
        any |= session.is_some();
        if let Some(messages) = update
            .and_then(|update| update.get("messages"))
            .or(messages)
        {
            list.replace_all(messages.want_array("the messages of a chat, which are an array")?);
        } else if let Some(id) = back.and_then(Value::decode) {
            list.rewind(&id);
        } else if id.is_some() && value.get("type").is_some() {
            list.add(value);
        }
    }
    if !any {
        return Err(Fault::shape(
            0,
            "a chat with `sessionId` and `projectHash`, as Gemini CLI writes it",
        ));
    }
    let replaced = list.replaced.into_iter();
    Ok(Records {
        messages: list.messages,
        outside: replaced.map(|bytes| ("replaced records", bytes)).collect(),
    })
}

impl<'t, 'a> List<'t, 'a> {
    fn add(&mut self, message: Value<'t, 'a>) {
        let Some(id) = message.get("id").and_then(Value::decode) else {
            self.messages.push(message);
            return;
        };
        match self.places.get(&id) {
            Some(&place) => {
                let before = std::mem::replace(&mut self.messages[place], message);
                self.lose(before);
            }
            None => {
                self.places.insert(id, self.messages.len());
                self.messages.push(message);
            }
        }
    }

    fn replace_all(&mut self, messages: Value<'t, 'a>) {
        self.places.clear();
        for before in std::mem::take(&mut self.messages) {
            self.lose(before);
        }
        messages.items().for_each(|message| self.add(message));
    }

    /// The message of that id and all that follow are taken back.
    fn rewind(&mut self, id: &str) {
        let Some(&place) = self.places.get(id) else {
            return;
        };
        for before in self.messages.split_off(place) {
            self.lose(before);
        }
        self.places.retain(|_, at| *at < place);
    }

    fn lose(&mut self, message: Value<'t, 'a>) {
        self.replaced.push(message.raw().len());
    }
}
