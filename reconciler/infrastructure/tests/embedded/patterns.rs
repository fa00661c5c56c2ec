//! Each specification: made once, settled, found again without its state, taken away completely.

use fabric_infrastructure::{State, state::Key};

use fabric_test_program::Property;

use crate::world::{Memory, NAME, World, assert_same, specifications};

#[tokio::test]
async fn r2_each_specification_is_made_once_found_again_and_taken_away_completely() {
    let mut property = Property::new("R2", "state_wiped");
    let names: Vec<_> = specifications(&World::start().await).into_iter().map(|(name, _)| name).collect();
    for (index, name) in names.into_iter().enumerate() {
        property.case(name, made_found_and_taken_away(index, name)).await;
    }
    property.end();
}

async fn made_found_and_taken_away(index: usize, name: &str) {
    let world = World::start().await;
    let (_, networks) = specifications(&world).swap_remove(index);
    let before = world.content();
    let input = world.input(networks);
    let memory = Memory::default();
    let made = world.reconcile(&input, State::default(), &memory).await;
    let made = made.unwrap_or_else(|error| panic!("{name}: {error}"));
    assert_eq!(memory.last(), made.state, "{name}: saved what it returned");
    assert_eq!(made.provider_status.node.key_name, NAME, "{name}");
    assert_eq!(made.egress_cidrs.len(), made.provider_status.networks.router.external_fixed_ips.len(), "{name}");
    assert!(!made.provider_status.networks.subnets[0].cidr.is_empty(), "{name}: CSI Manila needs the range");

    settled(name, &world, &input, made.state.clone()).await;
    let lost = settled(name, &world, &input, State::default()).await;
    assert_eq!(rebuilt(&lost), rebuilt(&made.state), "{name}: the same state again");

    let left = world.delete(&input, made.state, &memory).await.unwrap_or_else(|error| panic!("{name}: {error}"));
    assert!(left.is_empty(), "{name}: {left:?}");
    assert_same(&world.content(), &before, &format!("{name}: the cloud is as it was"));
}

#[tokio::test]
async fn a_lost_state_is_no_obstacle_for_a_deletion() {
    for index in 0..specifications(&World::start().await).len() {
        let world = World::start().await;
        let (name, networks) = specifications(&world).swap_remove(index);
        let before = world.content();
        let input = world.input(networks);
        world.reconcile(&input, State::default(), &Memory::default()).await.unwrap();
        world.delete(&input, State::default(), &Memory::default()).await.unwrap();
        assert_same(&world.content(), &before, &format!("{name}: the cloud is as it was"));
    }
}

/// A run that may change nothing: no mutating call, at most twelve calls, one token.
async fn settled(name: &str, world: &World, input: &fabric_infrastructure::Input, state: State) -> State {
    world.cloud.calls().clear();
    let known = !state.is_empty();
    let again = world.reconcile(input, state, &Memory::default()).await;
    let again = again.unwrap_or_else(|error| panic!("{name}: {error}"));
    let calls = world.cloud.calls().all();
    let logins = calls.iter().filter(|call| call.path.ends_with("/auth/tokens")).count();
    let writes: Vec<_> = world.cloud.calls().mutations();
    let writes: Vec<_> = writes.iter().filter(|call| !call.path.ends_with("/auth/tokens")).collect();
    assert!(writes.is_empty(), "{name}: {writes:#?}");
    assert_eq!(logins, 1, "{name}");
    assert!(!known || calls.len() <= 12, "{name}: {} calls: {calls:#?}", calls.len());
    again.state
}

/// What can be told from the cloud alone.
fn rebuilt(state: &State) -> std::collections::BTreeMap<String, String> {
    let mut data = state.data().clone();
    data.remove(Key::FloatingPoolSubnetName.as_str());
    data
}
