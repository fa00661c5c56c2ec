//! One client a credential, so that reconciles of many shoots of one project share a token.

use std::{
    collections::HashMap,
    fmt,
    sync::{Mutex, PoisonError},
};

use fabric_openstack_types::credentials::{AuthMethod, Credentials, DomainRef, Scope, UserRef};
use secrecy::ExposeSecret;
use sha2::{Digest, Sha256};

use crate::{
    client::{Client, Options},
    error::Error,
};

/// At most so many sessions are kept: a seed serves some hundred shoots, an idle session holds some kilobytes.
const KEPT: usize = 512;

/// A cache of clients, keyed by a hash of the credentials: a changed password is another session.
pub struct Sessions {
    options: Options,
    kept: Mutex<Kept>,
}

#[derive(Default)]
struct Kept {
    clients: HashMap<[u8; 32], (u64, Client)>,
    uses: u64,
}

impl fmt::Debug for Sessions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sessions").field("kept", &self.len()).finish_non_exhaustive()
    }
}

impl Sessions {
    /// An empty cache whose clients behave as told.
    pub fn new(options: Options) -> Self {
        Self { options, kept: Mutex::default() }
    }

    /// The client of these credentials; makes one at first use.
    ///
    /// # Errors
    /// As [`Client::connect`].
    pub async fn client(&self, credentials: &Credentials) -> Result<Client, Error> {
        let key = fingerprint(credentials);
        if let Some(client) = self.find(&key) {
            return Ok(client);
        }
        let made = Client::connect(credentials.clone(), self.options.clone()).await?;
        Ok(self.keep(key, made))
    }

    /// How many sessions are kept.
    pub fn len(&self) -> usize {
        self.lock().clients.len()
    }

    /// Whether no session is kept.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn find(&self, key: &[u8; 32]) -> Option<Client> {
        let mut kept = self.lock();
        kept.uses += 1;
        let now = kept.uses;
        let (used, client) = kept.clients.get_mut(key)?;
        *used = now;
        Some(client.clone())
    }

    /// Keeps the client, or returns the one that somebody else made meanwhile.
    fn keep(&self, key: [u8; 32], made: Client) -> Client {
        let mut kept = self.lock();
        kept.uses += 1;
        let now = kept.uses;
        if kept.clients.len() >= KEPT && !kept.clients.contains_key(&key) {
            let oldest = kept.clients.iter().min_by_key(|(_, (used, _))| *used);
            if let Some(oldest) = oldest.map(|(key, _)| *key) {
                kept.clients.remove(&oldest);
            }
        }
        let (_, client) = kept.clients.entry(key).or_insert((now, made));
        client.clone()
    }
}

/// Tells credentials apart without holding them: SHA-256 over everything that makes a session another one. Every part is
/// preceded by its length, so that no two credentials run into the same bytes.
pub fn fingerprint(credentials: &Credentials) -> [u8; 32] {
    let mut hash = Sha256::new();
    let mut part = |text: &str| {
        hash.update((text.len() as u64).to_be_bytes());
        hash.update(text.as_bytes());
    };
    part(&credentials.auth_url);
    part(credentials.region.as_deref().unwrap_or("\0none"));
    part(credentials.interface.as_str());
    part(credentials.ca_cert.as_deref().unwrap_or_default());
    part(if credentials.insecure { "insecure" } else { "" });
    for (service, url) in &credentials.endpoint_overrides {
        part(service);
        part(url);
    }
    part("method");
    match &credentials.method {
        AuthMethod::Password { user, password, scope } => {
            part("password");
            user_parts(user, &mut part);
            part(password.expose_secret());
            match scope {
                Scope::ProjectId(id) => {
                    part("id");
                    part(id);
                }
                Scope::ProjectName { name, domain } => {
                    part("name");
                    part(name);
                    domain_parts(domain, &mut part);
                }
            }
        }
        AuthMethod::AppCredentialId { id, secret } => {
            part("app-id");
            part(id);
            part(secret.expose_secret());
        }
        AuthMethod::AppCredentialName { name, user, secret } => {
            part("app-name");
            part(name);
            user_parts(user, &mut part);
            part(secret.expose_secret());
        }
    }
    hash.finalize().into()
}

fn user_parts(user: &UserRef, part: &mut impl FnMut(&str)) {
    match user {
        UserRef::Id(id) => {
            part("id");
            part(id);
        }
        UserRef::Name { name, domain } => {
            part("name");
            part(name);
            domain_parts(domain, part);
        }
    }
}

fn domain_parts(domain: &DomainRef, part: &mut impl FnMut(&str)) {
    match domain {
        DomainRef::Id(id) => {
            part("id");
            part(id);
        }
        DomainRef::Name(name) => {
            part("name");
            part(name);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::credentials;

    #[tokio::test]
    async fn the_same_credentials_share_a_session_and_others_do_not() {
        let sessions = Sessions::new(Options::default());
        let first = credentials("http://127.0.0.1:1");
        let mut other_secret = first.clone();
        other_secret.method = AuthMethod::AppCredentialId { id: "id".to_owned(), secret: "another".into() };
        let mut other_region = first.clone();
        other_region.region = Some("elsewhere".to_owned());
        let a = sessions.client(&first).await.unwrap();
        let b = sessions.client(&first.clone()).await.unwrap();
        assert!(std::sync::Arc::ptr_eq(&a.shared, &b.shared));
        for other in [other_secret, other_region] {
            let client = sessions.client(&other).await.unwrap();
            assert!(!std::sync::Arc::ptr_eq(&a.shared, &client.shared));
        }
        assert_eq!(sessions.len(), 3);
    }

    #[tokio::test]
    async fn the_least_recently_used_session_makes_room() {
        let sessions = Sessions::new(Options::default());
        let client = Client::connect(credentials("http://127.0.0.1:1"), Options::default());
        let client = client.await.unwrap();
        let numbered = |n: u16| {
            let mut key = [0; 32];
            key[..2].copy_from_slice(&n.to_be_bytes());
            key
        };
        for n in 0..KEPT as u16 {
            sessions.keep(numbered(n), client.clone());
        }
        assert!(sessions.find(&numbered(0)).is_some());
        sessions.keep(numbered(9999), client.clone());
        assert_eq!(sessions.len(), KEPT);
        assert!(sessions.find(&numbered(0)).is_some());
        assert!(sessions.find(&numbered(1)).is_none());
    }
}
