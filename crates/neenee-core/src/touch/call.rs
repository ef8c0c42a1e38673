//! From a call's name and arguments to the files it asks for.
//! Deliberately no look at its result, which `settle` takes.

use std::borrow::Cow;

use super::arguments::{Argument, Arguments, Fields, peel_string};
use super::label::{label, label_of_paths};
use super::path::FilePath;
use super::range::LineRange;
use super::rows::{Kind, Range, Row};
use super::shell::{self, ShellTouch};
use super::table::{RowId, ToolTable};
use super::{Access, Target, patch};

/// What a call asks for, before its result is there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallTouch {
    /// The tool's name and its salient argument, as [`label`] makes them.
    pub label: String,
    /// The files, as asked: reads with the lines asked for, open-ended ones with the tool's own default length.
    pub targets: Vec<Target>,
    /// Whether the tool's results are looked at once: a listing, a catalogue.
    pub disposable: bool,
    /// Whether a result goes on where a former one of the same arguments stopped, so that none stands for another.
    pub continues: bool,
    /// Whether the call brings back what had left the window.
    pub recalls: bool,
    pub(super) row: RowId,
    pub(super) kind: Kind,
    pub(super) form: Form,
}

/// What must be known of a call to read its result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// The table says what it does.
    Known,
    /// No row describes it: it reads only if its result has numbered lines.
    ByShape,
    /// A command line.
    Shell {
        one_is_an_answer: bool,
        sole: bool,
        numbered: bool,
    },
}

impl ToolTable {
    /// What a call of the tool `name` asks for.
    ///
    /// `arguments` is the JSON text of the arguments; it may be a JSON string, text of its own (a patch, a command line),
    /// malformed or empty. `cwd` is the working directory of the conversation, where it is known. Never fails:
    /// what is not understood touches nothing and still has a label.
    #[must_use]
    pub fn call(&self, name: &str, arguments: &str, cwd: Option<&str>) -> CallTouch {
        let peeled = peel_string(arguments);
        let arguments = Arguments::read(&peeled);
        let id = self.find(name, |key| arguments.has(key));
        let row = self.row(id);
        let mut call = CallTouch {
            label: String::new(),
            targets: Vec::new(),
            disposable: row.and_then(|row| row.disposable).unwrap_or(false),
            continues: row.and_then(|row| row.continues).unwrap_or(false),
            recalls: row.and_then(|row| row.recalls).unwrap_or(false),
            row: id,
            kind: row.map_or(Kind::Other, |row| kind_of(row, &arguments)),
            form: Form::Known,
        };
        let mut salient = None;
        match (call.kind, row) {
            (Kind::Read | Kind::Mutate, Some(row)) => {
                let named = named_files(row, &arguments, call.kind);
                salient = named.salient();
                call.targets = named.targets(cwd, call.kind);
            }
            (Kind::Patch, Some(row)) => {
                let text = patch_text(row, &arguments);
                let files = text.as_deref().map(patch::files).unwrap_or_default();
                call.targets = mutations(files.iter().filter_map(|file| FilePath::new(file, cwd)));
                salient = files
                    .first()
                    .map(|first| ((*first).to_owned(), files.len() - 1));
            }
            (Kind::Shell, Some(row)) => salient = self.shell(&mut call, row, &arguments, cwd),
            (_, None) => {
                call.form = Form::ByShape;
                self.by_shape(&mut call, name, &arguments, cwd);
            }
            _ => {}
        }
        call.label = match salient {
            Some((first, more)) => label_of_paths(name, &first, more),
            None => {
                let keys = row.and_then(|row| row.label.as_deref());
                let salient = salient_argument(keys, &self.common().label, &arguments);
                label(name, salient.as_deref())
            }
        };
        call
    }

    fn shell(
        &self,
        call: &mut CallTouch,
        row: &Row,
        arguments: &Arguments<'_>,
        cwd: Option<&str>,
    ) -> Option<(String, usize)> {
        let workdir = arguments.fields().and_then(|fields| {
            let keys = row.workdir.as_deref().unwrap_or_default();
            keys.iter()
                .find_map(|key| fields.text(key))
                .filter(|text| !text.trim().is_empty())
        });
        let base = match &workdir {
            Some(workdir) => super::path::directory(workdir, cwd),
            None => cwd.map(str::to_owned),
        };
        let command = command(row, arguments)?;
        let touch = match &command {
            CommandLine::One(line) => shell::line(line, base.as_deref()),
            CommandLine::Many(lines) => {
                shell::lines(lines.iter().map(AsRef::as_ref), base.as_deref())
            }
            CommandLine::Words(words) => {
                shell::words(words.iter().map(AsRef::as_ref), base.as_deref())
            }
        };
        call.form = Form::Shell {
            one_is_an_answer: touch.one_is_an_answer,
            sole: touch.sole,
            numbered: touch.numbered,
        };
        call.targets = shell_targets(touch);
        Some((command.shown(), 0))
    }

    /// An unknown tool whose name says that it reads and which names a file may have read it.
    fn by_shape(
        &self,
        call: &mut CallTouch,
        name: &str,
        arguments: &Arguments<'_>,
        cwd: Option<&str>,
    ) {
        let common = self.common();
        let Some(fields) = arguments.fields() else {
            return;
        };
        let lower = name.to_ascii_lowercase();
        let words = lower.split(|c: char| !c.is_ascii_alphanumeric());
        let reads = words
            .into_iter()
            .any(|word| common.read_words.iter().any(|known| known == word));
        if !reads {
            return;
        }
        let path = common.paths.iter().find_map(|key| fields.text(key));
        if let Some(path) = path.and_then(|path| FilePath::new(&path, cwd)) {
            call.kind = Kind::Read;
            call.targets.push(Target {
                path,
                access: Access::Read(LineRange::WHOLE),
            });
        }
    }
}

fn kind_of(row: &Row, arguments: &Arguments<'_>) -> Kind {
    let kind = row.kind.unwrap_or_default();
    let Some(fields) = arguments.fields() else {
        return kind;
    };
    let unless = row.unless.as_deref().unwrap_or_default();
    if unless
        .iter()
        .any(|key| fields.get(key).is_some_and(|flag| flag.is_true()))
    {
        return Kind::Other;
    }
    let verb = row.verb.as_deref().and_then(|key| fields.text(key));
    match verb {
        // A sub-command that the table does not name is not understood.
        Some(verb) => {
            let verbs = row.verbs.as_ref();
            verbs
                .and_then(|verbs| verbs.get(verb.trim()))
                .copied()
                .unwrap_or(Kind::Other)
        }
        None => kind,
    }
}

/// The files that a call names, with the lines asked of each.
#[derive(Default)]
struct Named<'a>(Vec<(Cow<'a, str>, LineRange)>);

impl Named<'_> {
    fn salient(&self) -> Option<(String, usize)> {
        let (first, _) = self.0.first()?;
        let mut others: Vec<&str> = self
            .0
            .iter()
            .map(|(path, _)| path.as_ref())
            .filter(|path| path != first)
            .collect();
        others.sort_unstable();
        others.dedup();
        Some((first.clone().into_owned(), others.len()))
    }

    fn targets(&self, cwd: Option<&str>, kind: Kind) -> Vec<Target> {
        let targets = self.0.iter().filter_map(|(path, range)| {
            let access = match kind {
                Kind::Read => Access::Read(*range),
                _ => Access::Mutate,
            };
            Some(Target {
                path: FilePath::new(path, cwd)?,
                access,
            })
        });
        let mut unique: Vec<Target> = Vec::new();
        for target in targets {
            if !unique.contains(&target) {
                unique.push(target);
            }
        }
        unique
    }
}

fn named_files<'a>(row: &Row, arguments: &Arguments<'a>, kind: Kind) -> Named<'a> {
    let mut named = Named::default();
    let Some(fields) = arguments.fields() else {
        return named;
    };
    let range = if kind == Kind::Read {
        row.range.as_ref()
    } else {
        None
    };
    for key in row.paths.iter().flatten() {
        if let Some((list, member)) = key.split_once("[].") {
            let Some(Argument::List(items)) = fields.get(list) else {
                continue;
            };
            for item in items {
                let Some(path) = item.member(member).and_then(Argument::as_text) else {
                    continue;
                };
                let path: Cow<'a, str> = Cow::Owned(path.to_owned());
                add(&mut named, path, range, &|key| item.member(key).cloned());
            }
            continue;
        }
        match fields.get(key) {
            Some(Argument::Text(text)) if text.trim_start().starts_with('<') => {
                for path in tagged_paths(&text) {
                    let path: Cow<'a, str> = Cow::Owned(path.to_owned());
                    add(&mut named, path, range, &|_| None);
                }
            }
            Some(Argument::Text(text)) => add(&mut named, text, range, &|key| fields.get(key)),
            Some(Argument::List(items)) => {
                for item in items {
                    if let Argument::Text(text) = item {
                        add(&mut named, text, range, &|_| None);
                    }
                }
            }
            _ => {}
        }
        if named.0.len() > MAX_FILES {
            break;
        }
    }
    named
}

/// More files than a call names; it bounds what one result can weigh on a plan.
const MAX_FILES: usize = 256;

fn add<'a>(
    named: &mut Named<'a>,
    path: Cow<'a, str>,
    range: Option<&Range>,
    argument: &dyn Fn(&str) -> Option<Argument<'a>>,
) {
    let Some(range) = range else {
        named.0.push((path, LineRange::WHOLE));
        return;
    };
    if range.suffix
        && let Some((bare, suffix)) = path.rsplit_once(':')
        && let Some(ranges) = pairs(suffix)
    {
        let bare: Cow<'a, str> = Cow::Owned(bare.to_owned());
        named
            .0
            .extend(ranges.into_iter().map(|range| (bare.clone(), range)));
        return;
    }
    for asked in asked(range, argument) {
        named.0.push((path.clone(), asked));
    }
}

/// The lines that the arguments ask for.
fn asked<'a>(range: &Range, argument: &dyn Fn(&str) -> Option<Argument<'a>>) -> Vec<LineRange> {
    let number = |keys: &[String]| keys.iter().find_map(|key| argument(key)?.as_number());
    let positive = |keys: &[String]| number(keys).and_then(|number| u64::try_from(number).ok());
    let whole = range
        .whole
        .iter()
        .any(|key| argument(key).is_some_and(|flag| flag.is_true()));
    if whole {
        return vec![LineRange::WHOLE];
    }
    let ranges = range.pair.iter().find_map(|key| match argument(key)? {
        Argument::Text(text) => pairs(&text),
        list => pairs_of_list(&list),
    });
    if let Some(ranges) = ranges {
        return ranges;
    }
    if let Some(lines) = positive(&range.head) {
        return vec![LineRange::new(1, Some(lines.saturating_add(1)))];
    }
    if number(&range.tail).is_some() {
        return vec![LineRange::NOTHING];
    }
    let offset = positive(&range.offset).map(|offset| offset.saturating_add(1 - range.base.min(1)));
    let start = positive(&range.start).or(offset).unwrap_or(1).max(1);
    let limit = positive(&range.limit)
        .filter(|limit| *limit > 0)
        .or(range.lines);
    let end = match number(&range.end) {
        // -1 is "to the end" where it is documented at all.
        Some(end) => u64::try_from(end).ok().map(|end| end.saturating_add(1)),
        None => limit.map(|limit| start.saturating_add(limit)),
    };
    vec![LineRange::new(start, end)]
}

/// `10-20`, `10`, `10-`, `10-20,30-40`.
fn pairs(text: &str) -> Option<Vec<LineRange>> {
    let pairs = text.split(',').map(|pair| {
        let pair = pair.trim();
        let (first, last) = match pair.split_once(['-', ':']) {
            Some((first, "")) => (first, None),
            Some((first, last)) => (first, Some(last)),
            None => (pair, Some(pair)),
        };
        let first: u64 = first.trim().parse().ok()?;
        let end = match last {
            Some(last) => Some(last.trim().parse::<u64>().ok()?.checked_add(1)?),
            None => None,
        };
        Some(LineRange::new(first, end))
    });
    pairs.collect()
}

/// `[10, 20]`, `[10, -1]`, `[[10, 20], [30, 40]]`, `["10-20", "30-40"]`.
fn pairs_of_list(list: &Argument<'_>) -> Option<Vec<LineRange>> {
    let Argument::List(items) = list else {
        return None;
    };
    if let [first, last] = items.as_slice()
        && let (Some(first), Some(last)) = (first.as_number(), last.as_number())
    {
        let end = u64::try_from(last).ok().map(|last| last.saturating_add(1));
        return Some(vec![LineRange::new(u64::try_from(first).unwrap_or(1), end)]);
    }
    let mut ranges = Vec::new();
    for item in items.iter().take(MAX_FILES) {
        match item {
            Argument::Text(text) => ranges.extend(pairs(text)?),
            Argument::List(inner) if inner.len() == 2 => ranges.extend(pairs_of_list(item)?),
            _ => return None,
        }
    }
    (!ranges.is_empty()).then_some(ranges)
}

/// Roo Code's tags inside one argument: `<file><path>a.rs</path></file>`.
fn tagged_paths(text: &str) -> impl Iterator<Item = &str> {
    let parts = text.split("<path>").skip(1);
    parts
        .filter_map(|part| part.split_once("</path>"))
        .map(|(path, _)| path.trim())
        .take(MAX_FILES)
}

fn patch_text<'a>(row: &Row, arguments: &Arguments<'a>) -> Option<Cow<'a, str>> {
    match arguments {
        Arguments::Text(text) => Some(Cow::Borrowed(text)),
        Arguments::Fields(fields) => {
            let keys = row.patch.as_deref().unwrap_or_default();
            keys.iter().find_map(|key| match fields.get(key)? {
                Argument::Text(text) => Some(text),
                // `["apply_patch", "*** Begin Patch…"]`
                Argument::List(words) => words
                    .last()
                    .and_then(Argument::as_text)
                    .map(|text| Cow::Owned(text.to_owned())),
                _ => None,
            })
        }
        Arguments::List(words) => words
            .last()
            .and_then(Argument::as_text)
            .map(|text| Cow::Owned(text.to_owned())),
        Arguments::Nothing => None,
    }
}

/// What is to be run.
enum CommandLine<'a> {
    One(Cow<'a, str>),
    Many(Vec<Cow<'a, str>>),
    Words(Vec<Cow<'a, str>>),
}

impl CommandLine<'_> {
    /// As a person reads it: of `["bash", "-lc", "cat f"]` only the script.
    fn shown(&self) -> String {
        match self {
            Self::One(line) => line.clone().into_owned(),
            Self::Many(lines) => lines.join("; "),
            Self::Words(words) => match words.as_slice() {
                [shell, option, script]
                    if option.starts_with('-')
                        && option.ends_with('c')
                        && shell.ends_with("sh") =>
                {
                    script.clone().into_owned()
                }
                words => words.join(" "),
            },
        }
    }
}

fn command<'a>(row: &Row, arguments: &Arguments<'a>) -> Option<CommandLine<'a>> {
    match arguments {
        Arguments::Text(text) => Some(CommandLine::One(Cow::Borrowed(text))),
        Arguments::List(words) => Some(CommandLine::Words(texts(words.clone()))),
        Arguments::Fields(fields) => row
            .command
            .iter()
            .flatten()
            .find_map(|key| command_in(fields, key)),
        Arguments::Nothing => None,
    }
}

fn command_in<'a>(fields: &Fields<'a>, key: &str) -> Option<CommandLine<'a>> {
    if let Some(list) = key.strip_suffix("[]") {
        return match fields.get(list)? {
            Argument::List(lines) => Some(CommandLine::Many(texts(lines))),
            Argument::Text(line) => Some(CommandLine::One(line)),
            _ => None,
        };
    }
    match fields.get(key)? {
        Argument::Text(line) => Some(CommandLine::One(line)),
        Argument::List(words) => Some(CommandLine::Words(texts(words))),
        _ => None,
    }
}

fn texts(list: Vec<Argument<'_>>) -> Vec<Cow<'_, str>> {
    let texts = list.into_iter().filter_map(|item| match item {
        Argument::Text(text) => Some(text),
        _ => None,
    });
    texts.collect()
}

fn shell_targets(touch: ShellTouch) -> Vec<Target> {
    let reads = touch.reads.into_iter().map(|(path, range)| Target {
        path,
        access: Access::Read(range),
    });
    let mut targets: Vec<Target> = reads.collect();
    targets.extend(mutations(touch.mutations.into_iter()));
    targets
}

fn mutations(files: impl Iterator<Item = FilePath>) -> Vec<Target> {
    let targets = files.map(|path| Target {
        path,
        access: Access::Mutate,
    });
    targets.collect()
}

/// The argument that says most about a call.
fn salient_argument(
    row: Option<&[String]>,
    common: &[String],
    arguments: &Arguments<'_>,
) -> Option<String> {
    match arguments {
        Arguments::Text(text) => Some((*text).to_owned()),
        Arguments::List(words) => Some(texts(words.clone()).join(" ")),
        Arguments::Nothing => None,
        Arguments::Fields(fields) => {
            let keys = row.unwrap_or_default().iter().chain(common);
            keys.into_iter().find_map(|key| shown(&fields.get(key)?))
        }
    }
}

fn shown(argument: &Argument<'_>) -> Option<String> {
    match argument {
        Argument::Text(text) => {
            Some(text.clone().into_owned()).filter(|text| !text.trim().is_empty())
        }
        Argument::Number(number) => Some(number.to_string()),
        Argument::List(items) => {
            let first = items.iter().find_map(shown)?;
            Some(match items.len() {
                0 | 1 => first,
                more => format!("{first} +{}", more - 1),
            })
        }
        _ => None,
    }
}
