//! Lists: page by page until the end.
//!
//! Neutron, Nova and Octavia name the next page in `<collection>_links`; Manila counts with `offset`. Of a link only
//! the query is used: its host may be an inner one, and the token must not go there.

use fabric_openstack_types::ApiError;
use reqwest::Url;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::{
    call::{Answer, Call},
    client::Client,
};

/// Manila's own upper limit of a page (`osapi_max_limit`).
const MANILA_PAGE: u32 = 1000;

impl Client {
    /// Everything that a list call finds, following links.
    pub(crate) async fn list<T: DeserializeOwned>(&self, call: Call, collection: &str) -> Result<Vec<T>, ApiError> {
        let mut call = match self.shared.page_size {
            Some(size) => call.query("limit", size.to_string()),
            None => call,
        };
        let mut all = Vec::new();
        loop {
            let answer = self.repeat(&call).await?;
            let page: Vec<T> = answer.member(collection)?;
            let empty = page.is_empty();
            all.extend(page);
            match next(&answer, collection)? {
                // A service that repeats a page would keep us here for ever.
                Some(query) if !empty && query != call.query => call.query = query,
                _ => return Ok(all),
            }
        }
    }

    /// Everything that a list call finds, counting.
    pub(crate) async fn list_by_offset<T: DeserializeOwned>(
        &self,
        call: &Call,
        collection: &str,
    ) -> Result<Vec<T>, ApiError> {
        let size = self.shared.page_size.unwrap_or(MANILA_PAGE).max(1);
        let mut all = Vec::new();
        loop {
            let page_call = call.clone().query("limit", size.to_string()).query("offset", all.len().to_string());
            let page: Vec<T> = self.repeat(&page_call).await?.member(collection)?;
            let full = page.len() >= size as usize;
            all.extend(page);
            if !full {
                return Ok(all);
            }
        }
    }
}

/// The query of the next page.
fn next(answer: &Answer, collection: &str) -> Result<Option<Vec<(String, String)>>, ApiError> {
    let whole: Value = answer.json()?;
    let links = whole.get(format!("{collection}_links"));
    let link = links.and_then(Value::as_array).into_iter().flatten();
    let href = link
        .filter(|link| link.get("rel").and_then(Value::as_str) == Some("next"))
        .find_map(|link| link.get("href")?.as_str());
    Ok(href.and_then(query_of))
}

fn query_of(href: &str) -> Option<Vec<(String, String)>> {
    // Some services print only the path; the base is never used.
    let base = Url::parse("http://page/").ok()?;
    let url = base.join(href).ok()?;
    Some(url.query_pairs().into_owned().collect())
}
