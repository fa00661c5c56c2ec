use fabric_openstack::api::Compute;
use fabric_openstack_types::ErrorClass;

use super::{failure, made};
use crate::Stage;

/// An Ed25519 public key that nobody holds the other half of.
pub(super) const KEY: &str = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIMV5nMoC8AzFK3o3xHcBxv9sXjx2mXpI4J0hQz8xq1aT nobody";

/// A key pair belongs to the user, is unique by name, and goes.
pub async fn a_key_pair_lives_and_goes(stage: &Stage) {
    let client = &stage.member;
    let name = stage.name("key");
    assert_eq!(client.key_pair(&name).await.unwrap(), None);
    let pair = client.create_key_pair(&name, KEY).await.unwrap();
    assert_eq!(pair.name, name);
    assert_eq!(pair.fingerprint.split(':').count(), 16, "{pair:?}");
    let read = client.key_pair(&name).await.unwrap().unwrap();
    assert_eq!((read.fingerprint, read.public_key.trim()), (pair.fingerprint, KEY));
    // Users of one project do not see each other's.
    assert_eq!(stage.netadmin.key_pair(&name).await.unwrap(), None);
    let (class, status, kind) = failure(client.create_key_pair(&name, KEY).await);
    assert_eq!((class, status, kind.as_str()), (ErrorClass::Conflict, Some(409), "conflictingRequest"));
    let nonsense = client.create_key_pair(&stage.name("bad"), "no key").await;
    let (class, status, kind) = failure(nonsense);
    assert_eq!((class, status, kind.as_str()), (ErrorClass::Invalid, Some(400), "badRequest"));
    client.delete_key_pair(&made(name.clone())).await.unwrap();
    client.delete_key_pair(&made(name.clone())).await.unwrap();
    assert_eq!(client.key_pair(&name).await.unwrap(), None);
}

/// Servers are found by the beginning of their name.
pub async fn servers_are_listed_by_prefix(stage: &Stage) {
    assert!(stage.member.servers(&stage.prefix).await.unwrap().is_empty());
    assert!(stage.member.servers("odd(name").await.unwrap().is_empty());
}
