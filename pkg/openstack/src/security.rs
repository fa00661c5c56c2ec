//! Security group rules: all in one call, and no duplicate is an error.

use fabric_openstack_types::{
    ApiError, ErrorClass, Service,
    ids::SecurityGroupId,
    network::{NewSecurityGroupRule, RuleShape, SecurityGroupRule},
};

use crate::{
    api::Query,
    call::Call,
    client::Client,
    neutron::{RULES, under},
};

impl Client {
    /// Creates rules. Neutron refuses the whole bulk when one of them exists (`SecurityGroupRuleExists`): then the
    /// missing ones are created one by one. Returns the rules in the order asked for, created or found.
    pub(crate) async fn add_rules(
        &self,
        group: &SecurityGroupId,
        rules: &[NewSecurityGroupRule],
    ) -> Result<Vec<SecurityGroupRule>, ApiError> {
        if rules.is_empty() {
            return Ok(Vec::new());
        }
        let call = Call::post(Service::Network, &[RULES.path], under(RULES.many, &rules));
        // The bulk is one transaction: after a lost answer either all rules are there or none of it.
        let look = || async {
            let present = self.rules_of(group).await?;
            let found = rules.iter().map(|rule| same(&present, &rule.shape).cloned());
            Ok(found.collect::<Option<Vec<_>>>())
        };
        match self.create(&call, |answer| answer.member(RULES.many), look).await {
            Err(error) if is_duplicate(&error) => self.add_missing(group, rules).await,
            result => result,
        }
    }

    async fn add_missing(
        &self,
        group: &SecurityGroupId,
        rules: &[NewSecurityGroupRule],
    ) -> Result<Vec<SecurityGroupRule>, ApiError> {
        let mut present = self.rules_of(group).await?;
        let mut all = Vec::with_capacity(rules.len());
        for rule in rules {
            if let Some(found) = same(&present, &rule.shape) {
                all.push(found.clone());
                continue;
            }
            match self.add_rule(group, rule).await {
                Ok(made) => all.push(made),
                // Somebody was faster, or Neutron holds our shape equal to one that it prints otherwise.
                Err(error) if is_duplicate(&error) => {
                    present = self.rules_of(group).await?;
                    all.extend(same(&present, &rule.shape).cloned());
                }
                Err(error) => return Err(error),
            }
        }
        Ok(all)
    }

    async fn add_rule(
        &self,
        group: &SecurityGroupId,
        rule: &NewSecurityGroupRule,
    ) -> Result<SecurityGroupRule, ApiError> {
        let call = Call::post(Service::Network, &[RULES.path], under(RULES.one, rule));
        let look = || async {
            let present = self.rules_of(group).await?;
            Ok(same(&present, &rule.shape).cloned())
        };
        self.create(&call, |answer| answer.member(RULES.one), look).await
    }

    async fn rules_of(&self, group: &SecurityGroupId) -> Result<Vec<SecurityGroupRule>, ApiError> {
        let query = Query::all().and("security_group_id", group.as_str());
        self.neutron_list(RULES, &query).await
    }
}

fn same<'a>(rules: &'a [SecurityGroupRule], shape: &RuleShape) -> Option<&'a SecurityGroupRule> {
    rules.iter().find(|rule| rule.shape == *shape)
}

fn is_duplicate(error: &ApiError) -> bool {
    error.class == ErrorClass::Conflict && error.kind.as_deref() == Some("SecurityGroupRuleExists")
}
