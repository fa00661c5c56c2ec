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

pub(super) async fn ensure(run: &Run<'_>, step: SecurityGroupStep, rules: Option<RulesStep>) -> Result<(), Error> {
    let (group, rules) = match step {
        SecurityGroupStep::Use(_) => return Ok(()),
        SecurityGroupStep::Have { group, update, .. } => {
            let id = group.map(|it| it.id);
            if update != SecurityGroupUpdate::default() {
                let changed = run.cloud.update_security_group(&id, &update).await?;
                run.set(Key::SecurityGroupName, changed.name);
            }
            (id, rules.unwrap_or_default())
        }
        SecurityGroupStep::Create(new) => {
            let made: SecurityGroup = run.cloud.create_security_group(&new).await?;
            run.set(Key::SecurityGroup, made.id.as_str());
            run.set(Key::SecurityGroupName, made.name.as_str());
            // Neutron has put its two egress rules in already: they count as ours.
            let rules = compare(run.target, &run.state().clone(), &made);
            let id = Owned::by(Evidence::Created, made.id.clone());
            run.tag(id.clone().map(Taggable::SecurityGroup));
            run.save().await?;
            (id, rules)
        }
    };
    ensure_rules(run, &group, rules).await
}

/// All missing rules go in one call.
async fn ensure_rules(run: &Run<'_>, group: &Owned<SecurityGroupId>, step: RulesStep) -> Result<(), Error> {
    let mut known: Vec<SecurityGroupRuleId> = step.present;
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
