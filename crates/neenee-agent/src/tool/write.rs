//! `write`: a file's whole content.
//! Deliberately all or nothing: the file appears by a rename, links are never written through.

use std::io::Write as _;
use std::path::Path;

use serde_json::{Value, json};

use super::project::Access;
use super::read;
use super::{Boxed, Context, Nature, Output, Permission, Tool, blocking, required, schema};
use crate::provider::ToolSchema;

/// Longest preview for the person, in chars.
const PREVIEW_CHARS: usize = 2_000;

/// Writes a file.
#[derive(Clone, Copy, Debug)]
pub struct Write;

impl Tool for Write {
    fn schema(&self) -> ToolSchema {
        schema(
            "write",
            "Writes a text file whole, with folders above it as needed. Use `edit` to change a part.",
            &json!({
                "path": { "type": "string", "description": "File, relative to the project folder" },
                "content": { "type": "string", "description": "Everything that the file shall hold" },
            }),
            &["path", "content"],
        )
    }

    fn nature(&self) -> Nature {
        Nature {
            mutates: true,
            writes_arguments: true,
            ..Nature::default()
        }
    }

    fn asks(&self, arguments: &Value, context: &Context<'_>) -> Option<Permission> {
        let path = context
            .project
            .resolve(read::path(arguments).ok()?, Access::Write)
            .ok()?;
        let content = required(arguments, "content").ok()?;
        Some(Permission::Write {
            path: context.project.shown(&path),
            preview: content.chars().take(PREVIEW_CHARS).collect(),
        })
    }

    fn run<'a>(&'a self, arguments: &'a Value, context: &'a Context<'a>) -> Boxed<'a, Output> {
        Box::pin(async move {
            let raw = match read::path(arguments) {
                Ok(raw) => raw,
                Err(error) => return Err(error).into(),
            };
            let (path, content) = match (
                context.project.resolve(raw, Access::Write),
                required(arguments, "content"),
            ) {
                (Ok(path), Ok(content)) => (path, content.to_owned()),
                (Err(error), _) | (_, Err(error)) => return Err(error).into(),
            };
            let shown = context.project.shown(&path);
            blocking(move || {
                let existed = path.exists();
                put(&path, content.as_bytes())?;
                let lines = content.lines().count();
                let did = if existed { "Replaced" } else { "Created" };
                Ok(format!("{did} {shown} ({lines} lines)"))
            })
            .await
            .into()
        })
    }
}

/// Puts a file in its place, whole; one that is there keeps its permissions.
pub(super) fn put(path: &Path, bytes: &[u8]) -> Result<(), String> {
    let failed = |error: std::io::Error| format!("cannot write {}: {error}", path.display());
    let folder = path.parent().ok_or("a file needs a folder")?;
    std::fs::create_dir_all(folder).map_err(failed)?;
    if path.is_dir() {
        return Err(format!("{} is a directory, not a file", path.display()));
    }
    let mut builder = tempfile::Builder::new();
    builder.prefix(".neenee-").suffix(".part");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        // Of a new file the person's mask decides, as with any other.
        builder.permissions(std::fs::Permissions::from_mode(0o666));
    }
    let mut aside = builder.tempfile_in(folder).map_err(failed)?;
    aside.write_all(bytes).map_err(failed)?;
    if let Ok(before) = path.metadata() {
        std::fs::set_permissions(aside.path(), before.permissions()).map_err(failed)?;
    }
    aside.persist(path).map_err(|error| failed(error.error))?;
    Ok(())
}
