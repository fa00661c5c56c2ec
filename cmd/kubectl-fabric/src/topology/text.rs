//! The drawing as text: a tree from the outside in.

use super::model::{Owner, SubnetNode, Thing, Topology};
use crate::output::{Paint, clean, count};

/// At most so many ports are listed a subnet; the rest is counted.
const PORTS: usize = 12;

/// The tree, and what stands beside it.
pub(crate) fn draw(topology: &Topology, paint: Paint) -> String {
    let router = &topology.router;
    let mut outside: Vec<String> = router.external_ips.iter().map(ToString::to_string).collect();
    outside.extend(router.snat.map(|on| if on { "SNAT".to_owned() } else { "no SNAT".to_owned() }));
    let mut lines = vec![
        paint.bold(clean(&topology.title)),
        String::new(),
        format!("  external network {}", thing(&topology.external_network, "", paint)),
        format!("  └─ router {}", thing(&router.thing, &outside.join(", "), paint)),
        format!("     └─ network {}", thing(&topology.network, "", paint)),
    ];
    let last = topology.subnets.len().saturating_sub(1);
    for (index, node) in topology.subnets.iter().enumerate() {
        subnet(node, index == last, paint, &mut lines);
    }
    lines.push(String::new());
    let rules = count(topology.security_group_rules, "rule");
    lines.push(format!("  security group {}", thing(&topology.security_group, &rules, paint)));
    if let Some(share) = &topology.share_network {
        lines.push(format!("  share network {}", thing(share, "", paint)));
    }
    lines.push(format!("  key pair {}", thing(&topology.key_pair, "", paint)));
    lines.push(String::new());
    lines.join("\n")
}

fn subnet(node: &SubnetNode, is_last: bool, paint: Paint, lines: &mut Vec<String>) {
    let (branch, below) = if is_last { ("└─", "  ") } else { ("├─", "│ ") };
    let role = if node.role.is_empty() { String::new() } else { format!(", for {}", node.role) };
    let about = format!("{}{role}", node.cidr);
    lines.push(format!("        {branch} subnet {}", thing(&node.thing, about.trim_start_matches(", "), paint)));
    let below = format!("        {below} ");
    match &node.interface {
        Some(it) => {
            let about = paint.dim(format!("{} {}", it.ip, it.status));
            lines.push(format!("{below}· router interface {} {about}", owner(it.owner, paint)));
        }
        None if node.role.starts_with("nodes") && node.thing.owner != Owner::Planned => {
            lines.push(format!("{below}· {}", paint.yellow("no router interface")));
        }
        None => {}
    }
    for port in node.ports.iter().take(PORTS) {
        lines.push(format!(
            "{below}· port {} {}",
            clean(&port.name),
            paint.dim(format!("{} {}", port.ip, clean(&port.kind)))
        ));
    }
    if let Some(more) = node.ports.len().checked_sub(PORTS).filter(|more| *more > 0) {
        lines.push(format!("{below}· {}", paint.dim(format!("and {}", count(more, "more port")))));
    }
}

fn thing(thing: &Thing, about: &str, paint: Paint) -> String {
    let name = if thing.name.is_empty() { &thing.id } else { &thing.name };
    let about = if about.is_empty() { String::new() } else { format!("  {}", paint.dim(about)) };
    format!("{} {}{about}", paint.bold(clean(name)), owner(thing.owner, paint))
}

fn owner(owner: Owner, paint: Paint) -> String {
    let word = format!("({})", owner.word());
    match owner {
        Owner::Given => paint.blue(word),
        Owner::Owned => paint.green(word),
        Owner::Planned => paint.yellow(word),
        Owner::Missing => paint.red(word),
        Owner::Other => paint.dim(word),
    }
}
