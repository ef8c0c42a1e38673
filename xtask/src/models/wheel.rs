//! A Python wheel read as the zip archive that it is.
//! Deliberately never installed and never run.

use anyhow::{Context as _, bail};
use std::fs::File;
use std::io::Read as _;
use std::path::Path;

/// An open wheel. Its name and version are those of its metadata folder.
pub(super) struct Wheel {
    path: String,
    name: String,
    version: String,
    /// When it was built, where it tells (`2026-11-20`). The times inside the archive are constants.
    pub(super) date: Option<String>,
}

impl Wheel {
    /// Opens the wheel and learns what it is.
    pub(super) fn open(path: &Path) -> anyhow::Result<Self> {
        let mut wheel = Self {
            path: path.display().to_string(),
            name: String::new(),
            version: String::new(),
            date: None,
        };
        let names = wheel.names()?;
        let info = names
            .iter()
            .filter_map(|name| name.split('/').next())
            .find_map(|folder| folder.strip_suffix(".dist-info"))
            .with_context(|| {
                format!(
                    "failed to read {}: no .dist-info folder, so it is no wheel",
                    wheel.path
                )
            })?;
        let (name, version) = info.rsplit_once('-').unwrap_or((info, "unknown"));
        (wheel.name, wheel.version) = (name.replace('_', "-"), version.to_owned());
        if let Some(bill) = names.iter().find(|name| name.ends_with(".cyclonedx.json")) {
            #[derive(serde::Deserialize)]
            struct Bill {
                metadata: Metadata,
            }
            #[derive(serde::Deserialize)]
            struct Metadata {
                timestamp: String,
            }
            wheel.date = serde_json::from_str::<Bill>(&wheel.text(bill)?)
                .ok()
                .and_then(|bill| bill.metadata.timestamp.get(..10).map(str::to_owned));
        }
        Ok(wheel)
    }

    /// `litellm 1.110.2`.
    pub(super) fn title(&self) -> String {
        format!("{} {}", self.name, self.version)
    }

    /// The text of the file whose path ends so.
    pub(super) fn text(&self, ending: &str) -> anyhow::Result<String> {
        let name = self
            .names()?
            .into_iter()
            .find(|name| name.ends_with(ending))
            .with_context(|| format!("failed to read {}: no {ending} in it", self.path))?;
        let mut text = String::new();
        self.archive()?
            .by_name(&name)
            .map_err(anyhow::Error::from)
            .and_then(|mut file| Ok(file.read_to_string(&mut text)?))
            .with_context(|| format!("failed to read {name} in {}", self.path))?;
        Ok(text)
    }

    fn names(&self) -> anyhow::Result<Vec<String>> {
        let archive = self.archive()?;
        let names: Result<Vec<String>, _> = archive
            .file_names()
            .map(|name| name.map(std::borrow::Cow::into_owned))
            .collect();
        let mut names = names.with_context(|| format!("failed to read {}", self.path))?;
        names.sort();
        if names.is_empty() {
            bail!("failed to read {}: it is empty", self.path);
        }
        Ok(names)
    }

    fn archive(&self) -> anyhow::Result<zip::ZipArchive<File>> {
        let file =
            File::open(&self.path).with_context(|| format!("failed to open {}", self.path))?;
        zip::ZipArchive::new(file)
            .with_context(|| format!("failed to read {} as a wheel", self.path))
    }
}
