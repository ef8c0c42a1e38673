//! The automaton that reads text byte by byte, and the features that each of its steps counts.
//! Deliberately without weights: the fitting tool compiles this very file to count features.

/// Byte classes are below this; a table row has as many entries.
pub(crate) const CLASSES: usize = 64;

/// States are below this.
pub(crate) const STATES: usize = 256;

/// Features that one step may count.
pub(crate) const AT_ONCE: usize = 3;

/// One step: where it leads, and what it counts.
#[derive(Clone, Copy)]
pub(crate) struct Step {
    /// The state after the byte.
    pub(crate) next: u8,
    /// The features counted, [`NONE`] where fewer than [`AT_ONCE`].
    pub(crate) features: [u16; AT_ONCE],
}

/// No feature.
pub(crate) const NONE: u16 = u16::MAX;

// Classes. The order within letters, marks and scripts is used below.
const VOWEL: u8 = 0;
const COMMON: u8 = 1;
const UNCOMMON: u8 = 2;
const RARE: u8 = 3;
const UPPER_VOWEL: u8 = 4;
const UPPER_OTHER: u8 = 5;
const DIGIT: u8 = 6;
const SPACE: u8 = 7;
const TAB: u8 = 8;
const NEWLINE: u8 = 9;
const RETURN: u8 = 10;
const MARK: u8 = 11;
/// Classes of ASCII punctuation, from [`MARK`] on.
const MARKS: u8 = 24;
const LEAD: u8 = MARK + MARKS;
/// Classes of the first byte of a non-ASCII scalar, from [`LEAD`] on.
const LEADS: u8 = 16;
const REST: u8 = LEAD + LEADS;
/// Classes of the other bytes of a non-ASCII scalar, from [`REST`] on.
const RESTS: u8 = 8;

// Leads, as offsets from `LEAD`.
const LATIN_SIGN: u8 = 0;
const LATIN: u8 = 1;
const COMBINING: u8 = 2;
const GREEK: u8 = 3;
const CYRILLIC: u8 = 4;
const HEBREW: u8 = 5;
const ARABIC: u8 = 6;
const OTHER_2: u8 = 7;
const INDIC: u8 = 8;
const LEAD_E1: u8 = 9;
const LEAD_E2: u8 = 10;
const LEAD_E3: u8 = 11;
const HAN: u8 = 12;
const HANGUL: u8 = 13;
const LEAD_EF: u8 = 14;
const LEAD_F: u8 = 15;

/// Kinds of scalars that the first two bytes tell apart. The fitting tool knows what each costs from
/// text in these scripts, since the calibration data has next to none.
pub(crate) const SCRIPT_COUNT: usize = 24;

// Scripts: those of two bytes are numbered as their leads.
const S_INDIC: u8 = 8;
const S_THAI: u8 = 9;
const S_E1: u8 = 10;
const S_VIETNAMESE: u8 = 11;
const S_PUNCTUATION: u8 = 12;
const S_SIGN: u8 = 13;
const S_ARROW: u8 = 14;
const S_BOX: u8 = 15;
const S_DINGBAT: u8 = 16;
const S_KANA: u8 = 17;
const S_IDEOGRAPHIC: u8 = 18;
const S_HAN: u8 = 19;
const S_HANGUL: u8 = 20;
const S_FULL: u8 = 21;
const S_EMOJI: u8 = 22;
const S_OTHER_4: u8 = 23;

// States.
/// The beginning of a text or of a line.
pub(crate) const START: u8 = 0;
const AFTER_RETURN: u8 = 1;
/// One, two, three or more spaces at the beginning of a line.
const INDENT: u8 = 2;
/// One, two, three or more spaces elsewhere.
const GAP: u8 = 5;
const TABS: u8 = 8;
/// A word in lower case: `LENGTHS` lengths by the class of its last letter.
const WORD: u8 = 10;
const LENGTHS: u8 = 10;
const LAST: u8 = 3;
/// A run in upper case: four lengths, vowel or not.
const CAPS: u8 = WORD + LENGTHS * LAST;
/// Digits: three of the first group, three of later ones.
const NUMBER: u8 = CAPS + 4;
/// Digits that follow letters: one, two, three or more.
const SUFFIX: u8 = NUMBER + 6;
/// Letters and digits mixed, as in hashes: lower, upper, digits, four lengths each.
const MIXED: u8 = SUFFIX + 3;
/// A mark of a class, once.
const MARK_ONCE: u8 = MIXED + 12;
/// A mark of a class, repeated.
const MARK_MORE: u8 = MARK_ONCE + MARKS;
/// The first byte of a scalar was read.
const LEAD_READ: u8 = MARK_MORE + MARKS;
/// A scalar of a script was read, or all of it but some last bytes.
const SCALAR: u8 = LEAD_READ + LEADS;
const STATES_USED: u8 = SCALAR + SCRIPT_COUNT as u8;

// Features.
/// By what is before, lower or upper: the first letter of a word.
const F_FIRST: u16 = 0;
const BEFORES: u16 = 10;
/// By length: a further letter.
const F_LENGTH: u16 = F_FIRST + BEFORES * 2;
/// By class of the last letter and of this one.
const F_PAIR: u16 = F_LENGTH + LENGTHS as u16;
/// By short or long word: the class of this letter.
const F_CLASS: u16 = F_PAIR + 12;
/// By length of the word before: an upper letter in a word.
const F_CAMEL: u16 = F_CLASS + 8;
/// By length: upper after upper; lower after one, after more.
const F_CAPS: u16 = F_CAMEL + LENGTHS as u16;
const F_CAPS_END: u16 = F_CAPS + 4;
/// Digits, by state.
const F_NUMBER: u16 = F_CAPS_END + 4;
const F_SUFFIX: u16 = F_NUMBER + 6;
/// Mixed runs: from kind and length to kind.
const F_MIXED: u16 = F_SUFFIX + 3;
/// By what is before: a first digit.
const F_DIGIT: u16 = F_MIXED + 36;
/// By what is before: a space, a tab, a newline, a return.
const F_SPACE: u16 = F_DIGIT + BEFORES;
const F_TAB: u16 = F_SPACE + BEFORES;
const F_NEWLINE: u16 = F_TAB + BEFORES;
const F_RETURN: u16 = F_NEWLINE + BEFORES;
/// Spaces after the first, by state.
const F_SPACES: u16 = F_RETURN + 1;
/// By class and by what is before: a mark.
const F_MARK: u16 = F_SPACES + 8;
/// By class of the mark before: a newline, a space.
const F_MARK_NEWLINE: u16 = F_MARK + MARKS as u16 * BEFORES;
/// By script: a scalar.
pub(crate) const F_SCRIPT: u16 = F_MARK_NEWLINE + MARKS as u16;
/// By script: a scalar after another of its script.
pub(crate) const F_SCRIPT_RUN: u16 = F_SCRIPT + SCRIPT_COUNT as u16;
/// Marks after marks: by class of both.
pub(crate) const F_MARKS: u16 = F_SCRIPT_RUN + SCRIPT_COUNT as u16;

/// How many features there are.
pub(crate) const FEATURES: usize = F_MARKS as usize + MARKS as usize * MARKS as usize;

/// The class of every byte.
pub(crate) const CLASS_OF: [u8; 256] = {
    let mut classes = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        classes[byte] = class_of(byte as u8);
        byte += 1;
    }
    classes
};

const fn class_of(byte: u8) -> u8 {
    match byte {
        b'a' | b'e' | b'i' | b'o' | b'u' => VOWEL,
        b'c' | b'd' | b'g' | b'h' | b'l' | b'm' | b'n' | b'p' | b'r' | b's' | b't' => COMMON,
        b'j' | b'q' | b'x' | b'z' => RARE,
        b'b' | b'f' | b'k' | b'v' | b'w' | b'y' => UNCOMMON,
        b'A' | b'E' | b'I' | b'O' | b'U' => UPPER_VOWEL,
        b'A'..=b'Z' => UPPER_OTHER,
        b'0'..=b'9' => DIGIT,
        b' ' => SPACE,
        b'\t' => TAB,
        b'\n' => NEWLINE,
        b'\r' => RETURN,
        b'_' => MARK,
        b'-' => MARK + 1,
        b'.' => MARK + 2,
        b',' => MARK + 3,
        b'/' => MARK + 4,
        b':' => MARK + 5,
        b';' => MARK + 6,
        b'"' => MARK + 7,
        b'\'' => MARK + 8,
        b'(' => MARK + 9,
        b')' => MARK + 10,
        b'{' => MARK + 11,
        b'}' => MARK + 12,
        b'[' => MARK + 13,
        b']' => MARK + 14,
        b'=' => MARK + 15,
        b'<' => MARK + 16,
        b'>' => MARK + 17,
        b'*' => MARK + 18,
        b'\\' => MARK + 19,
        b'`' => MARK + 20,
        b'#' => MARK + 21,
        b'!' | b'$' | b'%' | b'&' | b'+' | b'?' | b'@' | b'^' | b'|' | b'~' => MARK + 22,
        0..=0x7f => MARK + 23,
        0x80 => REST,
        0x81..=0x83 => REST + 1,
        0x84..=0x8f => REST + 2,
        0x90..=0x93 => REST + 3,
        0x94..=0x96 => REST + 4,
        0x97..=0x9f => REST + 5,
        0xa0..=0xb7 => REST + 6,
        0xb8..=0xbf => REST + 7,
        0xc0..=0xc2 => LEAD + LATIN_SIGN,
        0xc3..=0xcb => LEAD + LATIN,
        0xcc | 0xcd => LEAD + COMBINING,
        0xce | 0xcf => LEAD + GREEK,
        0xd0..=0xd3 => LEAD + CYRILLIC,
        0xd4..=0xd7 => LEAD + HEBREW,
        0xd8..=0xdb => LEAD + ARABIC,
        0xdc..=0xdf => LEAD + OTHER_2,
        0xe0 => LEAD + INDIC,
        0xe1 => LEAD + LEAD_E1,
        0xe2 => LEAD + LEAD_E2,
        0xe3 => LEAD + LEAD_E3,
        0xe4..=0xe9 => LEAD + HAN,
        0xea..=0xed => LEAD + HANGUL,
        0xee | 0xef => LEAD + LEAD_EF,
        0xf0.. => LEAD + LEAD_F,
    }
}

/// What a byte of `class` does in `state`.
pub(crate) const fn step(state: u8, class: u8) -> Step {
    match class {
        VOWEL..=RARE => lower(state, class),
        UPPER_VOWEL | UPPER_OTHER => upper(state),
        DIGIT => digit(state),
        SPACE => space(state),
        TAB => {
            let next = if state == TABS || state == TABS + 1 {
                TABS + 1
            } else {
                TABS
            };
            one(next, F_TAB + before(state))
        }
        NEWLINE => {
            let more = match mark_of(state) {
                NO_MARK => NONE,
                mark => F_MARK_NEWLINE + mark as u16,
            };
            two(START, F_NEWLINE + before(state), more)
        }
        RETURN => one(AFTER_RETURN, F_RETURN),
        _ if class < LEAD => mark(state, class - MARK),
        _ if class < REST => lead(state, class - LEAD),
        _ if class < REST + RESTS => rest(state, class - REST),
        _ => Step {
            next: START,
            features: [NONE; AT_ONCE],
        },
    }
}

const fn lower(state: u8, class: u8) -> Step {
    let last = if class == RARE { 2 } else { class };
    if state >= WORD && state < CAPS {
        let length = (state - WORD) / LAST;
        let former = (state - WORD) % LAST;
        let longer = if length + 1 < LENGTHS {
            length + 1
        } else {
            length
        };
        let long = if length >= 4 { 4 } else { 0 };
        return Step {
            next: WORD + longer * LAST + last,
            features: [
                F_LENGTH + longer as u16,
                F_PAIR + former as u16 * 4 + class as u16,
                F_CLASS + long + class as u16,
            ],
        };
    }
    if state >= CAPS && state < NUMBER {
        let length = state - CAPS;
        return two(
            WORD + LAST + last,
            F_CAPS_END + length as u16,
            F_PAIR + 4 + class as u16,
        );
    }
    if let Some(step) = mixed(state, 0) {
        return step;
    }
    if state == SCALAR + LATIN || state == SCALAR + S_VIETNAMESE || state == SCALAR + COMBINING {
        return one(WORD + 3 * LAST + last, F_LENGTH + 3);
    }
    two(WORD + last, F_FIRST + before(state), F_CLASS + class as u16)
}

const fn upper(state: u8) -> Step {
    if state >= CAPS && state < NUMBER {
        let length = state - CAPS;
        let longer = if length < 3 { length + 1 } else { 3 };
        return one(CAPS + longer, F_CAPS + length as u16);
    }
    if state >= WORD && state < CAPS {
        let length = (state - WORD) / LAST;
        return one(CAPS, F_CAMEL + length as u16);
    }
    if let Some(step) = mixed(state, 1) {
        return step;
    }
    one(CAPS, F_FIRST + BEFORES + before(state))
}

const fn digit(state: u8) -> Step {
    if state >= NUMBER && state < NUMBER + 6 {
        let next = match state - NUMBER {
            5 => 3,
            at => at + 1,
        };
        return one(NUMBER + next, F_NUMBER + next as u16);
    }
    if state >= WORD && state < NUMBER {
        return one(SUFFIX, F_SUFFIX);
    }
    if state >= SUFFIX && state < MIXED {
        let longer = if state - SUFFIX < 2 {
            state - SUFFIX + 1
        } else {
            2
        };
        return one(SUFFIX + longer, F_SUFFIX + longer as u16);
    }
    if let Some(step) = mixed(state, 2) {
        return step;
    }
    two(NUMBER, F_NUMBER, F_DIGIT + before(state))
}

/// A letter after a digit makes a run mixed, and mixed it stays.
const fn mixed(state: u8, kind: u8) -> Option<Step> {
    if state >= MIXED && state < MARK_ONCE {
        let former = (state - MIXED) / 4;
        let length = (state - MIXED) % 4;
        let longer = if former != kind {
            0
        } else if length < 3 {
            length + 1
        } else {
            3
        };
        let feature = F_MIXED + (former as u16 * 4 + length as u16) * 3 + kind as u16;
        return Some(one(MIXED + kind * 4 + longer, feature));
    }
    if state >= NUMBER && state < MIXED && kind < 2 {
        let feature = F_FIRST + BEFORES * kind as u16 + if state >= SUFFIX { 9 } else { 8 };
        return Some(one(MIXED + kind * 4, feature));
    }
    None
}

const fn space(state: u8) -> Step {
    match state {
        START => one(INDENT, F_SPACES),
        INDENT..TABS => {
            let at = state - INDENT;
            let next = if at == 2 || at == 5 { at } else { at + 1 };
            one(INDENT + next, F_SPACES + 1 + at as u16)
        }
        _ => one(GAP, F_SPACE + before(state)),
    }
}

const fn mark(state: u8, mark: u8) -> Step {
    let former = mark_of(state);
    let more = if former == NO_MARK {
        NONE
    } else {
        F_MARKS + former as u16 * MARKS as u16 + mark as u16
    };
    let base = F_MARK + mark as u16 * BEFORES;
    if former == mark {
        let again = if state >= MARK_MORE { 9 } else { 8 };
        return one(MARK_MORE + mark, base + again);
    }
    two(MARK_ONCE + mark, base + before(state), more)
}

const fn lead(state: u8, lead: u8) -> Step {
    // Scripts of one lead each: whether the scalar before was of the same is known here.
    let script = match lead {
        LATIN_SIGN..=INDIC => lead,
        LEAD_E3 => S_KANA,
        HAN => S_HAN,
        HANGUL => S_HANGUL,
        LEAD_F => S_EMOJI,
        LEAD_E1 => S_E1,
        LEAD_E2 => S_BOX,
        _ => S_FULL,
    };
    let feature = if state == SCALAR + script {
        F_SCRIPT_RUN + script as u16
    } else {
        NONE
    };
    one(LEAD_READ + lead, feature)
}

const fn rest(state: u8, rest: u8) -> Step {
    if state < LEAD_READ || state >= SCALAR {
        // A last byte: the second told the script.
        return one(if state >= SCALAR { state } else { START }, NONE);
    }
    let script = match (state - LEAD_READ, rest) {
        (lead @ LATIN_SIGN..=OTHER_2, _) => lead,
        (INDIC, 7) => S_THAI,
        (INDIC, _) => S_INDIC,
        (LEAD_E1, 7) => S_VIETNAMESE,
        (LEAD_E1, _) => S_E1,
        (LEAD_E2, 0) => S_PUNCTUATION,
        (LEAD_E2, 2) => S_ARROW,
        (LEAD_E2, 4) => S_BOX,
        (LEAD_E2, 5) => S_DINGBAT,
        (LEAD_E2, _) => S_SIGN,
        (LEAD_E3, 0) => S_IDEOGRAPHIC,
        (LEAD_E3, 1) => S_KANA,
        (HAN | LEAD_E3, _) => S_HAN,
        (HANGUL, _) => S_HANGUL,
        (LEAD_EF, _) => S_FULL,
        (_, 5) => S_EMOJI,
        _ => S_OTHER_4,
    };
    one(SCALAR + script, F_SCRIPT + script as u16)
}

const NO_MARK: u8 = u8::MAX;

const fn mark_of(state: u8) -> u8 {
    if state >= MARK_ONCE && state < LEAD_READ {
        (state - MARK_ONCE) % MARKS
    } else {
        NO_MARK
    }
}

/// What is before, coarsely: 0 to 7. The callers use 8 and 9 for cases of their own.
const fn before(state: u8) -> u16 {
    match state {
        START | AFTER_RETURN => 0,
        INDENT..GAP => 1,
        GAP..TABS => 2,
        TABS..WORD => 3,
        WORD..NUMBER => 4,
        NUMBER..MARK_ONCE => 5,
        MARK_ONCE => 6,
        MARK_MORE => 6,
        _ => 7,
    }
}

const fn one(next: u8, feature: u16) -> Step {
    two(next, feature, NONE)
}

const fn two(next: u8, first: u16, second: u16) -> Step {
    Step {
        next,
        features: [first, second, NONE],
    }
}

const _: () = assert!((STATES_USED as usize) <= STATES && (REST + RESTS) as usize <= CLASSES);
