//! The drawing as SVG: the external network on top, the router below, the network with its subnets side by side,
//! what stands beside them, and a legend.

use std::fmt::Write;

use super::model::{Owner, SubnetNode, Thing, Topology};
use crate::output::{clean, count};

const MARGIN: f64 = 32.0;
const CARD: f64 = 268.0;
const GAP: f64 = 28.0;
const LINE: f64 = 18.0;
/// At most so many ports are listed a subnet; the rest is counted.
const PORTS: usize = 8;

/// The picture. Sizes are in pixels; it scales.
pub(crate) fn draw(topology: &Topology) -> String {
    let columns = topology.subnets.len().max(1);
    let inner = columns_width(columns);
    let width = (inner + 4.0 * MARGIN).max(760.0);
    let mut canvas = Canvas { text: String::new(), width };
    canvas.label(MARGIN, 40.0, "title", &topology.title);
    let middle = width / 2.0;

    let external = Rect { x: middle - 170.0, y: 64.0, w: 340.0, h: 56.0 };
    canvas.card(external, &topology.external_network, "external network", &[], 28.0);

    let router = Rect { x: middle - 150.0, y: 188.0, w: 300.0, h: 58.0 };
    let edge = topology.router.thing.owner;
    canvas.edge((middle, external.bottom()), (middle, router.y), edge);
    let outside: Vec<String> = topology.router.external_ips.iter().map(ToString::to_string).collect();
    let mut along = outside;
    along.extend(topology.router.snat.map(|on| if on { "SNAT".to_owned() } else { "no SNAT".to_owned() }));
    canvas.beside((middle, 154.0), &along);
    canvas.card(router, &topology.router.thing, "router", &[], 10.0);

    let tallest = topology.subnets.iter().map(|subnet| 70.0 + LINE * lines(subnet).len() as f64).fold(88.0, f64::max);
    let network = Rect { x: middle - inner / 2.0 - MARGIN, y: 330.0, w: inner + 2.0 * MARGIN, h: tallest + 98.0 };
    canvas.frame(network, &topology.network);
    for (index, subnet) in topology.subnets.iter().enumerate() {
        let x = middle - inner / 2.0 + index as f64 * (CARD + GAP);
        let card = Rect { x, y: network.y + 34.0, w: CARD, h: tallest };
        let top = (x + CARD / 2.0, card.y);
        if let Some(interface) = &subnet.interface {
            canvas.elbow((middle, router.bottom()), top, interface.owner);
            let about = format!("{} {}", interface.ip, interface.status);
            canvas.pill((top.0, network.y - 16.0), &about, interface.owner);
        }
        let what = if subnet.role.is_empty() { "subnet".to_owned() } else { format!("subnet for {}", subnet.role) };
        canvas.card(card, &subnet.thing, &what, &lines(subnet), 8.0);
    }

    let below = network.bottom() + 28.0;
    let mut beside = vec![(&topology.security_group, "security group", count(topology.security_group_rules, "rule"))];
    beside.extend(topology.share_network.iter().map(|share| (share, "share network", String::new())));
    beside.push((&topology.key_pair, "key pair", String::new()));
    let total = columns_width(beside.len());
    for (index, (thing, what, about)) in beside.iter().enumerate() {
        let x = middle - total / 2.0 + index as f64 * (CARD + GAP);
        let about: Vec<String> = Some(about.clone()).filter(|it| !it.is_empty()).into_iter().collect();
        canvas.card(Rect { x, y: below, w: CARD, h: 78.0 }, thing, what, &about, 8.0);
    }
    let legend = below + 78.0 + 36.0;
    canvas.legend(legend);
    canvas.finish(legend + 36.0)
}

fn columns_width(columns: usize) -> f64 {
    let columns = columns as f64;
    columns * CARD + (columns - 1.0) * GAP
}

fn lines(subnet: &SubnetNode) -> Vec<String> {
    let mut lines = vec![subnet.cidr.clone()];
    if subnet.interface.is_none() && subnet.role.starts_with("nodes") && subnet.thing.owner != Owner::Planned {
        lines.push("no router interface".to_owned());
    }
    lines.extend(subnet.ports.iter().take(PORTS).map(|port| format!("• {} {}", port.ip, port.name)));
    if let Some(more) = subnet.ports.len().checked_sub(PORTS).filter(|more| *more > 0) {
        lines.push(format!("  and {}", count(more, "more port")));
    }
    lines.retain(|line| !line.is_empty());
    lines
}

#[derive(Clone, Copy)]
struct Rect {
    x: f64,
    y: f64,
    w: f64,
    h: f64,
}

impl Rect {
    fn bottom(self) -> f64 {
        self.y + self.h
    }
}

struct Canvas {
    text: String,
    width: f64,
}

impl Canvas {
    fn put(&mut self, element: std::fmt::Arguments<'_>) {
        // Writing to a String can't fail.
        let _ = writeln!(self.text, "  {element}");
    }

    fn label(&mut self, x: f64, y: f64, class: &str, text: &str) {
        self.put(format_args!(r#"<text x="{x}" y="{y}" class="{class}">{}</text>"#, escape(text)));
    }

    /// A box with a kind, a name, an owner and further lines.
    fn card(&mut self, at: Rect, thing: &Thing, what: &str, lines: &[String], corner: f64) {
        let Rect { x, y, w, h } = at;
        let class = class(thing.owner);
        self.put(format_args!(
            r#"<g><title>{}</title><rect x="{x}" y="{y}" width="{w}" height="{h}" rx="{corner}" class="{class}"/>"#,
            escape(&format!("{what} {} {} ({})", thing.name, thing.id, thing.owner.word()))
        ));
        let left = x + corner.max(14.0);
        let name = if thing.name.is_empty() { &thing.id } else { &thing.name };
        self.label(left, y + 22.0, "kind", what);
        self.put(format_args!(
            r#"<text x="{}" y="{}" class="owner {class}">{}</text>"#,
            x + w - corner.max(14.0),
            y + 22.0,
            thing.owner.word()
        ));
        self.label(left, y + 43.0, "name", &cut(name, w - 28.0, 8.0));
        for (index, line) in lines.iter().enumerate() {
            self.label(left, y + 65.0 + LINE * index as f64, "line", &cut(line, w - 28.0, 7.3));
        }
        self.put(format_args!("</g>"));
    }

    /// The network around its subnets.
    fn frame(&mut self, at: Rect, thing: &Thing) {
        let Rect { x, y, w, h } = at;
        let class = class(thing.owner);
        self.put(format_args!(r#"<rect x="{x}" y="{y}" width="{w}" height="{h}" rx="14" class="frame {class}"/>"#));
        let name = if thing.name.is_empty() { &thing.id } else { &thing.name };
        // Below the subnets: above them run the router's wires.
        let bottom = at.bottom();
        self.label(x + 20.0, bottom - 38.0, "kind", "network");
        self.label(x + 20.0, bottom - 17.0, "name", &cut(name, w - 140.0, 8.0));
        let (right, top) = (x + w - 20.0, bottom - 38.0);
        self.put(format_args!(r#"<text x="{right}" y="{top}" class="owner {class}">{}</text>"#, thing.owner.word()));
    }

    fn edge(&mut self, (x1, y1): (f64, f64), (x2, y2): (f64, f64), owner: Owner) {
        let class = class(owner);
        self.put(format_args!(r#"<path d="M{x1} {y1}L{x2} {y2}" class="edge {class}"/>"#));
    }

    /// Down, across, down.
    fn elbow(&mut self, (x1, y1): (f64, f64), (x2, y2): (f64, f64), owner: Owner) {
        let (class, turn) = (class(owner), y1 + 26.0);
        self.put(format_args!(r#"<path d="M{x1} {y1}V{turn}H{x2}V{y2}" class="edge {class}"/>"#));
    }

    /// Texts to the right of a line.
    fn beside(&mut self, (x, y): (f64, f64), texts: &[String]) {
        if !texts.is_empty() {
            self.label(x + 12.0, y + 4.0, "line", &texts.join("  "));
        }
    }

    /// A text on a line.
    fn pill(&mut self, (x, y): (f64, f64), text: &str, owner: Owner) {
        let (w, class) = (text.chars().count() as f64 * 7.3 + 22.0, class(owner));
        self.put(format_args!(
            r#"<rect x="{}" y="{}" width="{w}" height="24" rx="12" class="{class}"/>"#,
            x - w / 2.0,
            y - 16.0
        ));
        self.put(format_args!(r#"<text x="{x}" y="{}" class="line middle">{}</text>"#, y + 1.0, escape(text)));
    }

    fn legend(&mut self, y: f64) {
        let mut x = MARGIN;
        for (owner, what) in [
            (Owner::Given, "given: yours, only read"),
            (Owner::Owned, "owned: made for this shoot"),
            (Owner::Planned, "planned"),
            (Owner::Other, "of others"),
        ] {
            let class = class(owner);
            self.put(format_args!(r#"<rect x="{x}" y="{}" width="18" height="14" rx="4" class="{class}"/>"#, y - 11.0));
            self.label(x + 26.0, y, "key", what);
            x += 54.0 + what.chars().count() as f64 * 6.8;
        }
    }

    fn finish(self, height: f64) -> String {
        let Self { text, width } = self;
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" \
             height=\"{height}\" role=\"img\">\n  <style>{STYLE}</style>\n  \
             <rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n{text}</svg>\n"
        )
    }
}

const STYLE: &str = "
    text{font-family:system-ui,'DejaVu Sans',Arial,sans-serif;font-size:13px;fill:#0f172a}
    .title{font-size:19px;font-weight:600} .name{font-size:14px;font-weight:600} .kind,.key{fill:#475569;font-size:12px}
    .line{font-family:ui-monospace,'DejaVu Sans Mono',Consolas,monospace;font-size:12px} .middle{text-anchor:middle}
    .owner{font-size:12px;text-anchor:end;font-weight:600}
    rect{stroke-width:1.6} path.edge{fill:none;stroke-width:2.2}
    rect.given{fill:#dbeafe;stroke:#1d4ed8} path.given{stroke:#1d4ed8} text.given{fill:#1d4ed8}
    rect.owned{fill:#dcfce7;stroke:#15803d} path.owned{stroke:#15803d} text.owned{fill:#15803d}
    rect.planned{fill:#fefce8;stroke:#a16207;stroke-dasharray:6 4} path.planned{stroke:#a16207;stroke-dasharray:6 4} text.planned{fill:#a16207}
    rect.missing{fill:#fee2e2;stroke:#b91c1c;stroke-dasharray:6 4} path.missing{stroke:#b91c1c} text.missing{fill:#b91c1c}
    rect.other{fill:#f1f5f9;stroke:#64748b} path.other{stroke:#64748b} text.other{fill:#64748b}
    rect.frame{fill-opacity:.35}
  ";

fn class(owner: Owner) -> &'static str {
    match owner {
        Owner::Given => "given",
        Owner::Owned => "owned",
        Owner::Planned => "planned",
        Owner::Missing => "missing",
        Owner::Other => "other",
    }
}

/// As much of a text as fits; `per` is the width of a character.
fn cut(text: &str, width: f64, per: f64) -> String {
    let room = (width / per) as usize;
    if text.chars().count() <= room {
        return text.to_owned();
    }
    let kept: String = text.chars().take(room.saturating_sub(1)).collect();
    format!("{kept}…")
}

fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in clean(text).chars() {
        match character {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            other => out.push(other),
        }
    }
    out
}
