//! Which files a command line reads and changes, as far as that is safe to say.
//! Deliberately no shell: nothing is expanded that the text does not spell out, and what is not understood touches nothing.

mod bounds;
mod heredoc;
mod programs;
mod sed;
mod walk;
mod words;

use super::path::FilePath;
use super::range::LineRange;

/// What a command line touches.
#[derive(Debug, Default)]
pub(super) struct ShellTouch {
    /// The files whose lines it prints, in the order of the text.
    pub(super) reads: Vec<(FilePath, LineRange)>,
    /// The files it writes, moves or removes.
    pub(super) mutations: Vec<FilePath>,
    /// Whether an exit status of 1 is an answer of the last command (`grep`, `diff`, `test`), no failure.
    pub(super) one_is_an_answer: bool,
    /// Whether the one read is all that is printed, so that the result can be measured against it.
    pub(super) sole: bool,
    /// Whether the sole read prints the numbers of its lines.
    pub(super) numbered: bool,
}

/// What the command line `line` touches when it runs in `base`.
pub(super) fn line(line: &str, base: Option<&str>) -> ShellTouch {
    let mut walk = walk::Walk::new(base);
    walk.script(line, 0);
    walk.finish()
}

/// What several command lines touch that run one after the other, each of them in `base`.
pub(super) fn lines<'a>(lines: impl Iterator<Item = &'a str>, base: Option<&str>) -> ShellTouch {
    let mut walk = walk::Walk::new(base);
    for line in lines {
        walk.script(line, 0);
        walk.return_to(base);
    }
    walk.finish()
}

/// What a command touches whose words are given one by one, such as `["bash", "-lc", "cat f"]`.
pub(super) fn words<'a>(words: impl Iterator<Item = &'a str>, base: Option<&str>) -> ShellTouch {
    let mut walk = walk::Walk::new(base);
    walk.argv(words.map(|word| Some(word.into())).collect());
    walk.finish()
}
