//! `infra status`: what Gardener would read about a shoot, as it is now. Changes nothing.

use std::fmt::Write;

use fabric_infrastructure::{
    Reconciled,
    apply::Applied,
    status::{egress_cidrs, networking, provider_status},
};

use crate::{
    apply::result,
    exit::{Exit, Result, Stop},
    output::{self, Output, Paint},
    plan,
    work::{ShootArgs, Work},
};

/// The arguments.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct StatusArgs {
    #[command(flatten)]
    shoot: ShootArgs,
    #[command(flatten)]
    output: Output,
}

/// Runs the command.
///
/// # Errors
/// Nothing was applied yet; what keeps it from looking.
pub(crate) async fn run(args: &StatusArgs, paint: Paint) -> Result<Exit> {
    let mut work = Work::begin(&args.shoot, None, args.output, paint).await?;
    let (state, known) = work.recall()?;
    if !known || state.is_empty() {
        let what = format!("{}: nothing is recorded in {}", work.title(), work.state_path.display());
        return Err(Stop::error(what).next("run `apply` first, or name the state with --state"));
    }
    let drawn = plan::draw(&work, &state, "status", args.output, paint).await?;
    let applied = Applied { state, router_ips: drawn.plan.router_ips() };
    let now = Reconciled {
        provider_status: provider_status(&drawn.target, &applied),
        networking: networking(&drawn.target, &applied.state),
        egress_cidrs: egress_cidrs(&applied.router_ips),
        state: applied.state,
    };
    if args.output.is_table() {
        let closing = if drawn.shown.settled {
            paint.green("As it should be.")
        } else {
            format!("{} Run `drift` to see what.", paint.yellow("Not as it should be."))
        };
        let recorded = paint.dim(format!("recorded in {}", work.state_path.display()));
        output::print(&format!("{}\n{}  {recorded}\n{closing}\n", paint.bold(work.title()), table(&now, paint)))?;
    } else {
        output::structured(args.output.format, &result(&now))?;
    }
    Ok(Exit::Ok)
}

/// The status as people read it.
pub(crate) fn table(done: &Reconciled, paint: Paint) -> String {
    let status = &done.provider_status;
    let networks = &status.networks;
    let mut text = String::new();
    let mut line = |what: &str, name: &str, more: &str| {
        if !name.is_empty() || !more.is_empty() {
            // Writing to a String can't fail.
            let parts = [output::clean(name), paint.dim(output::clean(more))];
            let parts: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
            let _ = writeln!(text, "  {what:<17}  {}", parts.join("  "));
        }
    };
    line("network", &networks.name, &networks.id);
    for subnet in &networks.subnets {
        let purpose = serde_json::to_value(subnet.purpose).ok();
        let purpose = purpose.as_ref().and_then(|it| it.as_str()).unwrap_or_default();
        line(&format!("subnet {purpose}"), &subnet.cidr, &subnet.id);
    }
    line("router", &networks.router.external_fixed_ips.join(", "), &networks.router.id);
    line("floating pool", &networks.floating_pool.name, &networks.floating_pool.id);
    for group in &status.security_groups {
        line("security group", &group.name, &group.id);
    }
    if let Some(share) = &networks.share_network {
        line("share network", &share.name, &share.id);
    }
    line("key pair", &status.node.key_name, "");
    for (what, ranges) in
        [("nodes", &done.networking.nodes), ("pods", &done.networking.pods), ("services", &done.networking.services)]
    {
        line(what, &ranges.join(", "), "");
    }
    line("egress", &done.egress_cidrs.join(", "), "");
    text
}
