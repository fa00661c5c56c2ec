//! Queries that failed or were never made.

use fabric_apis::field::{ErrorType, Path};
use fabric_openstack_types::{ApiError, ErrorClass, Service, observed::Observed};

use super::{Case, failure, texts, warnings};

#[test]
fn a_failed_query_is_an_internal_error_on_exactly_what_needed_it() {
    type Fail = fn(&mut Observed, ApiError);
    let text = "network GET /v2.0/things: timeout: no answer";
    let cases: &[(&str, Fail, &[&str])] = &[
        (
            "external networks",
            |it, error| it.external_networks = Some(Err(error)),
            &["floatingPoolName: Internal error: could not get external network names: "],
        ),
        (
            "networks",
            |it, error| it.networks = Some(Err(error)),
            &[r#"networks.id: Internal error: could not get network "net": "#],
        ),
        (
            "subnets",
            |it, error| it.subnets = Some(Err(error)),
            &[
                r#"networks.subnetId: Internal error: could not get subnet "sub": "#,
                r#"networks.ipv6.nodeSubnetId: Internal error: could not get subnet "sub6": "#,
            ],
        ),
        (
            "routers",
            |it, error| it.routers = Some(Err(error)),
            &[r#"networks.router.id: Internal error: could not get router "rtr": "#],
        ),
        (
            "routers, and so no ports",
            |it, error| {
                it.routers = Some(Err(error));
                it.router_ports = None;
            },
            &[r#"networks.router.id: Internal error: could not get router "rtr": "#],
        ),
        (
            "router ports, needed twice",
            |it, error| it.router_ports = Some(Err(error)),
            &[
                r#"networks.router: Internal error: could not get ports of router "rtr": "#,
                r#"networks.router: Internal error: could not get ports of router "rtr": "#,
            ],
        ),
        (
            "security groups",
            |it, error| it.security_groups = Some(Err(error)),
            &[r#"networks.securityGroupId: Internal error: could not get security group "grp": "#],
        ),
        (
            "share networks",
            |it, error| it.share_networks = Some(Err(error)),
            &[r#"networks.shareNetworkId: Internal error: could not get share network "shr": "#],
        ),
        ("servers", |it, error| it.servers = Some(Err(error)), &[]),
        ("load balancers", |it, error| it.load_balancers = Some(Err(error)), &[]),
        ("key pair", |it, error| it.key_pair = Some(Err(error)), &[]),
    ];
    for (name, fail, expected) in cases {
        let mut case = Case::fitting();
        let error = failure(ErrorClass::Timeout);
        fail(&mut case.observed, error.clone());
        let checked = case.run();
        let expected: Vec<String> = expected.iter().map(|start| format!("{start}{text}")).collect();
        assert_eq!(texts(&checked), expected, "{name}");
        assert_eq!(warnings(&checked), Vec::<String>::new(), "{name}");
        assert_eq!(checked.failures, if expected.is_empty() { vec![] } else { vec![error] }, "{name}");
    }
}

#[test]
fn without_credentials_there_is_one_error_about_no_field() {
    let mut case = Case::fitting();
    let error = failure(ErrorClass::Unauthenticated);
    case.observed = Observed { project: Some(Err(error.clone())), ..Default::default() };
    let checked = case.run_at(Path::new("spec.provider.infrastructureConfig"));
    assert_eq!(
        texts(&checked),
        ["<nil>: Internal error: could not authenticate: network GET /v2.0/things: unauthenticated: no answer"]
    );
    assert_eq!(checked.failures, [error]);
}

#[test]
fn a_needed_query_that_was_not_made_is_not_taken_for_fine() {
    let mut case = Case::fitting();
    case.observed = Observed::default();
    let checked = case.run();
    let fields: Vec<&str> = checked.findings.errors.iter().map(|error| error.field.as_str()).collect();
    let expected = [
        "floatingPoolName",
        "networks.id",
        "networks.subnetId",
        "networks.router.id",
        "networks.router",
        "networks.securityGroupId",
        "networks.ipv6.nodeSubnetId",
        "networks.router",
        "networks.shareNetworkId",
    ];
    assert_eq!(fields, expected);
    assert!(checked.findings.errors.iter().all(|error| error.kind == ErrorType::InternalError));
    assert_eq!(
        texts(&checked)[1],
        r#"networks.id: Internal error: could not get network "net": the observation did not ask for it"#
    );
    assert_eq!(checked.failures, []);
}

#[test]
fn a_404_on_the_resource_itself_says_that_it_is_not_there() {
    let gone = |path: &str| ApiError::local(Service::SharedFileSystem, "GET", path, ErrorClass::NotFound, "gone");
    let mut case = Case::fitting();
    case.observed.share_networks = Some(Err(gone("/v2/share-networks/shr")));
    assert_eq!(texts(&case.run()), [r#"networks.shareNetworkId: Not found: "shr""#]);

    // The whole service not answering under its address is another thing.
    case.observed.share_networks = Some(Err(gone("/v2/share-networks/detail")));
    assert!(case.run().findings.errors.has(ErrorType::InternalError));
}

#[test]
fn an_unknown_node_range_makes_no_warning() {
    let mut case = Case::fitting();
    case.observed.subnets = Some(Err(failure(ErrorClass::Server)));
    case.group().rules.remove(0);
    case.router().routes[0].nexthop = "10.1.0.5".parse().unwrap();
    assert_eq!(warnings(&case.run()), Vec::<String>::new());
}
