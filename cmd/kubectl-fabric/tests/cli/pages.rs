//! Help, completions, man pages and the page of the documents.

use std::{fs, path::Path};

use crate::Desk;

#[test]
fn every_command_helps_with_an_example() {
    let desk = Desk::new();
    for command in [
        "infra validate",
        "infra plan",
        "infra apply",
        "infra drift",
        "infra status",
        "infra delete",
        "infra topology",
        "demo",
        "demo given",
        "demo reset",
        "completions",
        "man",
    ] {
        let ended = desk.run(&format!("{command} --help")).ends(0);
        assert!(ended.out.contains("Example") && ended.out.contains(command), "{command}:\n{}", ended.out);
    }
    assert!(desk.run("--version").ends(0).out.starts_with("kubectl-fabric "));
}

#[test]
fn completions_name_the_commands() {
    let desk = Desk::new();
    for shell in ["bash", "zsh", "fish"] {
        let ended = desk.run(&format!("completions {shell}")).ends(0);
        assert!(ended.out.contains("topology") && ended.out.contains("cloud-profile"), "{shell}");
    }
    desk.run("completions csh").ends(64);
}

#[test]
fn man_pages_are_written_for_every_command() {
    let desk = Desk::new();
    desk.run("man pages").ends(0);
    for page in ["kubectl-fabric.1", "kubectl-fabric-infra-apply.1", "kubectl-fabric-demo.1"] {
        assert!(fs::read_to_string(desk.path("pages").join(page)).unwrap().starts_with(".ie"), "{page}");
    }
    assert!(desk.run("man").ends(0).out.contains(".TH kubectl-fabric 1"));
}

#[test]
fn the_page_in_the_documents_is_fresh() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/usage/cli.md");
    let told = Desk::new().run("reference").ends(0).out;
    assert_eq!(told, fs::read_to_string(page).unwrap(), "run: make generate");
}
