//! What a test or a demonstration does to a cloud past its services: switches, changes behind everybody's back,
//! snapshots and files.

use std::path::Path;
use std::time::Duration;

use serde_json::{Map, Value};

use crate::cloud::Cloud;
use crate::json::{merge_patch, owned, public, set, text};
use crate::state::{State, table};
use crate::{Service, SimError, neutron, persist};

impl Cloud {
    /// Everything there is, by table and sorted by id, without secrets, tokens and our own bookkeeping. The form
    /// is the stored one: a router's gateway is a port and `enable_snat`, a group's rules are a table. Two snapshots
    /// of an unchanged cloud are equal byte by byte.
    pub fn snapshot(&self) -> Value {
        let st = self.shared.lock();
        st.tables
            .iter()
            .filter(|(_, rows)| !rows.is_empty())
            .map(|(name, rows)| (name.clone(), rows.values().map(public).collect::<Value>()))
            .collect::<Map<_, _>>()
            .into()
    }

    /// Saves the cloud, secrets included, readable for its owner only; the file is replaced as a whole.
    ///
    /// # Errors
    /// [`SimError::File`]
    pub fn save(&self, path: &Path) -> Result<(), SimError> {
        let dump = self.shared.lock().dump();
        persist::write(path, &dump)
    }

    /// Takes over a saved cloud in place of what is there. Tokens are void afterwards.
    ///
    /// # Errors
    /// [`SimError::File`], [`SimError::Damaged`], [`SimError::Form`]
    pub fn load(&self, path: &Path) -> Result<(), SimError> {
        let saved = persist::read(path)?;
        self.shared.lock().restore(&saved);
        Ok(())
    }

    /// While held nothing changes its status: what waits goes through when the hold ends.
    pub fn hold(&self, on: bool) {
        self.shared.lock().settings.hold = on;
    }

    /// From now on changes become ACTIVE after this time.
    pub fn set_delay(&self, delay: Duration) {
        self.shared.lock().settings.delay = delay;
    }

    /// From now on tags have at most so many characters.
    pub fn set_tag_limit(&self, characters: usize) {
        self.shared.lock().settings.tag_limit = characters;
    }

    /// From now on new tokens live so long.
    pub fn set_token_lifetime(&self, lifetime: Duration) {
        self.shared.lock().settings.token_lifetime = lifetime;
    }

    /// Hides services from the catalog; tokens that are there already keep theirs.
    pub fn hide(&self, services: &[Service]) {
        self.shared.lock().settings.hidden = services.to_vec();
    }

    /// Revokes all tokens.
    pub fn revoke_tokens(&self) {
        self.shared.lock().tokens.clear();
    }

    /// Sets a limit of a project, named by name or id; -1 is no limit.
    /// Resources are named as in the services' own quota calls, such as `network`, `key_pairs`, `share_networks`.
    ///
    /// # Errors
    /// [`SimError::Absent`] when there is no such project.
    pub fn set_quota(&self, service: Service, project: &str, resource: &str, limit: i64) -> Result<(), SimError> {
        let mut st = self.shared.lock();
        let id = resolve(&st, table::PROJECTS, project)?;
        let name = match service {
            Service::SharedFileSystem => "share",
            other => other.catalog_type(),
        };
        let mut limits = Map::new();
        limits.insert(resource.to_owned(), Value::from(limit));
        neutron::quotas::put(&mut st, name, &id, &limits);
        Ok(())
    }

    /// A document of a table, by id or by name.
    pub fn get(&self, table: &str, id_or_name: &str) -> Option<Value> {
        let st = self.shared.lock();
        let id = resolve(&st, table, id_or_name).ok()?;
        st.get(table, &id).map(public)
    }

    /// All documents of a table.
    pub fn list(&self, table: &str) -> Vec<Value> {
        self.shared.lock().all(table).map(public).collect()
    }

    /// The id of what has this name.
    ///
    /// # Errors
    /// [`SimError::Absent`]
    pub fn id(&self, table: &str, name: &str) -> Result<String, SimError> {
        resolve(&self.shared.lock(), table, name)
    }

    /// Puts a document into a table behind everybody's back, as it is; gives its id, made when it has none.
    pub fn insert(&self, table: &str, mut doc: Value) -> String {
        let mut st = self.shared.lock();
        if text(&doc, "id").is_empty() {
            let id = st.rng.id();
            set(&mut doc, "id", id);
        }
        let id = owned(&doc, "id");
        st.put(table, doc);
        id
    }

    /// Changes a document behind everybody's back, by an RFC 7396 merge patch. Its revision goes up.
    ///
    /// # Errors
    /// [`SimError::Absent`]
    pub fn patch(&self, table: &str, id_or_name: &str, patch: &Value) -> Result<(), SimError> {
        let mut st = self.shared.lock();
        let id = resolve(&st, table, id_or_name)?;
        if let Some(doc) = st.get_mut(table, &id) {
            merge_patch(doc, patch);
        }
        if st.get(table, &id).is_some_and(|d| d.get("revision_number").is_some()) {
            st.revise(table, &id);
        }
        Ok(())
    }

    /// Removes a document behind everybody's back, with nothing that hangs on it.
    ///
    /// # Errors
    /// [`SimError::Absent`]
    pub fn remove(&self, table: &str, id_or_name: &str) -> Result<Value, SimError> {
        let mut st = self.shared.lock();
        let id = resolve(&st, table, id_or_name)?;
        st.remove(table, &id).ok_or_else(|| absent(table, id_or_name))
    }
}

pub(crate) fn absent(table: &str, id: &str) -> SimError {
    SimError::Absent { table: table.to_owned(), id: id.to_owned() }
}

fn resolve(st: &State, table: &str, id_or_name: &str) -> Result<String, SimError> {
    let by_id = st.get(table, id_or_name).map(|_| id_or_name.to_owned());
    by_id
        .or_else(|| st.find(table, "name", id_or_name).map(|d| owned(d, "id")))
        .ok_or_else(|| absent(table, id_or_name))
}
