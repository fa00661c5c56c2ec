//! The calls of upstream's reconcile of a shoot that stands, as our study of its contract states them. The sections are
//! those of the study: 2.7 the check before each reconcile, 3.2 the preparation, 3.3 the graph, 3.4 what each task asks.
//!
//! What the study leaves open is decided for upstream, by the smaller number and the shorter way:
//! * Region clients (3.2): each takes its endpoint from the catalog of the login; no discovery of versions.
//! * Neutron answers a list in one page.
//! * Security group rules (3.5): compared with those that came with the group; no list of their own.
//! * IPv6 CIDR services: the ranges are in the config, so nothing is polled.
//! * IPv6 subnets: without DNS servers of their own no write, although the comparison of the IPv4 one would demand it.
//! * The pattern of the external subnet matters only when a router is made.
//! * Patches of the Infrastructure are left out, as ours are.
//! * Connections: those of the run before, although a new provider client begins without.
//!
//! Calls of one task follow one another, as a function's do; so do those of the check, which collects what each one found.

use fabric_openstack_types::Service;

use super::shoot::Pattern;

/// A part of a reconcile that begins with a new provider client.
pub(super) struct Stage {
    pub(super) name: &'static str,
    pub(super) tasks: &'static [Task],
}

/// A node of the graph. It begins when all tasks in `after` that the pattern has are done.
pub(super) struct Task {
    pub(super) name: &'static str,
    /// Where the study says so.
    pub(super) section: &'static str,
    pub(super) after: &'static [&'static str],
    pub(super) calls: &'static [Call],
}

/// One request. `{Key}` is a value of the state, `{Pool}` the name of the floating pool.
pub(super) struct Call {
    pub(super) when: When,
    pub(super) what: What,
}

/// With which shoots it is made.
#[derive(Clone, Copy)]
pub(super) enum When {
    Always,
    Only(Pattern),
}

impl When {
    pub(super) fn holds(self, pattern: Pattern) -> bool {
        match self {
            Self::Always => true,
            Self::Only(only) => only == pattern,
        }
    }
}

/// What is sent.
pub(super) enum What {
    /// A token, and with it the catalog.
    Login,
    /// A path below the service's endpoint, and what the answer has to contain.
    Get { service: Service, path: &'static str, finds: &'static str },
    /// The same with a body.
    Put { service: Service, path: &'static str, body: &'static str },
}

const fn login() -> Call {
    Call { when: When::Always, what: What::Login }
}

const fn neutron(when: When, path: &'static str, finds: &'static str) -> Call {
    Call { when, what: What::Get { service: Service::Network, path, finds } }
}

/// The check has a client of its own; one call for each row of the table in 2.7. Only the floating pool is checked for
/// what is not given.
const CHECK: Stage = Stage {
    name: "check",
    tasks: &[
        Task { name: "log in", section: "2.7, 3.1, 6.2 item 6", after: &[], calls: &[login()] },
        Task {
            name: "check the config",
            section: "2.7",
            after: &["log in"],
            calls: &[
                neutron(When::Always, "/v2.0/networks?router:external=true", "{FloatingNetwork}"),
                neutron(When::Only(Pattern::Given), "/v2.0/networks?id={Network}", "{Network}"),
                neutron(When::Only(Pattern::Given), "/v2.0/subnets?id={Subnet}&network_id={Network}", "{Subnet}"),
                neutron(When::Only(Pattern::Given), "/v2.0/routers?id={Router}", "{Router}"),
                neutron(When::Only(Pattern::Given), "/v2.0/ports?device_id={Router}", "{Subnet}"),
            ],
        },
    ],
};

const GRAPH: Stage = Stage {
    name: "flow",
    tasks: &[
        Task { name: "log in", section: "3.2", after: &[], calls: &[login()] },
        Task { name: "pre-reconcile hook", section: "3.3", after: &["log in"], calls: &[] },
        Task {
            name: "ensure external network",
            section: "3.3",
            after: &["pre-reconcile hook"],
            calls: &[neutron(When::Always, "/v2.0/networks?name={Pool}&router:external=true", "{FloatingNetwork}")],
        },
        Task {
            name: "ensure router",
            section: "3.3, 3.4 router",
            after: &["ensure external network"],
            calls: &[neutron(When::Always, "/v2.0/routers?id={Router}", "{Router}")],
        },
        Task {
            name: "ensure network",
            section: "3.3, 3.4 network",
            after: &["pre-reconcile hook"],
            calls: &[neutron(When::Always, "/v2.0/networks?id={Network}", "{Network}")],
        },
        Task {
            name: "ensure subnet",
            section: "3.3, 3.4 subnet",
            after: &["ensure network"],
            calls: &[
                neutron(When::Always, "/v2.0/subnets?id={Subnet}", "{Subnet}"),
                // An unset list of DNS servers differs from the empty one that Neutron tells.
                Call {
                    when: When::Only(Pattern::NoDns),
                    what: What::Put {
                        service: Service::Network,
                        path: "/v2.0/subnets/{Subnet}",
                        body: r#"{"subnet":{"dns_nameservers":[]}}"#,
                    },
                },
            ],
        },
        Task {
            name: "ensure IPv6 subnet",
            section: "3.3, 3.4 IPv6 subnets",
            after: &["ensure network"],
            calls: &[
                neutron(When::Only(Pattern::Dual), "/v2.0/subnets?id={SubnetIPv6}", "{SubnetIPv6}"),
                neutron(When::Only(Pattern::Dual), "/v2.0/subnets?id={SubnetIPv6Pod}", "{SubnetIPv6Pod}"),
                neutron(When::Only(Pattern::Dual), "/v2.0/subnets?id={SubnetIPv6Svc}", "{SubnetIPv6Svc}"),
            ],
        },
        Task {
            name: "ensure router interface",
            section: "3.3, 3.4 interface",
            after: &["ensure router", "ensure subnet"],
            calls: &[neutron(When::Always, "/v2.0/ports?device_id={Router}", "{Subnet}")],
        },
        Task {
            name: "ensure IPv6 router interface",
            section: "3.3, 3.4 interface",
            after: &["ensure router", "ensure IPv6 subnet"],
            calls: &[neutron(When::Only(Pattern::Dual), "/v2.0/ports?device_id={Router}", "{SubnetIPv6}")],
        },
        Task { name: "ensure IPv6 CIDR services", section: "3.3, 3.4", after: &["ensure IPv6 subnet"], calls: &[] },
        Task {
            name: "ensure security group",
            section: "3.3, 3.4 security group",
            after: &["ensure router"],
            calls: &[neutron(When::Always, "/v2.0/security-groups/{SecurityGroup}", "{SecurityGroup}")],
        },
        Task {
            name: "ensure security group rules",
            section: "3.3, 3.5",
            after: &["ensure security group"],
            calls: &[],
        },
        Task {
            name: "ensure ssh key pair",
            section: "3.3, 3.4 key pair",
            after: &["ensure router"],
            calls: &[Call {
                when: When::Always,
                what: What::Get { service: Service::Compute, path: "/os-keypairs/{KeyPair}", finds: "{KeyPair}" },
            }],
        },
        // No shoot of ours has one: Manila is not even asked for its endpoint.
        Task { name: "ensure share network", section: "3.3", after: &["ensure subnet"], calls: &[] },
    ],
};

/// A reconcile from its beginning to its end (3.1).
pub(super) const WHOLE: [Stage; 2] = [CHECK, GRAPH];
/// Without the check before it, for which ours needs no call of its own.
pub(super) const FLOW: [Stage; 1] = [GRAPH];
