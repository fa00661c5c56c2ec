//! The workspace as `cargo metadata` tells it: our crates, where they live, and what they declare.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use cargo_metadata::{DependencyKind, MetadataCommand};

/// Our crates and the folder that holds them.
pub(crate) struct Workspace {
    pub(crate) root: PathBuf,
    pub(crate) crates: Vec<Crate>,
}

/// One crate of ours.
#[derive(Debug, Clone, Default)]
pub(crate) struct Crate {
    pub(crate) name: String,
    /// Its folder below the root, with `/`: `pkg/openstack`.
    pub(crate) path: String,
    /// Folders of those of our crates that it needs to be built; those of its tests do not count.
    pub(crate) needs: Vec<String>,
    /// Names by which its sources see the crates of others.
    pub(crate) uses: Vec<String>,
}

impl Workspace {
    /// Reads the workspace that this program was built from; needs no network.
    pub(crate) fn load() -> Result<Self> {
        let metadata = MetadataCommand::new()
            .manifest_path(concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml"))
            .no_deps()
            .exec()
            .context("cargo metadata")?;
        let root = metadata.workspace_root.clone().into_std_path_buf();
        let folder =
            |path: &Path| path.strip_prefix(&root).ok().map(|below| below.to_string_lossy().replace('\\', "/"));
        let mut crates = Vec::new();
        for package in &metadata.packages {
            let mut ours = Crate { name: package.name.to_string(), ..Crate::default() };
            if let Some(path) = package.manifest_path.parent() {
                ours.path = folder(path.as_std_path()).unwrap_or_default();
            }
            for dependency in &package.dependencies {
                if dependency.kind == DependencyKind::Development {
                    continue;
                }
                let path = dependency.path.as_ref();
                match path.and_then(|path| folder(path.as_std_path())) {
                    Some(path) => ours.needs.push(path),
                    None => ours.uses.push(dependency.rename.clone().unwrap_or_else(|| dependency.name.clone())),
                }
            }
            ours.needs.sort();
            crates.push(ours);
        }
        crates.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(Self { root, crates })
    }
}

/// Every file below a folder, in order, without what is built, fetched or hidden from git.
pub(crate) fn files(root: &Path) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut folders = vec![root.to_path_buf()];
    while let Some(folder) = folders.pop() {
        let entries = fs::read_dir(&folder).with_context(|| format!("reading {}", folder.display()))?;
        for entry in entries {
            let entry = entry?;
            let name = entry.file_name();
            let kind = entry.file_type()?;
            if kind.is_dir() {
                if !IGNORED.iter().any(|ignored| name == *ignored) {
                    folders.push(entry.path());
                }
            } else if kind.is_file() {
                found.push(entry.path());
            }
        }
    }
    found.sort();
    Ok(found)
}

/// Folders that are no part of the repository.
pub(crate) const IGNORED: &[&str] = &[".git", "target", ".lab", "__pycache__"];
