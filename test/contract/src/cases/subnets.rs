use fabric_openstack::{Query, api::Network};
use fabric_openstack_types::{
    ErrorClass,
    ids::{NetworkId, SubnetId, SubnetPoolId},
    network::{IpVersion, NewSubnet, SubnetUpdate},
};
use reqwest::Method;
use serde_json::json;

use super::{ABSENT, failure, made};
use crate::{Stage, raw};

/// Subnets of both families, with what Neutron adds and normalises; changes; deletion.
pub async fn a_subnet_lives_and_goes(stage: &Stage) {
    let network = stage.network("net").await;
    let new = NewSubnet {
        dns_nameservers: vec!["1.1.1.1".parse().unwrap()],
        ..stage.new_subnet(&network.id, "v4", Some("10.77.0.5/24"))
    };
    let v4 = stage.member.create_subnet(&new).await.unwrap();
    // Host bits are cleared, a gateway and DHCP are there by default.
    assert_eq!(v4.cidr.to_string(), "10.77.0.0/24");
    assert_eq!(v4.gateway_ip, Some("10.77.0.1".parse().unwrap()));
    assert_eq!((v4.enable_dhcp, &v4.dns_nameservers), (true, &new.dns_nameservers));
    assert_eq!((&v4.network_id, &v4.description), (&network.id, &new.description));
    let v6 = NewSubnet {
        ipv6_address_mode: Some("slaac".to_owned()),
        ipv6_ra_mode: Some("slaac".to_owned()),
        ..stage.new_subnet(&network.id, "v6", Some("fd00:77::/64"))
    };
    let v6 = stage.member.create_subnet(&v6).await.unwrap();
    assert_eq!((v6.ip_version, v6.ipv6_ra_mode.as_deref()), (IpVersion::V6, Some("slaac")));

    let id = made(v4.id.clone());
    let change = SubnetUpdate {
        name: Some(stage.name("renamed")),
        dns_nameservers: Some(vec!["9.9.9.9".parse().unwrap(), "8.8.8.8".parse().unwrap()]),
        gateway_ip: Some(None),
        enable_dhcp: Some(false),
        ..SubnetUpdate::default()
    };
    let changed = stage.member.update_subnet(&id, &change).await.unwrap();
    assert_eq!(changed.name, stage.name("renamed"));
    assert_eq!(Some(&changed.dns_nameservers), change.dns_nameservers.as_ref());
    assert_eq!((changed.gateway_ip, changed.enable_dhcp), (None, false));
    assert_eq!(stage.member.subnet(&v4.id).await.unwrap(), changed);
    assert_eq!(stage.member.subnets(&Query::network(&network.id)).await.unwrap().len(), 2);

    stage.member.delete_subnet(&id).await.unwrap();
    stage.member.delete_subnet(&id).await.unwrap();
    let (class, _, kind) = failure(stage.member.subnet(&v4.id).await);
    assert_eq!((class, kind.as_str()), (ErrorClass::NotFound, "SubnetNotFound"));
}

/// Subnets that cannot be are refused by type.
pub async fn a_subnet_that_cannot_be_is_refused(stage: &Stage) {
    let network = stage.network("net").await;
    stage.subnet(&network.id, "first", "10.77.0.0/24").await;
    let absent = NetworkId::from(ABSENT);
    let no_range = stage.new_subnet(&network.id, "x", None);
    let overlap = stage.new_subnet(&network.id, "x", Some("10.77.0.128/25"));
    let nowhere = stage.new_subnet(&absent, "x", Some("10.77.0.0/24"));
    for (new, want) in [
        (no_range, (ErrorClass::Invalid, Some(400), "BadRequest")),
        (overlap, (ErrorClass::Invalid, Some(400), "InvalidInput")),
        (nowhere, (ErrorClass::NotFound, Some(404), "NetworkNotFound")),
    ] {
        let (class, status, kind) = failure(stage.member.create_subnet(&new).await);
        assert_eq!((class, status, kind.as_str()), want, "{new:?}");
    }
    let absent = SubnetId::from(ABSENT);
    let (class, _, _) = failure(stage.member.subnet(&absent).await);
    assert_eq!(class, ErrorClass::NotFound);
}

/// A pool gives ranges of the length asked for, until it has none left: that is "exhausted", not a failed server.
pub async fn a_pool_gives_ranges_until_it_is_exhausted(stage: &Stage) {
    let pool = json!({"subnetpool": {
        "name": stage.name("pool"), "prefixes": ["10.66.0.0/28"],
        "default_prefixlen": 29, "min_prefixlen": 28, "max_prefixlen": 29,
    }});
    let answer = raw::call(&stage.member, "network", Method::POST, "/v2.0/subnetpools", Some(pool)).await;
    let id = SubnetPoolId::new(answer["subnetpool"]["id"].as_str().unwrap());
    let pool = stage.member.subnet_pool(&id).await.unwrap();
    assert_eq!((pool.min_prefixlen, pool.max_prefixlen), (28, 29));
    assert_eq!((pool.ip_version, pool.prefixes[0].to_string().as_str()), (IpVersion::V4, "10.66.0.0/28"));
    assert_eq!(stage.member.subnet_pools(&Query::id(id.as_str())).await.unwrap(), [pool]);
    let network = stage.network("net").await;
    let from_pool = |prefixlen| NewSubnet {
        subnetpool_id: Some(id.clone()),
        prefixlen: Some(prefixlen),
        ..stage.new_subnet(&network.id, "sub", None)
    };
    let whole = stage.member.create_subnet(&from_pool(28)).await.unwrap();
    assert_eq!(whole.cidr.to_string(), "10.66.0.0/28");
    assert_eq!(whole.subnetpool_id.as_ref(), Some(&id));
    let before = stage.member.stats().calls;
    let (class, status, kind) = failure(stage.member.create_subnet(&from_pool(29)).await);
    let want = (ErrorClass::Exhausted, Some(500), "SubnetAllocationError");
    assert_eq!((class, status, kind.as_str()), want);
    assert_eq!(stage.member.stats().calls - before, 1, "an exhausted pool is not asked again");
    let outside = stage.new_subnet(&network.id, "own", Some("10.77.0.0/24"));
    let (class, _, kind) = failure(stage.member.create_subnet(&outside).await);
    assert_eq!((class, kind.as_str()), (ErrorClass::Invalid, "NetworkSubnetPoolAffinityError"));
    let absent = SubnetPoolId::from(ABSENT);
    let (class, _, kind) = failure(stage.member.subnet_pool(&absent).await);
    assert_eq!((class, kind.as_str()), (ErrorClass::NotFound, "SubnetPoolNotFound"));
}
