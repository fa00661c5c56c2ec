//! Makes the nodes' security group and its rules, or puts them right.

use fabric_openstack::Taggable;
use fabric_openstack_types::{
    Evidence, Owned,
    ids::{SecurityGroupId, SecurityGroupRuleId},
    network::{SecurityGroup, SecurityGroupUpdate},
};

use super::Run;
use crate::{
    error::Error,
    plan::{RulesStep, SecurityGroupStep, rules::compare},
    state::Key,
};

pub(super) async fn ensure(run: &Run<'_>, step: SecurityGroupStep) -> Result<(), Error> {
    let (group, rules) = match step {
        SecurityGroupStep::Use(_) => return Ok(()),
        SecurityGroupStep::Have { group, update, .. } => {
            let rules = compared(run, group.get());
            let id = group.map(|it| it.id);
            if update != SecurityGroupUpdate::default() {
                let changed = run.cloud.update_security_group(&id, &update).await?;
                run.set(Key::SecurityGroupName, changed.name);
            }
            (id, rules)
        }
        SecurityGroupStep::Create(new) => {
            let made: SecurityGroup = run.cloud.create_security_group(&new).await?;
            run.set(Key::SecurityGroup, made.id.as_str());
            run.set(Key::SecurityGroupName, made.name.as_str());
            // Neutron has put its two egress rules in already.
            let rules = compared(run, &made);
            let id = Owned::by(Evidence::Created, made.id.clone());
            run.tag(id.clone().map(Taggable::SecurityGroup));
            run.save().await?;
            (id, rules)
        }
    };
    ensure_rules(run, &group, rules).await
}

/// As planned, and with the range that IPv6 pods may have got from a pool since.
fn compared(run: &Run<'_>, group: &SecurityGroup) -> RulesStep {
    let state = run.state();
    let reserved = state.get(Key::PodSubnetIpv6Cidr).and_then(|text| text.parse().ok());
    compare(run.target, &state, group, reserved)
}

/// All missing rules go in one call.
async fn ensure_rules(run: &Run<'_>, group: &Owned<SecurityGroupId>, step: RulesStep) -> Result<(), Error> {
    let mut known: Vec<SecurityGroupRuleId> = step.ours;
    if !step.missing.is_empty() {
        let new: Vec<_> = step.missing.iter().map(|rule| rule.new_in(group.get(), run.target)).collect();
        let made = run.cloud.create_security_group_rules(group, &new).await?;
        known.extend(made.into_iter().map(|rule| rule.id));
    }
    for rule in step.obsolete {
        run.cloud.delete_security_group_rule(&rule.map(|it| it.id)).await?;
    }
    known.sort();
    known.dedup();
    let ids: Vec<&str> = known.iter().map(SecurityGroupRuleId::as_str).collect();
    run.set(Key::SecurityGroupRules, ids.join(","));
    Ok(())
}
