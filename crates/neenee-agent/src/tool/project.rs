//! The folder that tools work in, and the walls around it.
//! Deliberately not a sandbox: a command that the person allows can do what the person can.

use std::io;
use std::path::{Component, Path, PathBuf};

/// The project folder, and where whole outputs are put.
#[derive(Clone, Debug)]
pub struct Project {
    /// Without links in it.
    root: PathBuf,
    /// Further folders that tools may read and write.
    allowed: Vec<PathBuf>,
    /// Where outputs that are too long go; tools may read it.
    spill: PathBuf,
}

/// What a path is wanted for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// To look at it.
    Read,
    /// To change it.
    Write,
}

impl Project {
    /// The folder, and one for outputs that are too long for a window.
    ///
    /// # Errors
    /// When either does not exist or is no folder.
    pub fn new(root: &Path, spill: &Path) -> io::Result<Self> {
        let folder = |path: &Path| {
            let path = path.canonicalize()?;
            if path.is_dir() {
                Ok(path)
            } else {
                Err(io::Error::from(io::ErrorKind::NotADirectory))
            }
        };
        Ok(Project {
            root: folder(root)?,
            allowed: Vec::new(),
            spill: folder(spill)?,
        })
    }

    /// The same with a further folder that tools may read and write.
    ///
    /// # Errors
    /// When it does not exist.
    pub fn allow(mut self, folder: &Path) -> io::Result<Self> {
        self.allowed.push(folder.canonicalize()?);
        Ok(self)
    }

    /// The folder, without links in its path.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Where outputs go that are too long.
    pub fn spill(&self) -> &Path {
        &self.spill
    }

    /// The real path of what `raw` names, if it lies within the walls, links followed. What does not exist yet
    /// is judged by the folder that it would be made in.
    ///
    /// # Errors
    /// For the model: where the path leads, or that it cannot be told.
    pub fn resolve(&self, raw: &str, access: Access) -> Result<PathBuf, String> {
        if raw.is_empty() || raw.contains('\0') {
            return Err(format!("expected a path, found {raw:?}"));
        }
        let wanted = fold(&self.root.join(raw));
        let mut missing = Vec::new();
        let mut there: &Path = &wanted;
        let real = loop {
            match there.canonicalize() {
                Ok(real) => break real,
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    // A link that leads nowhere would be made to lead somewhere by writing to it.
                    if there.symlink_metadata().is_ok() {
                        return Err(format!("{raw} is a link that leads nowhere"));
                    }
                    let (Some(parent), Some(name)) = (there.parent(), there.file_name()) else {
                        return Err(format!("{raw} has no parent folder"));
                    };
                    missing.push(name);
                    there = parent;
                }
                Err(error) => return Err(format!("cannot reach {raw}: {error}")),
            }
        };
        let real = missing
            .iter()
            .rev()
            .fold(real, |path, name| path.join(name));
        let mut walls = self.allowed.iter().chain([&self.root]);
        let inside = walls.any(|wall| real.starts_with(wall))
            || (access == Access::Read && real.starts_with(&self.spill));
        if inside {
            Ok(real)
        } else {
            Err(format!(
                "{raw} is outside of the project folder {}",
                self.root.display()
            ))
        }
    }

    /// A path as people want to see it: relative to the project where it lies in it.
    pub fn shown(&self, path: &Path) -> String {
        match path.strip_prefix(&self.root) {
            Ok(relative) if relative.as_os_str().is_empty() => ".".to_owned(),
            Ok(relative) => relative.display().to_string(),
            Err(_) => path.display().to_string(),
        }
    }
}

/// The path without `.` and `..`, which is how a person reads it; links come into play later.
fn fold(path: &Path) -> PathBuf {
    let mut folded = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => {
                folded.pop();
            }
            other => folded.push(other),
        }
    }
    folded
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn no_way_leads_out() {
        use std::os::unix::fs::symlink;
        let bed = tempfile::tempdir().unwrap();
        let (root, outside, spill) = (
            bed.path().join("project"),
            bed.path().join("outside"),
            bed.path().join("spill"),
        );
        for folder in [&root, &outside, &spill] {
            std::fs::create_dir(folder).unwrap();
        }
        std::fs::create_dir(root.join("src")).unwrap();
        std::fs::write(outside.join("secret"), "x").unwrap();
        symlink(&outside, root.join("way")).unwrap();
        symlink(outside.join("secret"), root.join("file")).unwrap();
        symlink(outside.join("new"), root.join("dangling")).unwrap();
        symlink(root.join("src"), root.join("within")).unwrap();
        let project = Project::new(&root, &spill).unwrap();
        let ok = |raw: &str| project.resolve(raw, Access::Write);
        for raw in [
            "../outside/secret",
            "way/secret",
            "way/new",
            "file",
            "dangling",
            "/etc/passwd",
            "",
            "..",
            "src/../../outside",
        ] {
            assert!(ok(raw).is_err(), "{raw}");
        }
        let real = project.root().to_owned();
        assert_eq!(ok("src/./a/../b.rs"), Ok(real.join("src/b.rs")));
        assert_eq!(ok("within/new/deep.rs"), Ok(real.join("src/new/deep.rs")));
        assert_eq!(ok("."), Ok(real.clone()));
        // A neighbour whose name begins alike is outside.
        let neighbour = format!("{}-2/a", real.display());
        assert!(ok(&neighbour).is_err());
        // Whole outputs may be read and not written.
        let whole = spill.canonicalize().unwrap().join("out");
        let raw = whole.to_str().unwrap();
        assert!(project.resolve(raw, Access::Read).is_ok());
        assert!(project.resolve(raw, Access::Write).is_err());
        let wider = project.clone().allow(&outside).unwrap();
        assert!(wider.resolve("way/new", Access::Write).is_ok());
    }
}
