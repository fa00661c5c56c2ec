//! Rules for the worker pools of a Shoot, and for what OpenStack is told about their machines.

use std::collections::HashSet;

use fabric_apis::decode;
use fabric_apis::field::{Error, ErrorList, Path};
use fabric_apis::gardener::Worker;
use fabric_apis::openstack::v1alpha1::{CloudProfileConfig, MachineLabel, NodeTemplate, ServerGroup, WorkerConfig};
use serde_json::{Value, json};

use crate::quantity::Quantity;
use crate::text::validate_resource_name;

/// Everything that is wrong with worker pools; `path` is the list's.
pub(super) fn validate(workers: &[Worker], path: &Path<'_>) -> ErrorList {
    let mut errors = ErrorList::new();
    for (index, worker) in workers.iter().enumerate() {
        let path = path.index(index);
        if worker.zones.is_empty() {
            errors.push(Error::required(&path.child("zones"), "at least one zone must be configured"));
        }
        if let Some(volume) = &worker.volume
            && volume.type_.is_some()
            && volume.size.is_empty()
        {
            let detail = "specifying volume type without a custom volume size is not allowed";
            errors.push(Error::forbidden(&path.child("volume").child("type"), detail));
        }
        let path = path.child("providerConfig");
        match config(worker) {
            Some(Ok(config)) => validate_config(worker, &config, &path, &mut errors),
            Some(Err(error)) => errors.extend(error.to_field_errors(&path)),
            None => {}
        }
    }
    errors
}

/// What changing the pools may not touch. Pools are the same by name.
pub(super) fn validate_update(new: &[Worker], old: &[Worker], path: &Path<'_>) -> ErrorList {
    let mut errors = ErrorList::new();
    for (index, worker) in new.iter().enumerate() {
        let path = path.index(index);
        let Some(before) = old.iter().find(|old| old.name == worker.name) else { continue };
        // Machines are spread over zones by their place in the list.
        if !worker.zones.starts_with(&before.zones) {
            let detail = format!("field is immutable: zones can only be added, after {}", json!(before.zones));
            errors.push(Error::invalid(&path.child("zones"), json!(worker.zones), detail));
        }
        if worker.is_updated_in_place() {
            let mut same = |new: &Option<Value>, old: &Option<Value>, field: &str| {
                if new != old {
                    let detail = format!("{field} is immutable while machines are updated in place");
                    errors.push(Error::invalid(&path.child(field), new.clone().unwrap_or_default(), detail));
                }
            };
            same(&worker.provider_config, &before.provider_config, "providerConfig");
            same(&worker.data_volumes, &before.data_volumes, "dataVolumes");
        }
    }
    errors
}

/// What pools ask for that is not on offer. A pool whose `providerConfig` is as before is not judged.
pub(super) fn validate_offer(
    new: &[Worker],
    old: Option<&[Worker]>,
    profile: &CloudProfileConfig,
    path: &Path<'_>,
) -> ErrorList {
    let mut errors = ErrorList::new();
    for (index, worker) in new.iter().enumerate() {
        let Some(group) = chosen_group(worker).filter(|_| is_changed(worker, old)) else { continue };
        if !group.policy.is_empty() && !profile.server_group_policies.contains(&group.policy) {
            let policies: Vec<&str> = profile.server_group_policies.iter().map(String::as_str).collect();
            let detail = match policies.as_slice() {
                [] => "no matching server group policy found in cloudprofile: it offers none".to_owned(),
                policies => {
                    format!("no matching server group policy found in cloudprofile: it offers {}", json!(policies))
                }
            };
            let pool = path.index(index);
            let config = pool.child("providerConfig");
            let group_path = config.child("serverGroup");
            errors.push(Error::invalid(&group_path.child("policy"), group.policy.as_str(), detail));
        }
    }
    errors
}

/// Whether any pool asks for something that an operator has to offer.
pub(super) fn need_offer(new: &[Worker], old: Option<&[Worker]>) -> bool {
    new.iter().any(|worker| is_changed(worker, old) && chosen_group(worker).is_some())
}

fn is_changed(worker: &Worker, old: Option<&[Worker]>) -> bool {
    let before = old.and_then(|old| old.iter().find(|old| old.name == worker.name));
    before.is_none_or(|before| before.provider_config != worker.provider_config)
}

fn chosen_group(worker: &Worker) -> Option<ServerGroup> {
    config(worker)?.ok()?.server_group
}

fn config(worker: &Worker) -> Option<Result<WorkerConfig, decode::Error>> {
    worker.provider_config.as_ref().map(|raw| decode::strict(raw, std::iter::empty()))
}

fn validate_config(worker: &Worker, config: &WorkerConfig, path: &Path<'_>, errors: &mut ErrorList) {
    if let Some(group) = &config.server_group {
        let path = path.child("serverGroup");
        let path = path.child("policy");
        if group.policy.is_empty() {
            errors.push(Error::invalid(&path, "", "policy field cannot be empty"));
        } else if group.policy == "affinity" && worker.zones.len() > 1 {
            let detail = "using \"affinity\" policy with multiple availability zones is not allowed";
            errors.push(Error::forbidden(&path, detail));
        }
    }
    if let Some(template) = &config.node_template {
        validate_template(template, &path.child("nodeTemplate"), errors);
    }
    validate_labels(&config.machine_labels, worker, &path.child("machineLabels"), errors);
}

fn validate_template(template: &NodeTemplate, path: &Path<'_>, errors: &mut ErrorList) {
    let (capacity, virtual_capacity) = (path.child("capacity"), path.child("virtualCapacity"));
    for (name, value) in &template.capacity {
        let quantity = read(value, &capacity.child(name), errors);
        if ["cpu", "gpu", "memory"].contains(&name.as_str()) && quantity.is_some_and(|it| it.is_negative()) {
            errors.push(negative(name, value, &capacity.child(name)));
        }
    }
    for (name, value) in &template.virtual_capacity {
        let path = virtual_capacity.child(name);
        let Some(quantity) = read(value, &path, errors) else { continue };
        if quantity.is_negative() {
            errors.push(negative(name, value, &path));
        }
        if !quantity.is_whole() {
            errors.push(Error::invalid(&path, value.clone(), format!("{name} value must be a whole number")));
        }
    }
}

fn negative(name: &str, value: &Value, path: &Path<'_>) -> Error {
    Error::invalid(path, value.clone(), format!("{name} value must not be negative"))
}

fn read(value: &Value, path: &Path<'_>, errors: &mut ErrorList) -> Option<Quantity> {
    let quantity = Quantity::read(value);
    if quantity.is_none() {
        errors.push(Error::invalid(path, value.clone(), "no quantity: write a number, such as 2, \"500m\" or \"8Gi\""));
    }
    quantity
}

fn validate_labels(labels: &[MachineLabel], worker: &Worker, path: &Path<'_>, errors: &mut ErrorList) {
    let mut names = HashSet::new();
    for (index, label) in labels.iter().enumerate() {
        let path = path.index(index);
        validate_resource_name(&label.name, &path.child("name"), errors);
        validate_resource_name(&label.value, &path.child("value"), errors);
        if worker.labels.contains_key(&label.name) {
            let detail = "label name already defined as pool label";
            errors.push(Error::invalid(&path.child("name"), label.name.as_str(), detail));
        } else if !names.insert(&label.name) {
            errors.push(Error::duplicate(&path.child("name"), label.name.as_str()));
        }
    }
}

#[cfg(test)]
mod tests;
