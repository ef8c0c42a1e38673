//! One number for a call: the same for the same tool with the same arguments, however these are spelled.
//! Deliberately a hash and no text: it is only ever compared.

use std::borrow::Cow;
use std::hash::Hasher;

use rustc_hash::FxHasher;
use serde_json::Value;

use super::arguments::peel_string;

/// A hash of the tool's name and its arguments as canonical JSON: the order of members, white space, the spelling of numbers (`1`,
/// `1.0`, `1e0`) and escapes do not matter, nor whether the arguments came as JSON or as a string of it. Arguments
/// that are no JSON count by their text.
#[must_use]
pub fn argument_key(name: &str, arguments: &str) -> u64 {
    let mut hasher = FxHasher::default();
    hasher.write(name.trim().as_bytes());
    hasher.write_u8(0xff);
    let peeled: Cow<'_, str> = peel_string(arguments);
    let text = peeled.trim();
    match serde_json::from_str::<Value>(text) {
        Ok(value) => write(&mut hasher, &value),
        Err(_) => hasher.write(text.as_bytes()),
    }
    hasher.finish()
}

fn write(hasher: &mut FxHasher, value: &Value) {
    match value {
        // No argument and one that is null mean the same to a tool; an empty object is none at all.
        Value::Null => hasher.write_u8(b'n'),
        Value::Bool(flag) => hasher.write(if *flag { b"t" } else { b"f" }),
        Value::Number(number) => match number.as_i64() {
            Some(number) => write_integer(hasher, number),
            None => match number.as_f64() {
                // Whole numbers that a float holds exactly are the same as written without a point.
                Some(float) if float.fract() == 0.0 && float.abs() < 9.0e15 => {
                    write_integer(hasher, float as i64);
                }
                Some(float) => {
                    hasher.write_u8(b'd');
                    hasher.write_u64(float.to_bits());
                }
                None => hasher.write(number.to_string().as_bytes()),
            },
        },
        Value::String(text) => {
            hasher.write_u8(b's');
            hasher.write_usize(text.len());
            hasher.write(text.as_bytes());
        }
        Value::Array(items) => {
            hasher.write_u8(b'[');
            for item in items {
                write(hasher, item);
            }
            hasher.write_u8(b']');
        }
        Value::Object(members) => {
            hasher.write_u8(b'{');
            let mut members: Vec<_> = members
                .iter()
                .filter(|(_, value)| !value.is_null())
                .collect();
            members.sort_unstable_by_key(|(name, _)| name.as_str());
            for (name, value) in members {
                hasher.write_usize(name.len());
                hasher.write(name.as_bytes());
                write(hasher, value);
            }
            hasher.write_u8(b'}');
        }
    }
}

fn write_integer(hasher: &mut FxHasher, number: i64) {
    hasher.write_u8(b'i');
    hasher.write_i64(number);
}
