//! `demo`: the story, and the cloud to play with.

use std::{fs, time::Instant};

use crate::Desk;

#[test]
fn the_story_ends_well_twice_in_a_row_and_leaves_nothing_but_the_drawing() {
    let desk = Desk::new();
    for _ in 0..2 {
        let start = Instant::now();
        let ended = desk.run("demo").ends(0);
        assert!(start.elapsed().as_secs() < 20);
        assert_eq!(ended.out.matches("  unchanged\n").count(), 5, "{}", ended.out);
        assert!(ended.out.contains("networks.id: Invalid value: \"team-network\""), "{}", ended.out);
        let left: Vec<_> =
            fs::read_dir(desk.path("states/openstack-fabric")).unwrap().map(|it| it.unwrap().file_name()).collect();
        assert_eq!(left, ["demo-topology.svg"]);
    }
    let drawing = fs::read_to_string(desk.path("states/openstack-fabric/demo-topology.svg")).unwrap();
    assert!(drawing.contains("team-network") && drawing.contains("shoot--demo--byo"));
}

#[test]
fn each_pattern_is_applied_and_deleted_on_the_demo_cloud() {
    let desk = Desk::new();
    for pattern in 1..=5 {
        let config = desk.run(&format!("demo given --pattern {pattern}")).ends(0).out;
        desk.write("byo.yaml", &config);
        let shoot = format!("-f byo.yaml --cloud demo --name shoot--demo--p{pattern}");
        let plan = desk.run(&format!("infra plan {shoot} -o json")).ends(2).json();
        let given = plan["summary"]["use"].as_u64().unwrap_or_default();
        assert_eq!(given, [0, 1, 2, 4, 5][pattern - 1], "{plan}");
        desk.run(&format!("infra apply {shoot}")).ends(0);
        desk.run(&format!("infra drift {shoot}")).ends(0);
        let deleted = desk.run(&format!("infra delete {shoot} --yes")).ends(0);
        assert_eq!(deleted.out.contains("Given, and left as it was:"), pattern > 1, "{}", deleted.out);
        let again = desk.run(&format!("infra delete {shoot} --yes")).ends(0);
        assert!(again.out.contains("There was nothing to delete."), "{}", again.out);
    }
    assert_eq!(desk.run("demo given").ends(0).out, desk.run("demo given").ends(0).out, "seeded once");
    desk.run("demo reset").ends(0);
    assert_eq!(fs::read_dir(desk.path("states/openstack-fabric")).unwrap().count(), 0);
}
