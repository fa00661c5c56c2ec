//! Nova's trait: key pairs and the names of servers, in API version 2.1.

use async_trait::async_trait;
use fabric_openstack_types::{
    ApiError, ErrorClass, Owned, Service,
    compute::{KeyPair, Server},
};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    api::{Compute, Result},
    call::{Call, is_gone},
    client::Client,
};

const NOVA: Service = Service::Compute;
const KEY_PAIRS: &str = "os-keypairs";

#[derive(Deserialize)]
struct Listed {
    #[expect(dead_code, reason = "a list's entry is counted, not read")]
    keypair: Value,
}

#[async_trait]
impl Compute for Client {
    async fn key_pair(&self, name: &str) -> Result<Option<KeyPair>> {
        match self.repeat(&Call::get(NOVA, &[KEY_PAIRS, name])).await {
            Ok(answer) => answer.member("keypair").map(Some),
            Err(error) if is_gone(&error) => Ok(None),
            Err(error) => Err(error),
        }
    }

    async fn create_key_pair(&self, name: &str, public_key: &str) -> Result<KeyPair> {
        let body = json!({"keypair": {"name": name, "public_key": public_key}});
        let call = Call::post(NOVA, &[KEY_PAIRS], body);
        let look = || async {
            let found = self.key_pair(name).await?;
            Ok(found.filter(|pair| same_key(&pair.public_key, public_key)))
        };
        match self.create(&call, |answer| answer.member("keypair"), look).await {
            Err(error) if error.class == ErrorClass::Forbidden => Err(self.quota_or(error).await),
            result => result,
        }
    }

    async fn delete_key_pair(&self, name: &Owned<String>) -> Result<()> {
        self.remove(&Call::delete(NOVA, &[KEY_PAIRS, name.get()])).await
    }

    async fn servers(&self, prefix: &str) -> Result<Vec<Server>> {
        let mut call = Call::get(NOVA, &["servers"]);
        // The filter is a regular expression; a name with other characters is filtered only here.
        if prefix.chars().all(|c| c.is_ascii_alphanumeric() || c == '-') {
            call = call.query("name", format!("^{prefix}"));
        }
        let mut servers: Vec<Server> = self.list(call, "servers").await?;
        servers.retain(|server| server.name.starts_with(prefix));
        Ok(servers)
    }
}

impl Client {
    /// Nova says 403 both for a used-up quota and for a policy (decision D8): the limits tell which it was. Key pairs
    /// have no count of their own among them, so they are listed.
    async fn quota_or(&self, refused: ApiError) -> ApiError {
        match self.key_pairs_are_full().await {
            Ok(true) => ApiError { class: ErrorClass::Quota, ..refused },
            Ok(false) | Err(_) => refused,
        }
    }

    async fn key_pairs_are_full(&self) -> Result<bool> {
        let answer = self.repeat(&Call::get(NOVA, &["limits"])).await?;
        let limits: Value = answer.member("limits")?;
        let limit = limits.pointer("/absolute/maxTotalKeypairs");
        // -1 is "unlimited".
        let Some(limit) = limit.and_then(Value::as_u64) else {
            return Ok(false);
        };
        let pairs: Vec<Listed> = self.list(Call::get(NOVA, &[KEY_PAIRS]), "keypairs").await?;
        Ok(pairs.len() as u64 >= limit)
    }
}

/// Type and key are equal; the comment and a line end are not part of it.
fn same_key(one: &str, other: &str) -> bool {
    let key = |text: &str| {
        let mut words = text.split_whitespace().map(str::to_owned);
        (words.next(), words.next())
    };
    key(one) == key(other)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_comment_does_not_make_another_key() {
        assert!(same_key("ssh-ed25519 AAAA me@here\n", "ssh-ed25519 AAAA"));
        assert!(!same_key("ssh-ed25519 AAAA", "ssh-ed25519 BBBB"));
    }
}
