//! RFC 3339 timestamps, as session files write them, to ms since the epoch.
//! Deliberately not a calendar: what does not read as such a timestamp is no time.

/// Ms since the epoch of `2025-11-30T12:34:56.789Z`, with any UTC offset and any number of decimals.
pub(crate) fn parse(text: &str) -> Option<i64> {
    let bytes = text.as_bytes();
    let number = |from: usize, to: usize| -> Option<i64> {
        let digits = bytes.get(from..to)?;
        digits.iter().try_fold(0, |number, digit| {
            digit
                .is_ascii_digit()
                .then(|| number * 10 + i64::from(digit - b'0'))
        })
    };
    let mark = |at: usize, marks: &[u8]| bytes.get(at).is_some_and(|byte| marks.contains(byte));
    if !(mark(4, b"-") && mark(7, b"-") && mark(10, b"Tt ") && mark(13, b":") && mark(16, b":")) {
        return None;
    }
    let days = days(number(0, 4)?, number(5, 7)?, number(8, 10)?)?;
    let seconds = number(11, 13)? * 3600 + number(14, 16)? * 60 + number(17, 19)?;
    let mut at = 19;
    let mut ms = 0;
    if mark(at, b".") {
        let start = at + 1;
        at = start;
        while bytes.get(at).is_some_and(u8::is_ascii_digit) {
            if at < start + 3 {
                ms += i64::from(bytes[at] - b'0') * [100, 10, 1][at - start];
            }
            at += 1;
        }
    }
    let offset = match bytes.get(at..)? {
        [b'Z' | b'z'] | [] => 0,
        [sign @ (b'+' | b'-'), _, _, b':', _, _] => {
            let seconds = number(at + 1, at + 3)? * 3600 + number(at + 4, at + 6)? * 60;
            if *sign == b'-' { -seconds } else { seconds }
        }
        _ => return None,
    };
    Some((days * 86_400 + seconds - offset) * 1000 + ms)
}

/// Days since 1970-01-01 in the proleptic Gregorian calendar: years are counted from March, so that
/// the leap day is the last of its year and the months before it have a fixed pattern of lengths.
fn days(year: i64, month: i64, day: i64) -> Option<i64> {
    if !(1..=12).contains(&month) || !(1..=31).contains(&day) {
        return None;
    }
    let (year, month) = if month > 2 {
        (year, month - 3)
    } else {
        (year - 1, month + 9)
    };
    let leap_days = year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400);
    Some(year * 365 + leap_days + (153 * month + 2) / 5 + day - 1 - 719_468)
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn timestamps_are_ms_since_the_epoch() {
        for (text, ms) in [
            ("1970-01-01T00:00:00Z", Some(0)),
            ("2000-02-29T00:00:00.5Z", Some(951_782_400_500)),
            ("2025-03-01T12:34:56.789123+02:00", Some(1_740_825_296_789)),
            ("1969-12-31T23:59:59.999Z", Some(-1)),
            ("2025-13-01T00:00:00Z", None),
            ("2025-03-01", None),
            ("yesterday", None),
        ] {
            assert_eq!(parse(text), ms, "{text}");
        }
    }
}
