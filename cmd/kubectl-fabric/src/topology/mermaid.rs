//! The drawing as a Mermaid flow chart, for documents and pull requests.

use std::fmt::Write;

use super::model::{Owner, Thing, Topology};

/// The chart.
pub(super) fn draw(topology: &Topology) -> String {
    let mut text = String::from("flowchart TB\n");
    // Writing to a String can't fail, here and below.
    let mut line = |line: String| {
        let _ = writeln!(text, "  {line}");
    };
    let router = &topology.router;
    line(node("external", ["([", "])"], "external network", &topology.external_network, ""));
    line(node("router", ["{{", "}}"], "router", &router.thing, ""));
    let outside: Vec<String> = router.external_ips.iter().map(ToString::to_string).collect();
    line(edge("external", "router", &outside.join(", "), router.thing.owner));
    line(format!("subgraph network [\"{}\"]", label("network", &topology.network, "")));
    for (index, subnet) in topology.subnets.iter().enumerate() {
        let role = if subnet.role.is_empty() { String::new() } else { format!("for {}", subnet.role) };
        let about = format!("{} {role}", subnet.cidr);
        line(format!("  {}", node(&format!("subnet{index}"), ["[", "]"], "subnet", &subnet.thing, about.trim())));
        if !subnet.ports.is_empty() {
            let ports = crate::output::count(subnet.ports.len(), "port");
            line(format!("  ports{index}([\"{ports}\"]):::other --- subnet{index}"));
        }
    }
    line("end".to_owned());
    for (index, subnet) in topology.subnets.iter().enumerate() {
        if let Some(interface) = &subnet.interface {
            line(edge("router", &format!("subnet{index}"), &interface.ip, interface.owner));
        }
    }
    let rules = crate::output::count(topology.security_group_rules, "rule");
    line(node("group", ["[/", "/]"], "security group", &topology.security_group, &rules));
    if let Some(share) = &topology.share_network {
        line(node("share", ["[(", ")]"], "share network", share, ""));
    }
    line(node("key", [">", "]"], "key pair", &topology.key_pair, ""));
    line(format!("class network {}", class(topology.network.owner)));
    for owner in Owner::ALL {
        line(format!("classDef {} {}", class(owner), style(owner)));
    }
    text
}

fn node(id: &str, [open, close]: [&str; 2], what: &str, thing: &Thing, about: &str) -> String {
    format!("{id}{open}\"{}\"{close}:::{}", label(what, thing, about), class(thing.owner))
}

fn label(what: &str, thing: &Thing, about: &str) -> String {
    let name = if thing.name.is_empty() { &thing.id } else { &thing.name };
    let about = if about.is_empty() { String::new() } else { format!("<br/>{}", escape(about)) };
    format!("{what}<br/><b>{}</b> ({}){about}", escape(name), thing.owner.word())
}

fn edge(from: &str, to: &str, about: &str, owner: Owner) -> String {
    let line = if owner == Owner::Planned { "-.-" } else { "---" };
    if about.is_empty() { format!("{from} {line} {to}") } else { format!("{from} {line}|\"{}\"| {to}", escape(about)) }
}

/// Names of others must not end a label or become markup.
fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in crate::output::clean(text).chars() {
        match character {
            '"' | '<' | '>' | '&' | '#' | ';' | '`' => {
                let _ = write!(out, "#{};", u32::from(character));
            }
            other => out.push(other),
        }
    }
    out
}

fn class(owner: Owner) -> &'static str {
    match owner {
        Owner::Given => "given",
        Owner::Owned => "owned",
        Owner::Planned => "planned",
        Owner::Missing => "missing",
        Owner::Other => "other",
    }
}

fn style(owner: Owner) -> &'static str {
    match owner {
        Owner::Given => "fill:#dbeafe,stroke:#1d4ed8,color:#0f172a",
        Owner::Owned => "fill:#dcfce7,stroke:#15803d,color:#0f172a",
        Owner::Planned => "fill:#fef9c3,stroke:#a16207,color:#0f172a,stroke-dasharray:5 4",
        Owner::Missing => "fill:#fee2e2,stroke:#b91c1c,color:#0f172a,stroke-dasharray:5 4",
        Owner::Other => "fill:#f1f5f9,stroke:#64748b,color:#0f172a",
    }
}
