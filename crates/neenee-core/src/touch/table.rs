//! The declarative table of tools: what is known of a tool, looked up by its name.
//! Deliberately no knowledge of any one tool: that is data, in `tools.toml` and in a user's configuration.

use std::fmt;
use std::sync::{Arc, LazyLock};

use globset::{Glob, GlobBuilder, GlobMatcher};
use rustc_hash::FxHashMap;

use super::patterns::Marks;
use super::rows::{self, Common, Row, Tables};

/// The rows that come with the program.
const BUILTIN: &str = include_str!("tools.toml");

/// The tools that are known, and how each one's arguments and results are read. Cheap to clone.
#[derive(Clone)]
pub struct ToolTable(Arc<Compiled>);

/// Why a table of tools was refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolTableError {
    /// The line of the text, 1-based, where one is to blame.
    pub line: Option<usize>,
    /// What is wrong there and, for a name that is not known, the nearest one that is.
    pub message: String,
}

impl ToolTable {
    /// The tools that are known without any configuration.
    #[must_use]
    pub fn builtin() -> Self {
        // A constant that Rust cannot compute at compile time: parsed once, the same for everybody for ever.
        static TABLE: LazyLock<ToolTable> = LazyLock::new(|| {
            let tables = rows::parse(BUILTIN).and_then(|tables| Compiled::new(vec![tables]));
            // invariant: a unit test parses this very text.
            ToolTable(Arc::new(tables.unwrap_or_default()))
        });
        TABLE.clone()
    }

    /// This table with the rows of `toml_text` before its own. A row that leaves a field out takes it from
    /// the row that its names match without it, so that `names = ["read"]` and `disposable = true`
    /// is a whole row.
    ///
    /// # Errors
    /// When the text is not TOML, has a key or a value that a table of tools does not have, or a pattern that
    /// does not parse.
    pub fn extended(&self, toml_text: &str) -> Result<Self, ToolTableError> {
        let mut layers = vec![rows::parse(toml_text)?];
        layers.extend(self.0.layers.iter().cloned());
        Compiled::new(layers).map(|compiled| Self(Arc::new(compiled)))
    }

    pub(super) fn common(&self) -> &Common {
        &self.0.common
    }

    pub(super) fn marks(&self) -> &Marks {
        &self.0.marks
    }

    pub(super) fn row(&self, id: RowId) -> Option<&Row> {
        self.0.rows.get(id.0? as usize)
    }

    /// The row of the tool `name`, among several the first one whose `needs` are met: `has` tells whether the
    /// call has an argument of that name.
    pub(super) fn find(&self, name: &str, has: impl Fn(&str) -> bool) -> RowId {
        let name = name.trim();
        let lower = name.to_ascii_lowercase();
        let found = self.find_whole(&lower, &has);
        if found.0.is_some() {
            return found;
        }
        // `mcp__server__tool`, `server__tool`, `functions.tool`, `server:tool`, `server/tool`.
        let tail = lower.rsplit("__").next().unwrap_or(&lower);
        let tail = tail.rsplit(['.', ':', '/']).next().unwrap_or(tail);
        if tail.len() == lower.len() {
            return RowId::NONE;
        }
        self.find_whole(tail, &has)
    }

    fn find_whole(&self, name: &str, has: &impl Fn(&str) -> bool) -> RowId {
        let fits = |id: &&u32| {
            let row = &self.0.rows[**id as usize];
            row.needs.is_empty() || row.needs.iter().any(|key| has(key))
        };
        let exact = self.0.exact.get(name).into_iter().flatten();
        if let Some(id) = exact.into_iter().find(fits) {
            return RowId(Some(*id));
        }
        let globs = self.0.globs.iter().filter(|(glob, _)| glob.is_match(name));
        RowId(globs.map(|(_, id)| id).find(fits).copied())
    }
}

impl Default for ToolTable {
    fn default() -> Self {
        Self::builtin()
    }
}

impl fmt::Debug for ToolTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ToolTable")
            .field("rows", &self.0.rows.len())
            .finish_non_exhaustive()
    }
}

impl fmt::Display for ToolTableError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(f, "read the table of tools, line {line}: {}", self.message),
            None => write!(f, "read the table of tools: {}", self.message),
        }
    }
}

impl std::error::Error for ToolTableError {}

/// Which row of a table; a number, so that a call can remember it without borrowing the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct RowId(Option<u32>);

impl RowId {
    pub(super) const NONE: Self = Self(None);
}

/// The layers, the first one winning, made ready for look-ups.
#[derive(Default)]
struct Compiled {
    layers: Vec<Tables>,
    common: Common,
    rows: Vec<Row>,
    exact: FxHashMap<String, Vec<u32>>,
    globs: Vec<(GlobMatcher, u32)>,
    marks: Marks,
}

impl Compiled {
    fn new(layers: Vec<Tables>) -> Result<Self, ToolTableError> {
        let mut compiled = Self::default();
        for layer in &layers {
            compiled.common.append(&layer.common);
        }
        compiled.marks = Marks::new(&compiled.common);
        // From the last layer to the first, so that a row finds what it is to be completed from.
        for layer in layers.iter().rev() {
            compiled.add_layer(layer)?;
        }
        compiled.layers = layers;
        Ok(compiled)
    }

    fn add_layer(&mut self, layer: &Tables) -> Result<(), ToolTableError> {
        let mut exact: FxHashMap<String, Vec<u32>> = FxHashMap::default();
        let mut globs = Vec::new();
        for row in &layer.tool {
            for name in &row.names {
                let name = name.to_ascii_lowercase();
                if !name.contains(['*', '?', '[', '{']) {
                    let below = self.find_below(&name, row);
                    let id = self.push(row.completed_by(below));
                    exact.entry(name).or_default().push(id);
                    continue;
                }
                let glob = compile_glob(&name)?.compile_matcher();
                // A pattern over known names changes each of them and keeps what it leaves unsaid.
                let mut known: Vec<String> = self
                    .exact
                    .keys()
                    .filter(|key| glob.is_match(key))
                    .cloned()
                    .collect();
                known.sort_unstable();
                for name in known {
                    let below = self.find_below(&name, row);
                    let id = self.push(row.completed_by(below));
                    exact.entry(name).or_default().push(id);
                }
                let below = self
                    .globs
                    .iter()
                    .find(|(_, id)| self.rows[*id as usize].names.contains(&name));
                let below = below.map(|(_, id)| self.rows[*id as usize].clone());
                let id = self.push(row.completed_by(below));
                globs.push((glob, id));
            }
        }
        for (name, mut ids) in exact {
            let entry = self.exact.entry(name).or_default();
            ids.append(entry);
            *entry = ids;
        }
        globs.append(&mut self.globs);
        self.globs = globs;
        Ok(())
    }

    /// The row of a lower layer that `row` completes itself from: the one for the same `needs` if there is one.
    fn find_below(&self, name: &str, row: &Row) -> Option<Row> {
        let ids = self.exact.get(name);
        let ids = ids.map(Vec::as_slice).unwrap_or_default();
        let same_needs = ids
            .iter()
            .find(|id| self.rows[**id as usize].needs == row.needs);
        let glob = || {
            self.globs
                .iter()
                .find(|(glob, _)| glob.is_match(name))
                .map(|(_, id)| id)
        };
        let id = same_needs.or_else(|| ids.first()).or_else(glob)?;
        Some(self.rows[*id as usize].clone())
    }

    fn push(&mut self, row: Row) -> u32 {
        self.rows.push(row);
        u32::try_from(self.rows.len() - 1).unwrap_or(u32::MAX)
    }
}

fn compile_glob(name: &str) -> Result<Glob, ToolTableError> {
    GlobBuilder::new(name)
        .literal_separator(false)
        .build()
        .map_err(|error| ToolTableError {
            line: None,
            message: format!(
                "the tool name `{name}` is no valid pattern: {}",
                error.kind()
            ),
        })
}
