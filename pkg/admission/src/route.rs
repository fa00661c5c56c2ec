//! The table: which path has which rules for which kinds.

use std::collections::HashMap;
use std::sync::Arc;

use async_trait::async_trait;

use crate::review::{Kind, Operation, Request};
use crate::{Error, Verdict};

/// Decides about requests. It may wait (for a cloud, say), but keeps to the request's deadline: past it, it is stopped
/// and the object is refused.
#[async_trait]
pub trait Handler: Send + Sync + 'static {
    /// The verdict on one request, whose kind and operation are in the route's table.
    async fn review(&self, request: &Request) -> Verdict;
}

/// A function that decides at once is a handler.
#[async_trait]
impl<F> Handler for F
where
    F: Fn(&Request) -> Verdict + Send + Sync + 'static,
{
    async fn review(&self, request: &Request) -> Verdict {
        self(request)
    }
}

/// Kinds and operations that one handler answers for.
#[derive(Clone)]
pub struct Rule {
    kind: Kind,
    sub_resources: Vec<String>,
    operations: Vec<Operation>,
    handler: Arc<dyn Handler>,
}

impl Rule {
    /// `handler` decides about these operations on objects of `kind`.
    pub fn new(kind: Kind, operations: &[Operation], handler: Arc<dyn Handler>) -> Self {
        Self { kind, sub_resources: vec![String::new()], operations: operations.to_vec(), handler }
    }

    /// … and on this subresource of theirs.
    #[must_use]
    pub fn with_sub_resource(mut self, name: impl Into<String>) -> Self {
        self.sub_resources.push(name.into());
        self
    }

    fn fits(&self, request: &Request) -> bool {
        self.kind == request.kind
            && self.operations.contains(&request.operation)
            && self.sub_resources.contains(&request.sub_resource)
    }
}

/// One webhook: a path and its rules. The first rule that fits a request decides.
#[derive(Clone)]
pub struct Route {
    path: &'static str,
    rules: Vec<Rule>,
}

impl Route {
    /// A webhook at `path`, without rules yet.
    pub fn new(path: &'static str) -> Self {
        Self { path, rules: Vec::new() }
    }

    /// Adds a rule.
    #[must_use]
    pub fn with(mut self, rule: Rule) -> Self {
        self.rules.push(rule);
        self
    }

    /// The path.
    pub fn path(&self) -> &'static str {
        self.path
    }

    /// The kinds and operations that have a rule, to make or check a webhook configuration from.
    pub fn covered(&self) -> impl Iterator<Item = (&Kind, &[Operation])> {
        self.rules.iter().map(|rule| (&rule.kind, rule.operations.as_slice()))
    }

    /// The handler for a request.
    ///
    /// # Errors
    /// A verdict that says what the caller should not have sent.
    pub(crate) fn handler(&self, request: &Request) -> Result<&dyn Handler, Verdict> {
        let rule = self.rules.iter().find(|rule| rule.fits(request)).ok_or_else(|| {
            let of = if request.sub_resource.is_empty() { "" } else { "/" };
            Verdict::undecodable(format!(
                "{} has no rule for {} of {}{of}{}: take it out of the rules of the webhook configuration",
                self.path, request.operation, request.kind, request.sub_resource
            ))
        })?;
        let needs_new = matches!(request.operation, Operation::Create | Operation::Update);
        let needs_old = matches!(request.operation, Operation::Delete | Operation::Update);
        if needs_new && request.object.is_none() || needs_old && request.old_object.is_none() {
            let field = if needs_new && request.object.is_none() { "object" } else { "oldObject" };
            return Err(Verdict::undecodable(format!("{} without request.{field}", request.operation)));
        }
        Ok(rule.handler.as_ref())
    }
}

/// All webhooks of a server.
#[derive(Clone, Default)]
pub struct Routes(HashMap<&'static str, Route>);

impl Routes {
    /// A table of these webhooks.
    ///
    /// # Errors
    /// [`Error::DuplicatePath`], [`Error::BadPath`]
    pub fn new(routes: impl IntoIterator<Item = Route>) -> Result<Self, Error> {
        let mut table = HashMap::new();
        for route in routes {
            let path = route.path;
            if !path.starts_with('/') {
                return Err(Error::BadPath { path: path.into() });
            }
            if table.insert(path, route).is_some() {
                return Err(Error::DuplicatePath { path: path.into() });
            }
        }
        Ok(Self(table))
    }

    pub(crate) fn get(&self, path: &str) -> Option<&Route> {
        self.0.get(path)
    }

    /// The webhooks, in no order.
    pub fn iter(&self) -> impl Iterator<Item = &Route> {
        self.0.values()
    }
}
