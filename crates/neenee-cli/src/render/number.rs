//! Numbers for people: digits in groups of three.
//! Deliberately not rounded and not localised; programs get JSON.

/// `31200` as `31 200`.
pub(crate) fn grouped(number: usize) -> String {
    let digits = number.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            out.push(' ');
        }
        out.push(digit);
    }
    out
}

/// `1 call`, `2 calls`.
pub(crate) fn counted(number: usize, what: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{} {what}{plural}", grouped(number))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_stand_in_groups() {
        for (number, expected) in [
            (0, "0"),
            (999, "999"),
            (1_000, "1 000"),
            (31_200, "31 200"),
            (1_234_567, "1 234 567"),
        ] {
            assert_eq!(grouped(number), expected);
        }
    }
}
