//! Dependencies point one way: who may depend on whom, as the architecture draws it.
//!
//! What a crate's tests need (development dependencies) is free. Nothing depends on `cmd` or `hack`, and
//! only the suites below `test` share what `test/contract` and `test/program` offer.

use crate::workspace::Workspace;

/// A rule: crates in `from` may depend on `may`, but never on `never`. A trailing `/*` means every
/// crate below. The first rule that fits a crate holds.
pub(crate) struct Rule {
    pub(crate) from: &'static str,
    pub(crate) may: &'static [&'static str],
    never: &'static [&'static str],
}

const fn rule(from: &'static str, may: &'static [&'static str]) -> Rule {
    Rule { from, may, never: &[] }
}

/// The arrows.
pub(crate) const RULES: &[Rule] = &[
    rule("cmd/cni", &["pkg/cni"]),
    Rule {
        from: "cmd/kubectl-fabric",
        may: &["reconciler/*", "pkg/*", "validation", "apis"],
        // Live questions go to the agent.
        never: &["pkg/datapath", "pkg/netlink", "pkg/ebpf"],
    },
    rule("cmd/*", &["reconciler/*", "pkg/*", "validation", "apis"]),
    rule("reconciler/infrastructure", &["pkg/flow", "pkg/openstack", "pkg/openstack-types", "validation", "apis"]),
    rule(
        "reconciler/tenant",
        &["pkg/netmodel", "pkg/openstack", "pkg/openstack-types", "pkg/runtime", "validation", "apis"],
    ),
    rule("reconciler/extension", &["apis"]),
    rule(
        "reconciler/webhooks",
        &[
            "reconciler/infrastructure",
            "pkg/admission",
            "pkg/openstack",
            "pkg/openstack-types",
            "pkg/runtime",
            "validation",
            "apis",
        ],
    ),
    rule("validation", &["apis", "pkg/openstack-types"]),
    rule("apis", &[]),
    rule("pkg/openstack", &["pkg/openstack-types"]),
    rule("pkg/admission", &["apis"]),
    rule("pkg/runtime", &["apis"]),
    rule("pkg/datapath", &["pkg/netmodel", "pkg/netlink", "pkg/wire", "pkg/ebpf"]),
    rule("pkg/netmodel", &["pkg/wire"]),
    rule("pkg/wire", &[]),
    rule("pkg/flow", &[]),
    rule("pkg/cni", &[]),
    rule("pkg/openstack-types", &[]),
    rule("pkg/openstack-sim", &[]),
    rule("pkg/netlink", &[]),
    rule("pkg/ebpf", &[]),
    rule("pkg/bgp", &[]),
    rule("test/*", &["test/contract", "test/program", "reconciler/*", "pkg/*", "validation", "apis"]),
    rule("hack/*", &["apis"]),
];

/// Whether a pattern of a rule names this folder.
pub(crate) fn fits(pattern: &str, path: &str) -> bool {
    match pattern.strip_suffix("/*") {
        Some(parent) => path.strip_prefix(parent).is_some_and(|rest| rest.starts_with('/')),
        None => pattern == path,
    }
}

/// The arrows that point the wrong way, and the crates that have no rule.
pub(crate) fn check(workspace: &Workspace) -> Vec<String> {
    let mut findings = Vec::new();
    for ours in &workspace.crates {
        let Some(rule) = RULES.iter().find(|rule| fits(rule.from, &ours.path)) else {
            findings.push(format!(
                "{} ({}) has no rule; give it one in hack/xtask/src/layers.rs, as the architecture says",
                ours.path, ours.name
            ));
            continue;
        };
        let any = |patterns: &[&str], path: &str| patterns.iter().any(|pattern| fits(pattern, path));
        for target in &ours.needs {
            if !any(rule.may, target) || any(rule.never, target) {
                findings.push(format!(
                    "{} must not depend on {target}; it may depend on {}",
                    ours.path,
                    sentence(rule)
                ));
            }
        }
    }
    findings
}

/// What a rule allows, in words.
pub(crate) fn sentence(rule: &Rule) -> String {
    let mut words = match rule.may {
        [] => "nothing of ours".to_owned(),
        some => some.join(", "),
    };
    if !rule.never.is_empty() {
        words += &format!(", but never on {}", rule.never.join(", "));
    }
    words
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;
    use crate::workspace::Crate;

    fn workspace(arrows: &[(&str, &[&str])]) -> Workspace {
        let crates = arrows
            .iter()
            .map(|(path, needs)| Crate {
                name: path.replace('/', "-"),
                path: (*path).to_owned(),
                needs: needs.iter().map(|&need| need.to_owned()).collect(),
                uses: Vec::new(),
            })
            .collect();
        Workspace { root: PathBuf::new(), crates }
    }

    #[test]
    fn arrows_of_the_architecture_are_allowed() {
        let drawn = workspace(&[
            ("apis", &[]),
            ("validation", &["apis", "pkg/openstack-types"]),
            ("reconciler/infrastructure", &["pkg/flow", "pkg/openstack", "validation", "apis"]),
            ("cmd/agent", &["pkg/datapath", "pkg/bgp", "apis"]),
            ("cmd/cni", &["pkg/cni"]),
            ("cmd/kubectl-fabric", &["reconciler/infrastructure", "pkg/openstack-sim"]),
            ("test/openstack", &["test/contract", "test/program", "pkg/openstack"]),
        ]);
        assert_eq!(check(&drawn), Vec::<String>::new());
    }

    #[test]
    fn each_arrow_that_points_the_wrong_way_is_found() {
        let wrong: &[(&str, &str)] = &[
            ("apis", "validation"),
            ("validation", "pkg/openstack"),
            ("pkg/openstack-types", "apis"),
            ("pkg/openstack-sim", "pkg/openstack-types"),
            ("pkg/openstack", "reconciler/infrastructure"),
            ("reconciler/extension", "pkg/openstack"),
            ("reconciler/infrastructure", "pkg/openstack-sim"),
            ("cmd/cni", "pkg/netlink"),
            ("cmd/kubectl-fabric", "pkg/datapath"),
            ("cmd/agent", "cmd/cni"),
            ("pkg/flow", "test/contract"),
            ("test/openstack", "cmd/kubectl-fabric"),
            ("test/openstack", "hack/xtask"),
            ("cmd/manager", "hack/xtask"),
        ];
        for &(from, to) in wrong {
            let findings = check(&workspace(&[(from, &[to])]));
            assert_eq!(findings.len(), 1, "{from} -> {to}: {findings:?}");
            assert!(findings[0].starts_with(&format!("{from} must not depend on {to};")), "{findings:?}");
        }
    }

    #[test]
    fn a_crate_without_a_rule_is_found() {
        let findings = check(&workspace(&[("pkg/surprise", &[])]));
        assert!(findings[0].contains("pkg/surprise (pkg-surprise) has no rule"), "{findings:?}");
    }

    #[test]
    fn a_pattern_names_what_is_below_and_nothing_beside() {
        assert!(fits("pkg/*", "pkg/flow"));
        assert!(!fits("pkg/*", "pkgs/flow"));
        assert!(!fits("pkg/*", "pkg"));
        assert!(!fits("pkg/openstack", "pkg/openstack-sim"));
    }
}
