//! `cargo xtask tidy`: the rules of the repository that no compiler checks.
//! Deliberately not a linter of code; rustfmt and clippy are.

use anyhow::{Context as _, bail};
use serde::Deserialize;
use std::process::Command;

/// No arguments: the workspace is the one the tool was built in.
#[derive(clap::Args)]
pub(crate) struct Args {}

/// Fails with one line per finding.
pub(crate) fn run(_: &Args) -> anyhow::Result<()> {
    let output = Command::new("cargo")
        .args(["metadata", "--no-deps", "--format-version=1", "--locked"])
        .output()
        .context("failed to run cargo metadata")?;
    if !output.status.success() {
        bail!("{}", String::from_utf8_lossy(&output.stderr));
    }
    let metadata: Metadata =
        serde_json::from_slice(&output.stdout).context("failed to read cargo metadata")?;
    let findings = check_arrows(&metadata.packages);
    for finding in &findings {
        eprintln!("{finding}");
    }
    if findings.is_empty() {
        println!("tidy: {} crates", metadata.packages.len());
        Ok(())
    } else {
        bail!("{} findings", findings.len());
    }
}

#[derive(Deserialize)]
struct Metadata {
    packages: Vec<Package>,
}

#[derive(Deserialize)]
struct Package {
    name: String,
    manifest_path: String,
    dependencies: Vec<Dependency>,
}

#[derive(Deserialize)]
struct Dependency {
    name: String,
    /// `null` for a normal dependency, else `dev` or `build`.
    kind: Option<String>,
}

/// Which of our crates each of our crates may depend on.
const ARROWS: &[(&str, &[&str])] = &[
    ("neenee-core", &[]),
    ("neenee-wire", &["neenee-core"]),
    ("neenee-store", &["neenee-core"]),
    (
        "neenee-agent",
        &["neenee-core", "neenee-wire", "neenee-store"],
    ),
    (
        "neenee-proxy",
        &["neenee-core", "neenee-wire", "neenee-store"],
    ),
    (
        "neenee-replay",
        &["neenee-core", "neenee-wire", "neenee-store"],
    ),
    (
        "neenee-cli",
        &[
            "neenee-core",
            "neenee-wire",
            "neenee-store",
            "neenee-agent",
            "neenee-proxy",
            "neenee-replay",
        ],
    ),
];

/// Crates that are never shipped: they may know all, none may know them but as a dev-dependency.
const NEVER_SHIPPED: &[&str] = &["neenee-testkit", "xtask"];

fn check_arrows(packages: &[Package]) -> Vec<String> {
    let ours = |name: &str| packages.iter().any(|package| package.name == name);
    let mut findings = Vec::new();
    for package in packages {
        if NEVER_SHIPPED.contains(&package.name.as_str()) {
            continue;
        }
        let Some((_, allowed)) = ARROWS.iter().find(|(name, _)| *name == package.name) else {
            findings.push(format!(
                "{}:1: crate {} has no row in the arrows: add one to xtask/src/tidy.rs and ARCHITECTURE.md",
                package.manifest_path, package.name
            ));
            continue;
        };
        for dependency in &package.dependencies {
            let name = dependency.name.as_str();
            let dev = dependency.kind.as_deref() == Some("dev");
            if !ours(name) || allowed.contains(&name) || (dev && NEVER_SHIPPED.contains(&name)) {
                continue;
            }
            findings.push(format!(
                "{}:1: {} must not depend on {name}: {} may know {allowed:?} only",
                package.manifest_path, package.name, package.name
            ));
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    fn package(name: &str, dependencies: &[(&str, Option<&str>)]) -> Package {
        Package {
            name: name.to_owned(),
            manifest_path: format!("crates/{name}/Cargo.toml"),
            dependencies: dependencies
                .iter()
                .map(|(name, kind)| Dependency {
                    name: (*name).to_owned(),
                    kind: kind.map(str::to_owned),
                })
                .collect(),
        }
    }

    #[test]
    fn arrows_against_the_map_are_found() {
        let packages = [
            package("neenee-core", &[("neenee-testkit", Some("dev"))]),
            package(
                "neenee-wire",
                &[("neenee-core", None), ("neenee-testkit", None)],
            ),
            package("neenee-store", &[("neenee-wire", None)]),
            package("neenee-testkit", &[("neenee-core", None)]),
            package("neenee-extra", &[]),
        ];
        let findings = check_arrows(&packages);
        assert_eq!(findings.len(), 3, "{findings:#?}");
        assert!(findings[0].contains("neenee-wire must not depend on neenee-testkit"));
        assert!(findings[1].contains("neenee-store must not depend on neenee-wire"));
        assert!(findings[2].contains("neenee-extra has no row"));
    }
}
