//! Charts as archives: the same files give the same bytes, whoever packs them, when and where.
//!
//! What `helm package` writes holds times and the order of a file system. Here entries are sorted, belong to nobody,
//! and are of one time; the archive's digest then says what is in it.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use base64::{Engine, engine::general_purpose::STANDARD};
use fabric_apis::decode;
use libflate::gzip::{EncodeOptions, Encoder, HeaderBuilder};
use serde::Deserialize;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::workspace::Workspace;

/// The chart that a ControllerDeployment carries.
const EXTENSION: &str = "gardener-extension-openstack-fabric";
/// How a garden is told of it.
const REGISTRATION: &str = "examples/50-controllerregistration.yaml";
/// Charts that gardener-operator takes apart from each other, and what their archives are called.
const PARTS: [(&str, &str); 2] = [
    (
        "gardener-extension-admission-openstack-fabric/charts/runtime",
        "gardener-extension-admission-openstack-fabric-runtime",
    ),
    (
        "gardener-extension-admission-openstack-fabric/charts/application",
        "gardener-extension-admission-openstack-fabric-application",
    ),
];
/// 2000-01-01: a time before 1980 is none to some readers.
const TIME: u64 = 946_684_800;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// The folder of the archives
    #[arg(long, default_value = "target/charts", value_name = "FOLDER")]
    out: PathBuf,
    /// Print a ControllerDeployment with the extension's chart inside, and its ControllerRegistration; write nothing
    #[arg(long)]
    registration: bool,
}

/// Packs every chart in `charts/`.
pub(crate) fn run(workspace: &Workspace, arguments: &Args) -> Result<Vec<String>> {
    let charts = workspace.root.join("charts");
    if arguments.registration {
        let packed = Chart::read(&charts.join(EXTENSION), EXTENSION)?.pack()?;
        print!("{}", registration(&fs::read_to_string(workspace.root.join(REGISTRATION))?, &packed)?);
        return Ok(Vec::new());
    }
    let out = workspace.root.join(&arguments.out);
    fs::create_dir_all(&out).with_context(|| format!("creating {}", out.display()))?;
    let mut names: Vec<(String, String)> = PARTS.iter().map(|(path, name)| ((*path).into(), (*name).into())).collect();
    for entry in fs::read_dir(&charts).context("reading charts/")? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        names.push((name.clone(), name));
    }
    names.sort();
    for (path, name) in names {
        let chart = Chart::read(&charts.join(path), &name)?;
        let packed = chart.pack()?;
        let file = out.join(format!("{name}-{}.tgz", chart.version));
        fs::write(&file, &packed).with_context(|| format!("writing {}", file.display()))?;
        println!("{}  {}", digest(&packed), file.strip_prefix(&workspace.root).unwrap_or(&file).display());
    }
    Ok(Vec::new())
}

/// The files of a chart.
struct Chart {
    /// The folder in the archive: helm wants the chart's own name there.
    folder: String,
    version: String,
    files: BTreeMap<String, Vec<u8>>,
}

/// The part of a `Chart.yaml` that names the archive.
#[derive(Deserialize)]
struct Metadata {
    name: String,
    version: String,
}

impl Chart {
    /// `name` is what people call it, where the chart's own name says less.
    fn read(folder: &Path, name: &str) -> Result<Self> {
        let mut files = BTreeMap::new();
        collect(folder, "", &mut files)?;
        let text = files.get("Chart.yaml").with_context(|| format!("{} has no Chart.yaml", folder.display()))?;
        let metadata: Metadata = serde_yaml::from_slice(text)
            .with_context(|| format!("{}: name and version are needed", folder.join("Chart.yaml").display()))?;
        if metadata.name != name && !name.ends_with(&format!("-{}", metadata.name)) {
            bail!("{}: the chart is called {}, its folder {name}", folder.display(), metadata.name);
        }
        Ok(Self { folder: metadata.name, version: metadata.version, files })
    }

    fn pack(&self) -> Result<Vec<u8>> {
        let header = HeaderBuilder::new().modification_time(0).finish();
        let encoder = Encoder::with_options(Vec::new(), EncodeOptions::new().header(header))?;
        let mut archive = tar::Builder::new(encoder);
        for (path, content) in &self.files {
            let mut header = tar::Header::new_ustar();
            header.set_size(content.len() as u64);
            header.set_mode(0o644);
            header.set_uid(0);
            header.set_gid(0);
            header.set_mtime(TIME);
            archive.append_data(&mut header, format!("{}/{path}", self.folder), content.as_slice())?;
        }
        Ok(archive.into_inner()?.finish().into_result()?)
    }
}

/// Every file below a folder by its path, with `/` on every system. What each chart's `.helmignore` names, documents, is
/// left out as by `helm package`.
fn collect(folder: &Path, below: &str, files: &mut BTreeMap<String, Vec<u8>>) -> Result<()> {
    for entry in fs::read_dir(folder).with_context(|| format!("reading {}", folder.display()))? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if name.starts_with('.') || name.ends_with(".md") {
            continue;
        }
        let path = format!("{below}{name}");
        if entry.file_type()?.is_dir() {
            collect(&entry.path(), &format!("{path}/"), files)?;
        } else {
            let content = fs::read(entry.path()).with_context(|| format!("reading {}", entry.path().display()))?;
            files.insert(path, content);
        }
    }
    Ok(())
}

fn digest(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The documents of a registration, with a packed chart in place of one in a registry.
fn registration(text: &str, packed: &[u8]) -> Result<String> {
    let mut told = String::new();
    for mut document in decode::documents(REGISTRATION, text.as_bytes())? {
        if document.kind() == "ControllerDeployment" {
            let helm = document.value.get_mut("helm").and_then(Value::as_object_mut);
            let helm = helm.with_context(|| format!("{REGISTRATION}: a ControllerDeployment without helm"))?;
            helm.remove("ociRepository");
            helm.insert("rawChart".to_owned(), json!(STANDARD.encode(packed)));
        }
        told.push_str("---\n");
        told.push_str(&serde_yaml::to_string(&document.value)?);
    }
    Ok(told)
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::*;

    fn chart(files: &[(&str, &str)]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let file = folder.path().join(path);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, text).unwrap();
        }
        folder
    }

    const FILES: [(&str, &str); 5] = [
        ("Chart.yaml", "apiVersion: v2\nname: runtime\nversion: 1.2.3\n"),
        ("templates/b.yaml", "b"),
        ("templates/a/c.yaml", "c"),
        (".helmignore", "*.md"),
        ("README.md", "r"),
    ];

    #[test]
    fn the_same_files_give_the_same_bytes_in_whatever_order_they_were_written() {
        let pack = |files: &[(&str, &str)]| Chart::read(chart(files).path(), "x-runtime").unwrap().pack().unwrap();
        let mut reversed = FILES;
        reversed.reverse();
        let packed = pack(&FILES);
        assert_eq!(packed, pack(&reversed));
        // Pinned: another encoder, or another version of this one, would give other bytes.
        assert_eq!(digest(&packed), "195d27f88eaf053e7c8e549ae38a1b3da16dd22c8299b9a9024eeeee58b902ab");
        let mut archive = tar::Archive::new(libflate::gzip::Decoder::new(packed.as_slice()).unwrap());
        let entries = archive.entries().unwrap().map(|entry| {
            let mut entry = entry.unwrap();
            let mut text = String::new();
            entry.read_to_string(&mut text).unwrap();
            assert_eq!((entry.header().mtime().unwrap(), entry.header().uid().unwrap()), (TIME, 0));
            (entry.path().unwrap().display().to_string(), text)
        });
        let expected = [
            ("runtime/Chart.yaml", FILES[0].1),
            ("runtime/templates/a/c.yaml", "c"),
            ("runtime/templates/b.yaml", "b"),
        ];
        assert_eq!(entries.collect::<Vec<_>>(), expected.map(|(path, text)| (path.to_owned(), text.to_owned())));
    }

    #[test]
    fn a_folder_that_is_no_chart_says_what_is_missing() {
        let told = |files: &[(&str, &str)], name: &str| {
            format!("{:#}", Chart::read(chart(files).path(), name).err().expect("no chart"))
        };
        assert!(told(&[("a", "")], "a").ends_with("has no Chart.yaml"));
        assert!(told(&[("Chart.yaml", "name: a")], "a").contains("name and version are needed"));
        assert!(told(&FILES, "other").contains("the chart is called runtime, its folder other"));
    }

    #[test]
    fn a_registration_carries_the_chart_in_place_of_a_reference() {
        let workspace = Workspace::load().unwrap();
        let text = fs::read_to_string(workspace.root.join(REGISTRATION)).unwrap();
        let told = registration(&text, b"chart").unwrap();
        let documents = decode::documents("", told.as_bytes()).unwrap();
        assert_eq!(
            documents.iter().map(decode::Document::kind).collect::<Vec<_>>(),
            ["ControllerDeployment", "ControllerRegistration"]
        );
        let helm = &documents[0].value["helm"];
        assert_eq!((helm["rawChart"].as_str(), helm.get("ociRepository")), (Some("Y2hhcnQ="), None));
        assert!(helm["values"]["image"]["repository"].is_string());
    }
}
