//! `infra topology`: the shoot's network as a drawing, with given and owned told apart.

mod mermaid;
pub(crate) mod model;
pub(crate) mod svg;
pub(crate) mod text;

use std::path::{Path, PathBuf};

use fabric_infrastructure::{
    State,
    observe::{Purpose, observe},
    validate::validate,
};
use model::Topology;

use crate::{
    exit::{Exit, Result, Stop},
    failure::Faults,
    output::{self, Output, Paint},
    work::{ShootArgs, Work},
};

/// The arguments.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct TopologyArgs {
    #[command(flatten)]
    shoot: ShootArgs,
    /// Draw into an SVG file; `-` is standard output
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
    /// Print a Mermaid flow chart instead of text
    #[arg(long)]
    mermaid: bool,
    #[command(flatten)]
    output: Output,
}

/// Runs the command.
///
/// # Errors
/// What keeps it from looking; a drawing that cannot be written.
pub(crate) async fn run(args: &TopologyArgs, paint: Paint) -> Result<Exit> {
    let mut work = Work::begin(&args.shoot, None, args.output, paint).await?;
    let (state, _) = work.recall()?;
    let topology = look(&work, &state, args.output, paint).await?;
    if let Some(path) = &args.svg {
        draw(&topology, path)?;
        if path.as_os_str() == "-" {
            return Ok(Exit::Ok);
        }
        output::tell(&format!("drawn into {}", path.display()));
    }
    match (args.mermaid, args.output.is_table()) {
        (true, _) => output::print(&mermaid::draw(&topology))?,
        (false, true) => output::print(&text::draw(&topology, paint))?,
        (false, false) => output::structured(args.output.format, &topology)?,
    }
    Ok(Exit::Ok)
}

/// Looks at the cloud.
///
/// # Errors
/// The static rules' findings; calls that failed.
pub(crate) async fn look(work: &Work, state: &State, output: Output, paint: Paint) -> Result<Topology> {
    let (target, _) = validate(&work.subject.input)
        .or_else(|findings| Faults::fields(&findings.errors, &[]).stop("topology", None, output, paint))?;
    let seen = observe(&work.session.client, &target, state, Purpose::Delete).await;
    let failures = seen.failures();
    if !failures.is_empty() {
        let errors: Vec<_> =
            failures.into_iter().map(|error| fabric_infrastructure::Error::Api(error.clone())).collect();
        return Faults::errors(&errors).stop("topology", None, output, paint);
    }
    Ok(model::of(&work.title(), &target, state, &seen))
}

/// Writes the drawing.
///
/// # Errors
/// When the file cannot be written.
pub(crate) fn draw(topology: &Topology, path: &Path) -> Result<()> {
    let drawn = svg::draw(topology);
    if path.as_os_str() == "-" {
        return output::print(&drawn);
    }
    std::fs::write(path, drawn).map_err(|error| {
        let what = format!("{}: {}", path.display(), crate::input::plain(&error));
        Stop::error(what).next("give --svg a file in a folder that can be written, or - for standard output")
    })
}

#[cfg(test)]
mod tests {
    use super::{
        model::{Interface, Owner, PortNode, RouterNode, SubnetNode, Thing, Topology},
        *,
    };

    fn thing(name: &str, owner: Owner) -> Thing {
        Thing { name: name.to_owned(), id: format!("{name}-id"), owner }
    }

    fn sample(name: &str) -> Topology {
        let port =
            |n: u32| PortNode { name: format!("port-{n}"), kind: "compute:nova".to_owned(), ip: format!("10.0.0.{n}") };
        let subnet = |role, owner, ports: u32| SubnetNode {
            thing: thing("nodes", owner),
            role,
            cidr: "10.0.0.0/24".to_owned(),
            interface: Some(Interface { ip: "10.0.0.1".to_owned(), status: "ACTIVE".to_owned(), owner }),
            ports: (10..10 + ports).map(port).collect(),
        };
        Topology {
            title: "shoot on cloud".to_owned(),
            external_network: thing("public", Owner::Other),
            router: RouterNode {
                thing: thing(name, Owner::Given),
                external_ips: vec!["192.0.2.7".parse().unwrap()],
                snat: Some(true),
            },
            network: thing("net", Owner::Given),
            subnets: vec![subnet("nodes", Owner::Given, 20), subnet("", Owner::Other, 1)],
            security_group: thing("group", Owner::Owned),
            security_group_rules: 5,
            share_network: Some(thing("share", Owner::Missing)),
            key_pair: thing("key", Owner::Planned),
        }
    }

    #[test]
    fn the_text_shows_whose_each_thing_is_and_counts_what_is_too_much() {
        let drawn = text::draw(&sample("router"), Paint::plain());
        for line in [
            "└─ router router (given)  192.0.2.7, SNAT",
            "├─ subnet nodes (given)  10.0.0.0/24, for nodes",
            "└─ subnet nodes (of others)  10.0.0.0/24",
            "· port port-10 10.0.0.10 compute:nova",
            "· and 8 more ports",
            "security group group (owned)  5 rules",
            "share network share (missing)",
            "key pair key (planned)",
        ] {
            assert!(drawn.contains(line), "{line}\n{drawn}");
        }
    }

    #[test]
    fn hostile_names_stay_text_in_every_drawing() {
        let name = "</svg><script>\"x\"</script>\u{1b}[2J";
        let hostile = sample(name);
        let drawn = svg::draw(&hostile);
        assert!(!drawn.contains("<script>") && drawn.ends_with("</svg>\n") && drawn.matches("</svg>").count() == 1);
        let chart = mermaid::draw(&hostile);
        let line = chart.lines().find(|line| line.contains("router{{")).unwrap();
        assert!(!line.contains("<script>") && line.matches('"').count() == 2, "{line}");
        for drawn in [drawn, chart, text::draw(&hostile, Paint::plain())] {
            assert!(!drawn.contains('\u{1b}'));
        }
    }

    #[test]
    fn the_picture_tells_owners_by_colour_and_by_word() {
        let drawn = svg::draw(&sample("router"));
        for owner in [Owner::Given, Owner::Owned, Owner::Planned, Owner::Missing, Owner::Other] {
            assert!(drawn.contains(&format!(">{}</text>", owner.word())), "{owner:?}");
        }
        assert!(drawn.contains("rect.given") && drawn.contains("given: yours, only read"));
        assert!(drawn.contains("and 12 more ports") && drawn.contains("10.0.0.1 ACTIVE"));
    }
}
