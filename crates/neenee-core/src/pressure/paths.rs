//! Every path that the conversation has named, indexed from its file name backwards: which paths
//! are the same file, and when one was last referred to.
//! Deliberately not how a path is normalised; see `touch`.

use rustc_hash::FxHashMap;

use crate::touch::FilePath;

/// A file, by order of first mention.
pub(crate) type FileId = u32;

/// A moment of the conversation: the running number of a view.
pub(crate) type Pos = u32;

type NodeId = u32;
const ROOT: NodeId = 0;

/// A trie over the components of paths, last component first, so that "ends in" is a walk from
/// the root whose cost is the length of the path and not the number of paths.
#[derive(Debug)]
pub(crate) struct PathIndex {
    components: FxHashMap<Box<str>, u32>,
    children: FxHashMap<(NodeId, u32), NodeId>,
    nodes: Vec<Node>,
    files: Vec<File>,
}

#[derive(Clone, Debug, Default)]
struct Node {
    parent: NodeId,
    /// The file whose whole path ends here.
    file: Option<FileId>,
    /// Absolute paths at or below this node.
    absolute: u32,
    /// One of them.
    any_absolute: Option<FileId>,
    /// When the second of them was first seen: from then on a relative path is ambiguous.
    ambiguous_from: Option<Pos>,
    /// The latest reference that ended here: it means every file at or below.
    named_at: Option<Pos>,
    /// The latest reference that reached this node or went beyond: it means the file that ends here.
    passed_at: Option<Pos>,
}

#[derive(Clone, Copy, Debug)]
struct File {
    node: NodeId,
    absolute: bool,
}

/// Another path that is the same file, as far as calls before a moment are concerned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Alias {
    pub(crate) file: FileId,
    /// Calls from this moment on no longer link the two.
    pub(crate) until: Option<Pos>,
}

impl Default for PathIndex {
    fn default() -> Self {
        PathIndex {
            components: FxHashMap::default(),
            children: FxHashMap::default(),
            nodes: vec![Node::default()],
            files: Vec::new(),
        }
    }
}

impl PathIndex {
    /// The file at `path`, entered at `pos` when it is new.
    pub(crate) fn enter(&mut self, path: &FilePath, pos: Pos) -> FileId {
        let absolute = path.is_absolute();
        let mut at = ROOT;
        let mut rest = Some(path.as_str());
        while let Some(text) = rest {
            let slash = memchr::memrchr(b'/', text.as_bytes());
            at = self.child_or_new(at, &text[slash.map_or(0, |slash| slash + 1)..]);
            rest = slash.map(|slash| &text[..slash]);
        }
        if let Some(file) = self.nodes[at as usize].file {
            return file;
        }
        let file = self.files.len() as FileId;
        self.nodes[at as usize].file = Some(file);
        self.files.push(File { node: at, absolute });
        if absolute {
            let mut above = Some(at);
            while let Some(id) = above {
                let node = &mut self.nodes[id as usize];
                node.absolute += 1;
                node.any_absolute.get_or_insert(file);
                if node.absolute == 2 {
                    node.ambiguous_from = Some(pos);
                }
                above = (id != ROOT).then_some(node.parent);
            }
        }
        file
    }

    /// The paths that are the same file though spelled otherwise: an absolute and a relative path
    /// of which one ends in the other, as long as no other absolute path does.
    pub(crate) fn aliases(&self, file: FileId) -> Vec<Alias> {
        let File { node, absolute } = self.files[file as usize];
        let mut found = Vec::new();
        if !absolute {
            let node = &self.nodes[node as usize];
            if let Some(file) = node.any_absolute {
                let until = node.ambiguous_from;
                found.push(Alias { file, until });
            }
            return found;
        }
        let mut at = self.nodes[node as usize].parent;
        while at != ROOT {
            let node = &self.nodes[at as usize];
            if let Some(relative) = node.file
                && node.any_absolute == Some(file)
            {
                found.push(Alias {
                    file: relative,
                    until: node.ambiguous_from,
                });
            }
            at = node.parent;
        }
        found
    }

    /// Takes note that a path-like token stands in the conversation at `pos`.
    pub(crate) fn refer(&mut self, token: &str, pos: Pos) {
        let mut at = ROOT;
        for component in token.rsplit(['/', '\\']) {
            // `a//b` and `./a` name what `a/b` and `a` name.
            if component == "." || (component.is_empty() && at == ROOT) {
                continue;
            }
            // Without a base nobody knows what `..` means; what stands behind it is still named.
            if component == ".." {
                break;
            }
            let child = match component.as_bytes() {
                [drive @ b'A'..=b'Z', b':'] => {
                    let lower = [drive.to_ascii_lowercase(), b':'];
                    // invariant: two ASCII bytes are UTF-8.
                    self.child(at, std::str::from_utf8(&lower).unwrap_or(component))
                }
                _ => self.child(at, component),
            };
            match child {
                Some(next) => at = next,
                None => return self.pass(at, pos),
            }
            self.nodes[at as usize].passed_at = Some(pos);
        }
        if at != ROOT {
            self.nodes[at as usize].named_at = Some(pos);
        }
    }

    /// Whether `name` is the last component of a path that was entered.
    pub(crate) fn knows_name(&self, name: &str) -> bool {
        self.child(ROOT, name).is_some()
    }

    /// When the file was last referred to.
    pub(crate) fn referred_at(&self, file: FileId) -> Option<Pos> {
        let mut at = self.files[file as usize].node;
        let mut last = self.nodes[at as usize].passed_at;
        while at != ROOT {
            let node = &self.nodes[at as usize];
            last = last.max(node.named_at);
            at = node.parent;
        }
        last
    }

    /// How many files were entered.
    pub(crate) fn len(&self) -> usize {
        self.files.len()
    }

    fn pass(&mut self, at: NodeId, pos: Pos) {
        if at != ROOT {
            self.nodes[at as usize].passed_at = Some(pos);
        }
    }

    fn child(&self, at: NodeId, component: &str) -> Option<NodeId> {
        let component = *self.components.get(component)?;
        self.children.get(&(at, component)).copied()
    }

    fn child_or_new(&mut self, at: NodeId, component: &str) -> NodeId {
        let next = self.components.len() as u32;
        let component = match self.components.get(component) {
            Some(&known) => known,
            None => {
                self.components.insert(component.into(), next);
                next
            }
        };
        let fresh = self.nodes.len() as NodeId;
        let child = *self.children.entry((at, component)).or_insert(fresh);
        if child == fresh {
            self.nodes.push(Node {
                parent: at,
                ..Node::default()
            });
        }
        child
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(text: &str) -> FilePath {
        FilePath::new(text, None).unwrap()
    }

    #[test]
    fn a_reference_is_a_suffix_component_by_component() {
        let check = |target: &str, token: &str, expect: bool| {
            let mut index = PathIndex::default();
            let file = index.enter(&path(target), 0);
            index.enter(&path("elsewhere/z.rs"), 0);
            index.refer(token, 7);
            let got = index.referred_at(file) == Some(7);
            assert_eq!(got, expect, "{target} by {token}");
        };
        check("src/lib.rs", "lib.rs", true);
        check("src/lib.rs", "mylib.rs", false);
        check("src/app/mod.rs", "app/mod.rs", true);
        check("src/app/mod.rs", "other/mod.rs", false);
        check("app/mod.rs", "src/app/mod.rs", true);
        check("app/mod.rs", "/repo/src/app/mod.rs", true);
        check("/repo/app/mod.rs", "/app/mod.rs", false);
        check("/repo/app/mod.rs", "./app/mod.rs", true);
        check("c:/x/b.rs", "x\\b.rs", true);
        check("c:/x/b.rs", "C:\\x\\b.rs", true);
        check("src/lib.rs", "../lib.rs", true);
        check("src/lib.rs", ".", false);
        check("src/lib.rs", "/", false);
        check("src/lib.rs", "src", false);
    }

    #[test]
    fn a_relative_path_is_its_only_absolute_one_until_another_ends_in_it() {
        let mut index = PathIndex::default();
        let relative = index.enter(&path("src/a.rs"), 1);
        assert_eq!(index.aliases(relative), []);
        let absolute = index.enter(&path("/repo/src/a.rs"), 2);
        let alias = |file, until| Alias { file, until };
        assert_eq!(index.aliases(relative), [alias(absolute, None)]);
        assert_eq!(index.aliases(absolute), [alias(relative, None)]);
        index.enter(&path("/other/a.rs"), 3);
        assert_eq!(index.aliases(relative), [alias(absolute, None)]);
        let other = index.enter(&path("/other/src/a.rs"), 4);
        assert_eq!(index.aliases(absolute), [alias(relative, Some(4))]);
        assert_eq!(index.aliases(other), []);
    }
}
