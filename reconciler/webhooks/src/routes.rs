//! The table of the rules, as the server's table.

use std::sync::Arc;

use fabric_admission::{Kind, Operation, Route, Routes, Rule};
use fabric_validation::openstack::admission::{self, Defaults, Entry, Webhook, entries};

use crate::dynamic::Dynamic;
use crate::fetch::Fetch;
use crate::handler::Judge;

/// What all webhooks of a program share.
pub struct Rules {
    /// Where other objects come from.
    pub fetch: Arc<dyn Fetch>,
    /// The rules that look into the cloud; `None`: they are off.
    pub dynamic: Option<Dynamic>,
    /// What new shoots get.
    pub defaults: Defaults,
}

/// The server's table for these webhooks.
///
/// # Errors
/// [`fabric_admission::Error::DuplicatePath`] when a webhook is named twice.
pub fn routes(webhooks: &[Webhook], rules: &Arc<Rules>) -> Result<Routes, fabric_admission::Error> {
    Routes::new(webhooks.iter().map(|&webhook| {
        entries(webhook).fold(Route::new(webhook.path()), |route, entry| {
            let judge = Judge { entry, rules: Arc::clone(rules) };
            route.with(Rule::new(kind(entry), &operations(entry), Arc::new(judge)))
        })
    }))
}

/// The kind of an entry.
pub(crate) fn kind(entry: &Entry) -> Kind {
    Kind::new(entry.group, entry.version, entry.kind)
}

/// The operations of an entry.
pub(crate) fn operations(entry: &Entry) -> Vec<Operation> {
    let operation = |operation: &admission::Operation| match operation {
        admission::Operation::Create => Operation::Create,
        admission::Operation::Update => Operation::Update,
    };
    entry.operations.iter().map(operation).collect()
}
