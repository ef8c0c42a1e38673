//! What the programs we understand do to files, by their options and operands.
//! Deliberately few: those that only show lines or only change the files they name. Any other program touches nothing.

use std::borrow::Cow;

use super::sed;
use super::walk::{Command, Stream, Walk};
use super::words::Word;
use crate::touch::patch;
use crate::touch::range::LineRange;

impl Walk {
    /// Runs one command: notes what it changes, and says what it puts out.
    pub(super) fn run<'a>(&mut self, command: Command<'a>, depth: usize) -> Stream<'a> {
        let Command { words, input } = command;
        let Some(Some(program)) = words.first() else {
            return Stream::Other;
        };
        let program = program.rsplit(['/', '\\']).next().unwrap_or(program);
        let program = program.strip_suffix(".exe").unwrap_or(program).to_owned();
        self.touch.one_is_an_answer = matches!(
            program.as_str(),
            "grep"
                | "egrep"
                | "fgrep"
                | "rg"
                | "ag"
                | "ack"
                | "diff"
                | "cmp"
                | "test"
                | "["
                | "pgrep"
                | "zgrep"
        ) || (program == "git"
            && words
                .iter()
                .flatten()
                .any(|word| word == "diff" || word == "grep"));
        let args = &words[1..];
        match program.as_str() {
            "cat" => self.cat(args, input),
            "nl" => self.nl(args, input),
            "bat" | "batcat" => self.bat(args, input),
            "less" | "more" => self.show(
                operands(args, &["-p", "-x", "-j", "-b", "-n"]),
                input,
                LineRange::WHOLE,
                false,
            ),
            "head" => self.head(args, input),
            "tail" => self.tail(args, input),
            "sed" => self.sed(args, input),
            "tee" => {
                self.mutate_each(operands(args, &[]));
                input
            }
            "cd" | "pushd" => {
                let target = operands(args, &[])
                    .first()
                    .map(|word| word.as_deref().map(str::to_owned));
                let target = target.unwrap_or(Some("~".to_owned()));
                self.change_directory(target.as_deref());
                Stream::Silence
            }
            "popd" => {
                self.change_directory(None);
                Stream::Silence
            }
            "export" | "local" | "declare" | "readonly" => {
                for (name, value) in args
                    .iter()
                    .flatten()
                    .filter_map(|word| word.split_once('='))
                {
                    self.variables.set(name, Some(value.to_owned()));
                }
                Stream::Silence
            }
            "set" | "true" | ":" | "mkdir" | "chmod" | "touch" | "unset" | "source" | "."
            | "shopt" | "ulimit" => Stream::Silence,
            "rm" | "unlink" | "truncate" => {
                self.mutate_each(operands(
                    args,
                    &["-s", "--size", "-r", "--reference"]
                        [..if program == "truncate" { 4 } else { 0 }],
                ));
                Stream::Silence
            }
            "mv" | "cp" | "install" | "ln" => {
                self.transfer(&program, args);
                Stream::Silence
            }
            "dd" => {
                let output = args
                    .iter()
                    .flatten()
                    .find_map(|word| word.strip_prefix("of="));
                if let Some(output) = output {
                    self.mutate(output);
                }
                Stream::Other
            }
            "perl" => {
                self.perl(args);
                Stream::Other
            }
            "git" => self.git(args, &input),
            "patch" => {
                self.patch(args, &input);
                Stream::Other
            }
            "apply_patch" | "applypatch" => {
                if let Some(Some(text)) = args.first() {
                    self.apply(text);
                } else if let Stream::Text(text) = &input {
                    self.apply(text);
                }
                Stream::Other
            }
            "echo" | "printf" => match args {
                [Some(text)] => Stream::Text(text.clone()),
                _ => Stream::Other,
            },
            // SWE-agent's commands, typed into its shell: `open` shows a window with line numbers.
            "open" => self.show(
                operands(args, &[]).into_iter().take(1).collect(),
                input,
                LineRange::NOTHING,
                true,
            ),
            "create" => {
                self.mutate_each(operands(args, &[]));
                Stream::Other
            }
            "sudo" | "doas" => self.wrapped(args, &["-u", "-g", "-h", "-p", "-C"], 0, input, depth),
            "env" => self.wrapped(args, &["-u", "-S"], 0, input, depth),
            "nice" => self.wrapped(args, &["-n"], 0, input, depth),
            "timeout" => self.wrapped(
                args,
                &["-s", "-k", "--signal", "--kill-after"],
                1,
                input,
                depth,
            ),
            "stdbuf" => self.wrapped(args, &["-i", "-o", "-e"], 0, input, depth),
            "command" | "builtin" | "exec" | "nohup" | "time" => {
                self.wrapped(args, &[], 0, input, depth)
            }
            "bash" | "sh" | "zsh" | "dash" | "ash" | "ksh" => self.shell(args, &input, depth),
            _ => Stream::Other,
        }
    }

    /// A command line as an argument, or as input.
    fn shell<'a>(&mut self, args: &[Word<'a>], input: &Stream<'a>, depth: usize) -> Stream<'a> {
        let base = self.base.clone();
        let mut args = args.iter();
        let mut script = None;
        while let Some(Some(word)) = args.next() {
            let is_option = word.starts_with('-') && !word.starts_with("--");
            if is_option && word.contains('c') {
                script = args.next().and_then(|word| word.as_deref());
                break;
            } else if !word.starts_with('-') {
                return Stream::Other;
            }
        }
        match (script, input) {
            (Some(script), _) => self.script(script, depth + 1),
            (None, Stream::Text(text)) => self.script(text, depth + 1),
            _ => return Stream::Other,
        }
        self.base = base;
        // What the script printed has been counted.
        Stream::Silence
    }

    /// `sudo`, `env` and their like: options, assignments, `skip` operands, then the command.
    fn wrapped<'a>(
        &mut self,
        args: &[Word<'a>],
        with_value: &[&str],
        skip: usize,
        input: Stream<'a>,
        depth: usize,
    ) -> Stream<'a> {
        let mut at = 0;
        let mut left = skip;
        while let Some(word) = args.get(at) {
            let Some(word) = word else {
                return Stream::Other;
            };
            if word.starts_with('-') {
                at += 1 + usize::from(with_value.contains(&word.as_ref()));
            } else if word.contains('=') && !word.starts_with('=') {
                at += 1;
            } else if left > 0 {
                left -= 1;
                at += 1;
            } else {
                break;
            }
        }
        let words = args.get(at..).unwrap_or_default().to_vec();
        // Each step takes words away, so this ends.
        self.run(Command { words, input }, depth)
    }

    fn mutate_each(&mut self, operands: Vec<&Word<'_>>) {
        for word in operands.into_iter().flatten() {
            self.mutate(word);
        }
    }

    /// The files of `operands`, or the input, each seen through `window`.
    fn show<'a>(
        &mut self,
        operands: Vec<&Word<'a>>,
        input: Stream<'a>,
        window: LineRange,
        numbers: bool,
    ) -> Stream<'a> {
        let from_input = operands.iter().all(|word| word.as_deref() == Some("-"));
        if from_input {
            return match input {
                Stream::Lines { of, numbered } => {
                    if of.len() > 1 && window != LineRange::WHOLE {
                        // Where one file ends in the stream and the next begins is unknown.
                        return Stream::Other;
                    }
                    Stream::Lines {
                        of: of
                            .into_iter()
                            .map(|(path, range)| (path, range.narrowed(window)))
                            .collect(),
                        numbered: numbered || numbers,
                    }
                }
                other => other,
            };
        }
        let of: Vec<_> = operands
            .into_iter()
            .flatten()
            .filter_map(|word| Some((self.resolve(word)?, window)))
            .collect();
        if of.is_empty() {
            return Stream::Other;
        }
        Stream::Lines {
            of,
            numbered: numbers,
        }
    }

    fn cat<'a>(&mut self, args: &[Word<'a>], input: Stream<'a>) -> Stream<'a> {
        let numbers = flags(args)
            .any(|flag| flag == "--number" || (!flag.starts_with("--") && flag.contains('n')));
        self.show(operands(args, &[]), input, LineRange::WHOLE, numbers)
    }

    fn nl<'a>(&mut self, args: &[Word<'a>], input: Stream<'a>) -> Stream<'a> {
        let words: Vec<&str> = args.iter().flatten().map(AsRef::as_ref).collect();
        // Without it, empty lines have no number, and the numbers are not those of the file.
        let all = words
            .iter()
            .any(|word| matches!(*word, "-ba" | "--body-numbering=a"))
            || words
                .windows(2)
                .any(|pair| matches!(pair, ["-b" | "--body-numbering", "a"]));
        let with_value = [
            "-b",
            "-d",
            "-f",
            "-h",
            "-i",
            "-l",
            "-n",
            "-s",
            "-v",
            "-w",
            "--body-numbering",
        ];
        self.show(operands(args, &with_value), input, LineRange::WHOLE, all)
    }

    fn bat<'a>(&mut self, args: &[Word<'a>], input: Stream<'a>) -> Stream<'a> {
        let with_value = [
            "-r",
            "--line-range",
            "-l",
            "--language",
            "--style",
            "--theme",
            "--paging",
            "--color",
            "-H",
        ];
        let mut window = LineRange::WHOLE;
        if let Some(range) = option(args, "-r", "--line-range") {
            let Some((from, to)) = range.split_once(':') else {
                return Stream::Other;
            };
            let from = if from.is_empty() {
                Some(1)
            } else {
                from.parse().ok()
            };
            let to = if to.is_empty() {
                Some(None)
            } else {
                to.parse::<u64>().ok().map(|to| Some(to.saturating_add(1)))
            };
            let (Some(from), Some(to)) = (from, to) else {
                return Stream::Other;
            };
            window = LineRange::new(from, to);
        }
        self.show(operands(args, &with_value), input, window, false)
    }

    fn head<'a>(&mut self, args: &[Word<'a>], input: Stream<'a>) -> Stream<'a> {
        let window = if option(args, "-c", "--bytes").is_some() {
            LineRange::NOTHING
        } else {
            match count(args) {
                Count::Lines(lines) => LineRange::new(1, Some(lines.saturating_add(1))),
                Count::None => LineRange::new(1, Some(11)),
                Count::FromLine(_) | Count::Unknown => LineRange::NOTHING,
            }
        };
        self.show(
            operands(args, &["-n", "--lines", "-c", "--bytes"]),
            input,
            window,
            false,
        )
    }

    fn tail<'a>(&mut self, args: &[Word<'a>], input: Stream<'a>) -> Stream<'a> {
        let window = match count(args) {
            Count::FromLine(line) if option(args, "-c", "--bytes").is_none() => {
                LineRange::new(line, None)
            }
            _ => LineRange::NOTHING,
        };
        let operands = operands(args, &["-n", "--lines", "-c", "--bytes", "--pid", "-s"]);
        let operands = operands
            .into_iter()
            .filter(|word| !word.as_deref().is_some_and(|word| word.starts_with('+')));
        self.show(operands.collect(), input, window, false)
    }

    fn sed<'a>(&mut self, args: &[Word<'a>], input: Stream<'a>) -> Stream<'a> {
        let with_value = ["-e", "--expression", "-f", "--file", "-l"];
        let in_place = flags(args).any(|flag| {
            flag.starts_with("--in-place")
                || (!flag.starts_with("--")
                    && flag[1..]
                        .split(['e', 'f'])
                        .next()
                        .is_some_and(|f| f.contains('i')))
        });
        let quiet = flags(args).any(|flag| {
            matches!(flag, "--quiet" | "--silent")
                || (!flag.starts_with("--") && flag.contains('n'))
        });
        let by_option = flags(args).any(|flag| {
            flag.starts_with("--expression")
                || flag.starts_with("--file")
                || (!flag.starts_with("--") && flag.ends_with(['e', 'f']))
        });
        let mut rest = operands_of_sed(args, &with_value);
        let script = if by_option {
            let scripts = expressions(args);
            scripts.map(Cow::Owned)
        } else if rest.is_empty() {
            None
        } else {
            rest.remove(0).clone()
        };
        if in_place {
            // `sed -i '' 's/a/b/' f` of the BSDs: an empty word before the script.
            if !by_option && script.as_deref() == Some("") && rest.len() > 1 {
                rest.remove(0);
            }
            self.mutate_each(rest);
            return Stream::Silence;
        }
        let Some(ranges) = script
            .as_deref()
            .and_then(|script| sed::lines_shown(script, quiet))
        else {
            return Stream::Other;
        };
        // Several files are one to sed: it goes on counting.
        if rest.len() > 1 {
            return Stream::Other;
        }
        match ranges.as_slice() {
            [window] => self.show(rest, input, *window, false),
            windows => match self.show(rest, input, LineRange::WHOLE, false) {
                Stream::Lines { of, numbered } if of.len() == 1 => Stream::Lines {
                    of: windows
                        .iter()
                        .flat_map(|window| {
                            of.iter()
                                .map(|(path, range)| (path.clone(), range.narrowed(*window)))
                        })
                        .collect(),
                    numbered,
                },
                Stream::Lines { .. } => Stream::Other,
                other => other,
            },
        }
    }

    /// `mv`, `cp`, `ln` and `install`: the last operand is written, and what is moved is gone.
    fn transfer(&mut self, program: &str, args: &[Word<'_>]) {
        let with_value = ["-t", "--target-directory", "-m", "-o", "-g", "-S", "--mode"];
        let mut names = operands(args, &with_value);
        let folder = option(args, "-t", "--target-directory").map(str::to_owned);
        let target = match &folder {
            Some(_) => None,
            None => names.pop(),
        };
        if program == "mv" {
            for name in names.iter().copied().flatten() {
                self.mutate(name);
            }
        }
        let target = match (&folder, target) {
            (Some(folder), _) => Cow::Borrowed(folder.as_str()),
            (None, Some(Some(target))) => target.clone(),
            _ => return,
        };
        let is_folder = folder.is_some()
            || names.len() > 1
            || target.ends_with('/')
            || matches!(target.as_ref(), "." | "..");
        if !is_folder {
            self.mutate(&target);
            return;
        }
        for name in names.into_iter().flatten() {
            if let Some(file) = name.trim_end_matches('/').rsplit('/').next() {
                self.mutate(&format!("{}/{file}", target.trim_end_matches('/')));
            }
        }
    }

    /// `perl -pi -e '…' f`; any other program of Perl's is not understood.
    fn perl(&mut self, args: &[Word<'_>]) {
        let in_place = flags(args).any(|flag| {
            !flag.starts_with("--")
                && flag
                    .trim_start_matches('-')
                    .trim_start_matches(['p', 'n', '0', 'w', 'l'])
                    .starts_with('i')
        });
        let scripted = flags(args).any(|flag| !flag.starts_with("--") && flag.ends_with('e'));
        if in_place && scripted {
            let mut at = 0;
            while let Some(word) = args.get(at) {
                match word.as_deref() {
                    Some(word) if word.starts_with('-') => at += usize::from(word.ends_with('e')),
                    Some(word) => self.mutate(word),
                    None => {}
                }
                at += 1;
            }
        }
    }

    fn git<'a>(&mut self, args: &[Word<'a>], input: &Stream<'a>) -> Stream<'a> {
        let base = self.base.clone();
        let mut at = 0;
        while let Some(Some(word)) = args.get(at) {
            match word.as_ref() {
                "-C" => {
                    let folder = args
                        .get(at + 1)
                        .and_then(|word| word.as_deref().map(str::to_owned));
                    self.change_directory(folder.as_deref());
                    at += 2;
                }
                "-c" => at += 2,
                option if option.starts_with('-') => at += 1,
                _ => break,
            }
        }
        let verb = args
            .get(at)
            .and_then(|word| word.as_deref())
            .unwrap_or_default()
            .to_owned();
        let args = args.get(at + 1..).unwrap_or_default();
        let has = |names: &[&str]| flags(args).any(|flag| names.contains(&flag));
        match verb.as_str() {
            "checkout" => {
                // Without the dashes a name may as well be a branch.
                if let Some(dashes) = args.iter().position(|word| word.as_deref() == Some("--")) {
                    self.mutate_each(args[dashes + 1..].iter().collect());
                }
            }
            "restore" if !has(&["--staged", "-S"]) || has(&["--worktree", "-W"]) => {
                self.mutate_each(operands(args, &["-s", "--source"]));
            }
            "rm" if !has(&["--cached", "-n", "--dry-run"]) => self.mutate_each(operands(args, &[])),
            "mv" if !has(&["-n", "--dry-run"]) => self.transfer("mv", args),
            "apply" if !has(&["--check", "--stat", "--numstat", "--summary", "--cached"]) => {
                if let Stream::Text(text) = input {
                    self.apply(text);
                }
            }
            _ => {}
        }
        self.base = base;
        match verb.as_str() {
            "checkout" | "restore" | "rm" | "mv" | "apply" | "add" => Stream::Silence,
            _ => Stream::Other,
        }
    }

    fn patch(&mut self, args: &[Word<'_>], input: &Stream<'_>) {
        if flags(args).any(|flag| flag == "--dry-run") {
            return;
        }
        let with_value = [
            "-i",
            "--input",
            "-d",
            "--directory",
            "-o",
            "-F",
            "-p",
            "--strip",
            "-r",
            "-D",
        ];
        if let Some(Some(file)) = operands(args, &with_value).first() {
            self.mutate(file);
        } else if let Stream::Text(text) = input {
            self.apply(text);
        }
    }

    fn apply(&mut self, text: &str) {
        for file in patch::files(text) {
            self.mutate(file);
        }
    }
}

/// How many lines `head` or `tail` is asked for.
enum Count {
    Lines(u64),
    FromLine(u64),
    /// All but some, or what only a running shell could tell.
    Unknown,
    None,
}

fn count(args: &[Word<'_>]) -> Count {
    let short = args.iter().flatten().find_map(|word| {
        let digits = word
            .strip_prefix('-')
            .or_else(|| word.starts_with('+').then_some(word.as_ref()))?;
        digits
            .trim_start_matches('+')
            .bytes()
            .next()?
            .is_ascii_digit()
            .then_some(digits)
    });
    let unknown_option = args
        .iter()
        .zip(args.iter().skip(1))
        .any(|(option, value)| option.as_deref() == Some("-n") && value.is_none());
    if unknown_option {
        return Count::Unknown;
    }
    match option(args, "-n", "--lines").or(short) {
        None => Count::None,
        Some(text) => match text.strip_prefix('+') {
            Some(line) => line.parse().map_or(Count::Unknown, Count::FromLine),
            None => text.parse().map_or(Count::Unknown, Count::Lines),
        },
    }
}

/// The value of an option: `-n 5`, `-n5`, `--lines=5`, `--lines 5`.
fn option<'w>(args: &'w [Word<'_>], short: &str, long: &str) -> Option<&'w str> {
    let mut words = args.iter();
    while let Some(word) = words.next() {
        let Some(word) = word.as_deref() else {
            continue;
        };
        if word == "--" {
            return None;
        }
        if word == short || word == long {
            return words.next()?.as_deref();
        }
        if let Some(value) = word
            .strip_prefix(long)
            .and_then(|rest| rest.strip_prefix('='))
        {
            return Some(value);
        }
        if let Some(value) = word.strip_prefix(short).filter(|value| !value.is_empty()) {
            return Some(value);
        }
    }
    None
}

/// The words that start with a dash, before `--`.
fn flags<'w>(args: &'w [Word<'_>]) -> impl Iterator<Item = &'w str> {
    let words = args.iter().flatten().map(AsRef::as_ref);
    words
        .take_while(|word| *word != "--")
        .filter(|word| word.len() > 1 && word.starts_with('-'))
}

/// The words that are neither options nor the values of those that take one as the next word.
fn operands<'w, 'a>(args: &'w [Word<'a>], with_value: &[&str]) -> Vec<&'w Word<'a>> {
    let mut found = Vec::new();
    let mut words = args.iter();
    let mut options = true;
    while let Some(word) = words.next() {
        match word.as_deref() {
            Some("--") if options => options = false,
            Some(text) if options && text.len() > 1 && text.starts_with('-') => {
                if with_value.contains(&text) {
                    words.next();
                }
            }
            _ => found.push(word),
        }
    }
    found
}

/// Like [`operands`], for options that are written together: `-ne '1p'`.
fn operands_of_sed<'w, 'a>(args: &'w [Word<'a>], with_value: &[&str]) -> Vec<&'w Word<'a>> {
    let mut found = Vec::new();
    let mut words = args.iter();
    while let Some(word) = words.next() {
        match word.as_deref() {
            Some(text) if text.len() > 1 && text.starts_with('-') => {
                let together = !text.starts_with("--") && text.ends_with(['e', 'f']);
                if together || with_value.contains(&text) {
                    words.next();
                }
            }
            _ => found.push(word),
        }
    }
    found
}

/// The scripts of `-e`, as one; `None` when one of them is unknown or in a file.
fn expressions(args: &[Word<'_>]) -> Option<String> {
    let mut scripts: Vec<&str> = Vec::new();
    let mut words = args.iter();
    while let Some(word) = words.next() {
        let word = word.as_deref()?;
        if let Some(script) = word.strip_prefix("--expression=") {
            scripts.push(script);
        } else if word.starts_with("--file")
            || (word.starts_with('-') && !word.starts_with("--") && word.ends_with('f'))
        {
            return None;
        } else if word == "--expression"
            || (word.starts_with('-') && !word.starts_with("--") && word.ends_with('e'))
        {
            scripts.push(words.next()?.as_deref()?);
        }
    }
    Some(scripts.join("\n"))
}
