//! One client and one set of listings for each login.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use fabric_openstack::{Client, Error, Options, Sessions, fingerprint};
use fabric_openstack_types::credentials::Credentials;

use super::listings::{FRESH, Listings};

/// Clients by credentials: their token, their connections and their limit of parallel calls
/// ([`Options::parallel`]) are shared by all reviews.
pub(super) struct Clouds {
    sessions: Sessions,
    listings: Mutex<HashMap<[u8; 32], Used>>,
}

/// Since when nobody asked, and what is known.
type Used = (Instant, Arc<Listings>);

impl Clouds {
    pub(super) fn new(options: Options) -> Self {
        Self { sessions: Sessions::new(options), listings: Mutex::default() }
    }

    /// What belongs to these credentials. Nothing is sent yet.
    ///
    /// # Errors
    /// The URL or the CA certificate can't be used.
    pub(super) async fn open(&self, credentials: &Credentials) -> Result<(Client, Arc<Listings>), Error> {
        let client = self.sessions.client(credentials).await?;
        let now = Instant::now();
        let mut all = self.listings.lock().unwrap_or_else(PoisonError::into_inner);
        // What nobody has used for so long holds nothing fresh.
        all.retain(|_, (used, _)| now.duration_since(*used) < FRESH);
        let (used, listings) = all.entry(fingerprint(credentials)).or_insert_with(|| (now, Arc::default()));
        *used = now;
        Ok((client, Arc::clone(listings)))
    }
}
