//! Walks the parsed command line: lists, pipelines, groups, loops, and where each command runs.
//! Deliberately no knowledge of any program; those are in `programs`.

use std::borrow::Cow;

use rable::{ListOperator, Node, NodeKind};

use super::words::{Variables, Word, expand};
use super::{ShellTouch, bounds, heredoc};
use crate::touch::path::{self, FilePath};
use crate::touch::range::LineRange;

/// A command line inside a command line inside a command line; more is no way to call a tool.
const MAX_SCRIPTS: usize = 3;

/// More files than a command line names.
const MAX_TARGETS: usize = 256;

/// What a command passes on to the next one in its pipeline, or prints.
#[derive(Debug)]
pub(super) enum Stream<'a> {
    /// Lines of files.
    Lines {
        of: Vec<(FilePath, LineRange)>,
        numbered: bool,
    },
    /// Text that the command line spells out.
    Text(Cow<'a, str>),
    /// Something else.
    Other,
    /// Nothing.
    Silence,
}

/// A command's words and where its streams go.
#[derive(Debug)]
pub(super) struct Command<'a> {
    pub(super) words: Vec<Word<'a>>,
    /// What it reads: a pipe, a file, a here-document.
    pub(super) input: Stream<'a>,
}

/// The directory that commands run in.
#[derive(Debug, Clone)]
pub(super) enum Base {
    /// This one, or the unknown one that all relative names of the conversation are relative to.
    Known(Option<String>),
    /// Some other.
    Lost,
}

pub(super) struct Walk {
    pub(super) touch: ShellTouch,
    pub(super) base: Base,
    pub(super) variables: Variables,
    /// Whether what is walked has surely run to its end when the whole succeeded.
    pub(super) certain: bool,
    /// How many commands print to the result.
    pub(super) printers: usize,
    numbered: bool,
}

impl Walk {
    pub(super) fn new(base: Option<&str>) -> Self {
        Self {
            touch: ShellTouch::default(),
            base: Base::Known(base.map(str::to_owned)),
            variables: Variables::default(),
            certain: true,
            printers: 0,
            numbered: false,
        }
    }

    /// Goes back to where the command line began.
    pub(super) fn return_to(&mut self, base: Option<&str>) {
        self.base = Base::Known(base.map(str::to_owned));
        self.variables = Variables::default();
    }

    pub(super) fn finish(mut self) -> ShellTouch {
        self.touch.sole = self.printers == 1 && !self.touch.reads.is_empty();
        self.touch.numbered = self.touch.sole && self.numbered;
        self.touch
    }

    /// Walks a whole text of commands.
    pub(super) fn script(&mut self, text: &str, depth: usize) {
        if depth >= MAX_SCRIPTS {
            return;
        }
        let hollowed = heredoc::hollow(text);
        let (line, bodies) = match &hollowed {
            Some(hollowed) => (hollowed.line.as_str(), hollowed.bodies.as_slice()),
            None => (text, [].as_slice()),
        };
        if !bounds::is_worth_parsing(line) || !bounds::is_safe(line) {
            // What is not looked at may print.
            self.printers += 1;
            return;
        }
        match rable::parse(line, false) {
            Ok(nodes) => {
                let mut scope = Scope { bodies, depth };
                for node in &nodes {
                    scope.statement(self, node);
                }
            }
            Err(_) => self.printers += 1,
        }
    }

    /// Walks one command given as words.
    pub(super) fn argv(&mut self, words: Vec<Word<'_>>) {
        let command = Command {
            words,
            input: Stream::Silence,
        };
        let stream = self.run(command, 0);
        self.print(stream);
    }

    /// What reaches the result.
    fn print(&mut self, stream: Stream<'_>) {
        match stream {
            Stream::Silence => {}
            Stream::Lines { of, numbered } => {
                self.printers += 1;
                if self.certain {
                    self.numbered |= numbered;
                    let room = MAX_TARGETS.saturating_sub(self.touch.reads.len());
                    self.touch.reads.extend(of.into_iter().take(room));
                }
            }
            Stream::Text(_) | Stream::Other => self.printers += 1,
        }
    }

    /// The file that a word names.
    pub(super) fn resolve(&self, word: &str) -> Option<FilePath> {
        match &self.base {
            Base::Known(base) => FilePath::new(word, base.as_deref()),
            Base::Lost => FilePath::new(word, None).filter(FilePath::is_absolute),
        }
    }

    pub(super) fn mutate(&mut self, word: &str) {
        if word.starts_with("/dev/") {
            return;
        }
        if let Some(path) = self.resolve(word)
            && self.touch.mutations.len() < MAX_TARGETS
            && !self.touch.mutations.contains(&path)
        {
            self.touch.mutations.push(path);
        }
    }

    pub(super) fn change_directory(&mut self, word: Option<&str>) {
        let Some(word) = word.filter(|word| *word != "-") else {
            self.base = Base::Lost;
            return;
        };
        let base = match &self.base {
            Base::Known(base) => base.as_deref(),
            Base::Lost => None,
        };
        let lost = matches!(self.base, Base::Lost);
        self.base = match path::directory(word, base) {
            Some(directory) if !lost || path::is_rooted(&directory) => Base::Known(Some(directory)),
            _ => Base::Lost,
        };
    }
}

/// What one text of commands has of its own.
struct Scope<'b> {
    bodies: &'b [&'b str],
    depth: usize,
}

impl<'b> Scope<'b> {
    fn statement(&mut self, walk: &mut Walk, node: &Node) {
        match &node.kind {
            NodeKind::List { items } => {
                let mut conditional = false;
                for item in items {
                    let background = item.operator == Some(ListOperator::Background);
                    self.uncertain_if(walk, conditional || background, |scope, walk| {
                        scope.statement(walk, &item.command);
                    });
                    // What stands behind `||` may not have run; behind `&&` it has, if all went well.
                    conditional = match item.operator {
                        Some(ListOperator::Or) => true,
                        Some(ListOperator::And) => conditional,
                        _ => false,
                    };
                }
            }
            NodeKind::If {
                condition,
                then_body,
                else_body,
                redirects,
            } => {
                self.statement(walk, condition);
                self.uncertain_if(walk, true, |scope, walk| {
                    scope.statement(walk, then_body);
                    if let Some(body) = else_body {
                        scope.statement(walk, body);
                    }
                });
                self.group_redirects(walk, redirects);
            }
            NodeKind::While {
                condition,
                body,
                redirects,
            }
            | NodeKind::Until {
                condition,
                body,
                redirects,
            } => {
                self.uncertain_if(walk, true, |scope, walk| {
                    scope.statement(walk, condition);
                    scope.statement(walk, body);
                });
                self.group_redirects(walk, redirects);
            }
            NodeKind::For {
                var,
                words,
                body,
                redirects,
            } => {
                self.each(walk, var, words.as_deref(), body);
                self.group_redirects(walk, redirects);
            }
            NodeKind::ForArith {
                body, redirects, ..
            }
            | NodeKind::Select {
                body, redirects, ..
            } => {
                self.uncertain_if(walk, true, |scope, walk| scope.statement(walk, body));
                self.group_redirects(walk, redirects);
            }
            NodeKind::Case {
                patterns,
                redirects,
                ..
            } => {
                self.uncertain_if(walk, true, |scope, walk| {
                    for body in patterns.iter().filter_map(|pattern| pattern.body.as_ref()) {
                        scope.statement(walk, body);
                    }
                });
                self.group_redirects(walk, redirects);
            }
            NodeKind::Subshell { body, redirects } => {
                let (base, variables) = (walk.base.clone(), walk.variables.clone());
                self.group(walk, body, redirects);
                (walk.base, walk.variables) = (base, variables);
            }
            NodeKind::BraceGroup { body, redirects } => self.group(walk, body, redirects),
            NodeKind::Negation { pipeline } | NodeKind::Time { pipeline, .. } => {
                self.statement(walk, pipeline);
            }
            NodeKind::Command { .. } | NodeKind::Pipeline { .. } => {
                let stream = self.pipeline(walk, node);
                walk.print(stream);
            }
            NodeKind::ConditionalExpr { .. } | NodeKind::ArithmeticCommand { .. } => {
                walk.touch.one_is_an_answer = true;
            }
            // A function does nothing until it is called; what calls it is not understood.
            _ => {}
        }
    }

    fn uncertain_if(
        &mut self,
        walk: &mut Walk,
        uncertain: bool,
        run: impl FnOnce(&mut Self, &mut Walk),
    ) {
        let before = walk.certain;
        walk.certain &= !uncertain;
        run(self, walk);
        walk.certain = before;
    }

    fn each(&mut self, walk: &mut Walk, variable: &str, words: Option<&[Node]>, body: &Node) {
        let words = words.unwrap_or_default();
        let values: Option<Vec<String>> = words
            .iter()
            .map(|word| expand(raw(word)?, &walk.variables).map(Cow::into_owned))
            .collect();
        match values {
            Some(values) if (1..=MAX_ROUNDS).contains(&values.len()) => {
                for value in values {
                    walk.variables.set(variable, Some(value));
                    self.statement(walk, body);
                }
            }
            _ => {
                walk.variables.set(variable, None);
                self.uncertain_if(walk, true, |scope, walk| scope.statement(walk, body));
            }
        }
    }

    /// `{ …; } > f`: what is inside prints into the file.
    fn group(&mut self, walk: &mut Walk, body: &Node, redirects: &[Node]) {
        let hidden = self.group_redirects(walk, redirects);
        self.uncertain_if(walk, hidden, |scope, walk| scope.statement(walk, body));
    }

    fn group_redirects(&mut self, walk: &mut Walk, redirects: &[Node]) -> bool {
        let mut input = Stream::Silence;
        self.redirects(walk, redirects, &mut input)
    }

    fn pipeline<'a>(&mut self, walk: &mut Walk, node: &'a Node) -> Stream<'a>
    where
        'b: 'a,
    {
        let commands = match &node.kind {
            NodeKind::Pipeline { commands, .. } => commands.as_slice(),
            _ => std::slice::from_ref(node),
        };
        let mut stream = Stream::Silence;
        for command in commands {
            stream = match &command.kind {
                NodeKind::Command {
                    assignments,
                    words,
                    redirects,
                } => self.command(walk, assignments, words, redirects, stream),
                // What a group passes on is a mixture, so its reads are none.
                _ => {
                    let printers = walk.printers;
                    self.uncertain_if(walk, true, |scope, walk| scope.statement(walk, command));
                    walk.printers = printers;
                    Stream::Other
                }
            };
        }
        stream
    }

    fn command<'a>(
        &mut self,
        walk: &mut Walk,
        assignments: &'a [Node],
        words: &'a [Node],
        redirects: &'a [Node],
        mut input: Stream<'a>,
    ) -> Stream<'a>
    where
        'b: 'a,
    {
        if words.is_empty() {
            for assignment in assignments {
                if let Some((name, value)) = raw(assignment).and_then(|text| text.split_once('=')) {
                    let value = expand(value, &walk.variables).map(Cow::into_owned);
                    walk.variables.set(name, value);
                }
            }
        }
        let hidden = self.redirects(walk, redirects, &mut input);
        let words: Vec<Word<'a>> = words.iter().map(|word| self.word(walk, word)).collect();
        if words.is_empty() {
            return Stream::Silence;
        }
        let stream = walk.run(Command { words, input }, self.depth);
        if hidden { Stream::Silence } else { stream }
    }

    fn word<'a>(&self, walk: &Walk, word: &'a Node) -> Word<'a>
    where
        'b: 'a,
    {
        let text = raw(word)?;
        expand(text, &walk.variables).or_else(|| self.spelled_out(word))
    }

    /// `"$(cat <<'EOF' …)"`: a word that the command line spells out after all.
    fn spelled_out<'a>(&self, word: &'a Node) -> Word<'a>
    where
        'b: 'a,
    {
        let NodeKind::Word { parts, .. } = &word.kind else {
            return None;
        };
        let mut substitutions = parts
            .iter()
            .filter(|part| !matches!(&part.kind, NodeKind::WordLiteral { value } if value == "\""));
        let NodeKind::CommandSubstitution { command, .. } = &substitutions.next()?.kind else {
            return None;
        };
        let NodeKind::Command {
            words, redirects, ..
        } = &command.kind
        else {
            return None;
        };
        let ([program], [redirect], None) =
            (words.as_slice(), redirects.as_slice(), substitutions.next())
        else {
            return None;
        };
        (raw(program)? == "cat")
            .then(|| self.body(redirect))
            .flatten()
            .map(Cow::Borrowed)
    }

    fn body<'a>(&self, redirect: &'a Node) -> Option<&'a str>
    where
        'b: 'a,
    {
        match &redirect.kind {
            NodeKind::HereDoc { content, .. } => heredoc::body_of(content, self.bodies),
            _ => None,
        }
    }

    /// Follows the redirects of a command; true when its output goes elsewhere than to the result.
    fn redirects<'a>(
        &mut self,
        walk: &mut Walk,
        redirects: &'a [Node],
        input: &mut Stream<'a>,
    ) -> bool
    where
        'b: 'a,
    {
        let mut hidden = false;
        for redirect in redirects {
            if let Some(body) = self.body(redirect) {
                *input = Stream::Text(Cow::Borrowed(body));
                continue;
            }
            let NodeKind::Redirect { op, target, fd, .. } = &redirect.kind else {
                *input = Stream::Other;
                continue;
            };
            let word = raw(target).and_then(|text| expand(text, &walk.variables));
            match op.as_str() {
                "<" => {
                    let path = word.and_then(|word| walk.resolve(&word));
                    *input = match path {
                        Some(path) => Stream::Lines {
                            of: vec![(path, LineRange::WHOLE)],
                            numbered: false,
                        },
                        None => Stream::Other,
                    };
                }
                "<<<" => *input = word.map_or(Stream::Other, Stream::Text),
                ">" | ">>" | ">|" | "&>" | "&>>" | ">&" => {
                    let to_stream = op == ">&"
                        && word.as_deref().is_some_and(|word| {
                            word.bytes().all(|b| b.is_ascii_digit() || b == b'-')
                        });
                    if to_stream {
                        continue;
                    }
                    if let Some(word) = word {
                        walk.mutate(&word);
                    }
                    hidden |= *fd != 2;
                }
                _ => {}
            }
        }
        hidden
    }
}

/// More rounds of a loop than anybody spells out.
const MAX_ROUNDS: usize = 32;

fn raw(word: &Node) -> Option<&str> {
    match &word.kind {
        NodeKind::Word { value, .. } => Some(value),
        _ => None,
    }
}
