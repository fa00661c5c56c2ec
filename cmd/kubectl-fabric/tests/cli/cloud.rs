//! A cloud that refuses, fails and stalls: what is told, what is kept, and that a second run continues.

use std::{
    fs,
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use fabric_openstack_sim::{Action, Cloud, Config, Fault, Service, When};
use serde_json::{Value, json};

use crate::{Desk, Ended, OWN};

const SHOOT: &str = "-f own.yaml --cloud demo-user --name shoot--dev--web --state state.json";

/// An embedded cloud in this process, reached through a clouds.yaml. Its cloud `demo` is called `demo-user`, because
/// `demo` is the one inside the program.
struct Lab {
    desk: Desk,
    cloud: Cloud,
    runtime: tokio::runtime::Runtime,
}

impl Lab {
    fn new() -> Self {
        let desk = Desk::new();
        desk.write("own.yaml", OWN);
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let cloud = runtime.block_on(Cloud::start(Config::default())).unwrap();
        let mut clouds: Value = serde_json::from_str(&cloud.clouds_yaml()).unwrap();
        let demo = clouds["clouds"]["demo"].take();
        let mut stranger = demo.clone();
        stranger["auth"]["password"] = json!("hush-wrong");
        let mut elsewhere = demo.clone();
        elsewhere["region_name"] = json!("Elsewhere");
        let mut closed = demo.clone();
        closed["auth"]["auth_url"] = json!("http://127.0.0.1:9/v3");
        clouds["clouds"] = json!({"demo-user": demo, "stranger": stranger, "elsewhere": elsewhere, "closed": closed});
        desk.write("clouds.yaml", &clouds.to_string());
        Self { desk, cloud, runtime }
    }

    fn run(&self, line: &str) -> Ended {
        self.desk.run(line)
    }

    fn state(&self) -> Value {
        serde_json::from_str(&fs::read_to_string(self.desk.path("state.json")).unwrap()).unwrap()
    }
}

#[test]
fn wrong_credentials_regions_and_addresses_are_told_with_their_code() {
    let lab = Lab::new();
    let ended = lab.run("infra plan -f own.yaml --name shoot--dev--web --cloud elsewhere").ends(1);
    assert_eq!(ended.err.matches("in region \"Elsewhere\"").count(), 1, "once is enough: {}", ended.err);
    for (cloud, code, next) in [
        ("stranger", "ERR_INFRA_UNAUTHENTICATED", "correct the credentials"),
        ("elsewhere", "ERR_CONFIGURATION_PROBLEM", "correct what is named above"),
    ] {
        let ended = lab.run(&format!("infra plan -f own.yaml --name shoot--dev--web --cloud {cloud}")).ends(1);
        assert!(ended.err.contains(code) && ended.err.contains(next), "{cloud}: {}", ended.err);
        assert!(!ended.err.contains("hush") && !ended.out.contains("hush"), "{cloud}: {}", ended.err);
    }
    let unknown = lab.run("infra plan -f own.yaml --name shoot--dev--web --cloud nowhere").ends(1);
    assert!(
        unknown.err.contains("no cloud \"nowhere\"; it has closed, demo-user, elsewhere, stranger"),
        "{}",
        unknown.err
    );
    drop(lab.runtime);
}

#[test]
fn a_quota_is_told_the_state_is_kept_and_a_second_run_continues() {
    let lab = Lab::new();
    lab.cloud.set_quota(Service::Network, "demo", "router", 0).unwrap();
    let ended = lab.run(&format!("infra apply {SHOOT}")).ends(1);
    for text in ["ensure router", "ERR_INFRA_QUOTA_EXCEEDED", "recorded in state.json", "higher quota", "request req-"]
    {
        assert!(ended.err.contains(text), "{text}: {}", ended.err);
    }
    let network = lab.state()["data"]["Network"].clone();
    assert!(network.is_string(), "what was made before is recorded");
    let ended = lab.run(&format!("infra apply {SHOOT} -o json")).ends(1);
    let error = &ended.json()["errors"][0];
    assert_eq!((&error["task"], &error["code"]), (&json!("ensure router"), &json!("ERR_INFRA_QUOTA_EXCEEDED")));
    lab.cloud.set_quota(Service::Network, "demo", "router", 10).unwrap();
    lab.run(&format!("infra apply {SHOOT}")).ends(0);
    assert_eq!(lab.state()["data"]["Network"], network);
}

#[test]
fn ctrl_c_lets_a_running_step_end_records_it_and_the_next_run_continues() {
    let lab = Lab::new();
    let slow = Fault::on("POST", "/v2.0/networks$", Action::Latency(Duration::from_secs(2)));
    lab.cloud.faults().add(slow.when(When::First(1))).unwrap();
    let named = |table: &str| lab.cloud.list(table).iter().filter(|it| it["name"] == "shoot--dev--web").count();
    let mut command = lab.desk.command(&format!("infra apply {SHOOT}"));
    let child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    wait_until("the router is made", || named("routers") == 1);
    assert_eq!(named("networks"), 0, "the network is still being made");
    let sent = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(sent.success());
    let ended = Ended::from(child.wait_with_output().unwrap()).ends(130);
    assert!(ended.err.contains("stopping: what runs may end"), "{}", ended.err);
    assert!(ended.err.contains("run `apply` again to continue"), "{}", ended.err);
    assert_eq!((named("networks"), named("subnets")), (1, 0), "what ran has ended, nothing new has begun");
    let (network, router) = (lab.state()["data"]["Network"].clone(), lab.state()["data"]["Router"].clone());
    assert!(network.is_string() && router.is_string());
    lab.run(&format!("infra apply {SHOOT}")).ends(0);
    assert_eq!((&lab.state()["data"]["Network"], &lab.state()["data"]["Router"]), (&network, &router));
    assert_eq!((named("networks"), named("routers"), named("subnets")), (1, 1, 1));
}

fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(30);
    while !is_so() {
        assert!(Instant::now() < deadline, "{what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn a_secret_logs_in_and_a_profile_says_where() {
    let lab = Lab::new();
    lab.desk.write(
        "secret.yaml",
        "apiVersion: v1\nkind: Secret\nmetadata: {name: cloudprovider}\nstringData: {domainName: demo, tenantName: demo, username: demo, password: demo}\n",
    );
    lab.desk.write(
        "profile.yaml",
        &format!(
            "apiVersion: openstack.provider.extensions.gardener.cloud/v1alpha1\nkind: CloudProfileConfig\nkeystoneURL: {}\n\
             requestTimeout: 20s\nconstraints: {{floatingPools: [{{name: public}}]}}\n",
            lab.cloud.auth_url()
        ),
    );
    let shoot =
        "-f own.yaml --name shoot--dev--web --cloud-profile profile.yaml --region RegionOne --secret secret.yaml";
    lab.run(&format!("infra apply {shoot}")).ends(0);
    lab.run(&format!("infra drift {shoot}")).ends(0);
    let beside = shoot.replace("--secret secret.yaml", "-f secret.yaml");
    lab.run(&format!("infra drift {beside}")).ends(0);
    let without = lab.run("infra plan -f own.yaml --name shoot--dev--web --secret secret.yaml").ends(1);
    assert!(without.err.contains("authURL is missing") && !without.err.contains("password: demo"), "{}", without.err);
    let profile = fs::read_to_string(lab.desk.path("profile.yaml")).unwrap().replace("20s", "soon");
    lab.desk.write("profile.yaml", &profile);
    assert!(lab.run(&format!("infra plan {shoot}")).ends(1).err.contains("requestTimeout"));
}

#[test]
fn validate_looks_into_the_cloud_when_asked() {
    let lab = Lab::new();
    lab.desk.write("own.yaml", &OWN.replace("public", "missing-pool"));
    lab.run("infra validate -f own.yaml").ends(0);
    let ended = lab.run("infra validate -f own.yaml --dynamic --cloud demo-user").ends(1);
    assert!(ended.out.contains("floatingPoolName: Not found: \"missing-pool\""), "{}", ended.out);
}
