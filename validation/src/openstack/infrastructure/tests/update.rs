use super::*;

/// Each case: what the old config had, what the new one has, what is refused.
#[test]
fn fields_of_a_living_network_do_not_change() {
    let cases: Vec<(&str, Change, Change, &[&str])> = vec![
        ("nothing", |_| {}, |_| {}, &[]),
        (
            "network set",
            |_| {},
            |c| c.networks.id = Some(A.into()),
            &[r#"networks.id: Invalid value: "123e4567-e89b-12d3-a456-426614174000": field is immutable"#],
        ),
        (
            "network removed",
            |c| c.networks.id = Some(A.into()),
            |_| {},
            &[r#"networks.id: Invalid value: "null": field is immutable"#],
        ),
        (
            "subnet",
            |c| c.networks.subnet_id = Some(A.into()),
            |c| c.networks.subnet_id = Some("x".into()),
            &[r#"networks.subnetId: Invalid value: "x": field is immutable"#],
        ),
        (
            "security group",
            |_| {},
            |c| c.networks.security_group_id = Some("x".into()),
            &[r#"networks.securityGroupId: Invalid value: "x": field is immutable"#],
        ),
        (
            "share network id",
            |_| {},
            |c| c.networks.share_network_id = Some("x".into()),
            &[r#"networks.shareNetworkId: Invalid value: "x": field is immutable"#],
        ),
        (
            "router",
            |_| {},
            |c| c.networks.router = Some(Router { id: "x".into() }),
            &[r#"networks.router: Invalid value: {"id":"x"}: field is immutable"#],
        ),
        (
            "worker moved to workers",
            |c| std::mem::swap(&mut c.networks.worker, &mut c.networks.workers),
            |_| {},
            &[
                r#"networks.worker: Invalid value: "": field is immutable"#,
                r#"networks.workers: Invalid value: "10.250.0.0/19": field is immutable"#,
            ],
        ),
        (
            "IPv6, any of it",
            |c| v6(c).pod_cidr = "a".into(),
            |c| v6(c).pod_cidr = "b".into(),
            &[r#"networks.ipv6: Invalid value: {"podCIDR":"b"}: field is immutable"#],
        ),
        (
            "pool",
            |_| {},
            |c| c.networks.subnet_pool = Some(SubnetPool { id: "p".into(), prefix_length: 1 }),
            &[r#"networks.subnetPool: Invalid value: {"id":"p","prefixLength":1}: field is immutable"#],
        ),
        (
            "share network enabled later",
            |_| {},
            |c| c.networks.share_network = Some(ShareNetwork { enabled: true }),
            &[],
        ),
        (
            "share network said to be off",
            |_| {},
            |c| c.networks.share_network = Some(ShareNetwork { enabled: false }),
            &[],
        ),
        (
            "share network disabled",
            |c| c.networks.share_network = Some(ShareNetwork { enabled: true }),
            |c| c.networks.share_network = Some(ShareNetwork { enabled: false }),
            &[r#"networks.shareNetwork: Invalid value: {"enabled":false}: field is immutable"#],
        ),
        (
            "share network removed",
            |c| c.networks.share_network = Some(ShareNetwork { enabled: true }),
            |_| {},
            &[r#"networks.shareNetwork: Invalid value: "null": field is immutable"#],
        ),
        (
            "floating pool",
            |_| {},
            |c| c.floating_pool_name = "x".into(),
            &[r#"floatingPoolName: Invalid value: "x": field is immutable"#],
        ),
        (
            "floating subnet",
            |_| {},
            |c| c.floating_pool_subnet_name = Some("x".into()),
            &[r#"floatingPoolSubnetName: Invalid value: "x": field is immutable"#],
        ),
    ];
    for (case, before, after, expected) in cases {
        let (mut old, mut new) = (managed(), managed());
        before(&mut old);
        after(&mut new);
        let errors: Vec<String> = validate_update(&new, &old, &Path::nil()).iter().map(ToString::to_string).collect();
        assert_eq!(errors, expected, "{case}");
    }
}
