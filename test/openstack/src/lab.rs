//! Where the cloud is, and how its administrator logs in.

use serde::Deserialize;
use serde_json::{Value, json};

/// What a lab tells about itself (`facts.json`).
#[derive(Clone, Debug, Default, Deserialize)]
pub struct Facts {
    /// Keystone, with `/v3`.
    pub auth_url: String,
    /// The region.
    pub region: String,
    /// Neutron, without a version.
    pub network: String,
    /// Nova, with its version.
    pub compute: String,
    /// Manila, with its version.
    pub share: String,
    /// Octavia, without a version.
    pub load_balancer: String,
    /// While this file exists no status moves (the lab's).
    #[serde(default)]
    pub hold_file: String,
    /// The domain in which tests make their projects and users.
    pub domain: String,
    /// Its id.
    pub domain_id: String,
    /// The floating pool's name.
    pub external_network: String,
    /// The floating pool's id.
    pub external_network_id: String,
}

/// A cloud for tests.
#[derive(Clone, Debug)]
pub struct Lab {
    /// What it tells about itself.
    pub facts: Facts,
    /// The administrator's log-in, as the body of `POST /auth/tokens`.
    pub(crate) admin: Value,
}

impl Lab {
    /// The lab that the environment names by `FABRIC_LAB_FACTS` and `OS_CLIENT_CONFIG_FILE`; `None`: there is none.
    pub fn of_environment() -> Option<Self> {
        let read = |name: &str| {
            let path = std::env::var(name).ok().filter(|path| !path.is_empty())?;
            Some(std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{name}={path}: {error}")))
        };
        let (facts, clouds) = (read("FABRIC_LAB_FACTS")?, read("OS_CLIENT_CONFIG_FILE")?);
        let clouds: Value = serde_yaml::from_str(&clouds).expect("clouds.yaml");
        let auth = &clouds["clouds"]["admin"]["auth"];
        let user = json!({
            "name": auth["username"], "domain": {"name": auth["user_domain_name"]}, "password": auth["password"],
        });
        let project = json!({"name": auth["project_name"], "domain": {"name": auth["project_domain_name"]}});
        let facts = serde_json::from_str(&facts).expect("facts.json");
        Some(Self { facts, admin: log_in(&user, &project) })
    }
}

/// The body of a log-in by password for a project.
pub(crate) fn log_in(user: &Value, project: &Value) -> Value {
    json!({"auth": {
        "identity": {"methods": ["password"], "password": {"user": user}},
        "scope": {"project": project},
    }})
}
