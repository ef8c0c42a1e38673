//! Which crate may know which: the arrows of ARCHITECTURE.md against `cargo metadata`.
//! Deliberately not about crates of others; `deny.toml` is.

use super::Finding;
use anyhow::{Context as _, bail};
use serde::Deserialize;
use std::path::Path;
use std::process::Command;

/// What each shipped crate may depend on, of ours. Wire and store do not know each other; agent,
/// proxy and replay do not either; nothing knows the command.
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

/// Crates that are never shipped: they may know all; the others know them in tests only.
const NEVER_SHIPPED: &[&str] = &["neenee-testkit", "xtask"];

/// One crate of the workspace.
#[derive(Deserialize)]
pub(super) struct Package {
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

/// The crates of the workspace, with manifest paths relative to it.
pub(super) fn packages(root: &Path) -> anyhow::Result<Vec<Package>> {
    #[derive(Deserialize)]
    struct Metadata {
        packages: Vec<Package>,
    }
    let output = Command::new("cargo")
        .args(["metadata", "--no-deps", "--format-version=1", "--locked"])
        .current_dir(root)
        .output()
        .context("failed to run cargo metadata")?;
    if !output.status.success() {
        bail!(
            "failed to read the workspace: {}",
            String::from_utf8_lossy(&output.stderr).trim()
        );
    }
    let metadata: Metadata =
        serde_json::from_slice(&output.stdout).context("failed to read cargo metadata")?;
    let mut packages = metadata.packages;
    for package in &mut packages {
        if let Ok(relative) = Path::new(&package.manifest_path).strip_prefix(root) {
            package.manifest_path = relative.to_string_lossy().replace('\\', "/");
        }
    }
    Ok(packages)
}

/// Arrows against the map, crates without a row in it, folders not named as their crate.
pub(super) fn check(packages: &[Package]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for package in packages {
        let folder = package.manifest_path.rsplit('/').nth(1).unwrap_or_default();
        if folder != package.name {
            findings.push(Finding::new(
                &package.manifest_path,
                1,
                format!(
                    "crate {} lies in folder `{folder}`: name the folder as the crate",
                    package.name
                ),
            ));
        }
        if !NEVER_SHIPPED.contains(&package.name.as_str()) {
            check_shipped(package, packages, &mut findings);
        }
    }
    findings
}

fn check_shipped(package: &Package, packages: &[Package], findings: &mut Vec<Finding>) {
    let Some((_, allowed)) = ARROWS.iter().find(|(name, _)| *name == package.name) else {
        findings.push(Finding::new(
            &package.manifest_path,
            1,
            format!(
                "crate {} has no arrows: add its row to xtask/src/tidy/arrows.rs and to ARCHITECTURE.md",
                package.name
            ),
        ));
        return;
    };
    for dependency in &package.dependencies {
        let name = dependency.name.as_str();
        let ours = packages.iter().any(|package| package.name == name);
        let tests_only = dependency.kind.as_deref() == Some("dev");
        if !ours || allowed.contains(&name) || (tests_only && NEVER_SHIPPED.contains(&name)) {
            continue;
        }
        let may = match *allowed {
            [] => "nothing of ours".to_owned(),
            names => names.join(", "),
        };
        findings.push(Finding::new(
            &package.manifest_path,
            1,
            format!(
                "{} must not depend on {name}, it may know {may}: move what it needs to where both may look",
                package.name
            ),
        ));
    }
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

    #[track_caller]
    fn expect(packages: &[Package], expected: &[&str]) {
        let found: Vec<String> = check(packages).iter().map(ToString::to_string).collect();
        assert_eq!(found.len(), expected.len(), "{found:#?}");
        for (found, expected) in found.iter().zip(expected) {
            assert!(found.contains(expected), "{found}\nlacks\n{expected}");
        }
    }

    #[test]
    fn arrows_of_the_map_pass() {
        expect(
            &[
                package(
                    "neenee-core",
                    &[("neenee-testkit", Some("dev")), ("serde", None)],
                ),
                package("neenee-wire", &[("neenee-core", None)]),
                package("neenee-store", &[("neenee-core", None)]),
                package(
                    "neenee-agent",
                    &[("neenee-core", None), ("neenee-store", None)],
                ),
                package(
                    "neenee-cli",
                    &[("neenee-agent", None), ("neenee-wire", None)],
                ),
                package(
                    "neenee-testkit",
                    &[("neenee-core", None), ("neenee-wire", None)],
                ),
            ],
            &[],
        );
    }

    #[test]
    fn arrows_against_the_map_are_found() {
        expect(
            &[
                package("neenee-core", &[("neenee-wire", Some("dev"))]),
                package(
                    "neenee-wire",
                    &[("neenee-core", None), ("neenee-store", None)],
                ),
                package("neenee-store", &[("neenee-testkit", None)]),
                package("neenee-agent", &[("neenee-proxy", None)]),
                package("neenee-proxy", &[("neenee-cli", Some("build"))]),
                package("neenee-cli", &[]),
                package("neenee-testkit", &[]),
            ],
            &[
                "neenee-core must not depend on neenee-wire",
                "neenee-wire must not depend on neenee-store",
                "neenee-store must not depend on neenee-testkit",
                "neenee-agent must not depend on neenee-proxy",
                "neenee-proxy must not depend on neenee-cli",
            ],
        );
    }

    #[test]
    fn crates_outside_the_map_are_found() {
        let mut moved = package("neenee-core", &[]);
        moved.manifest_path = "crates/core/Cargo.toml".to_owned();
        expect(
            &[moved, package("neenee-extra", &[])],
            &["lies in folder `core`", "neenee-extra has no arrows"],
        );
    }
}
