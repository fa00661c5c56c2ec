//! The service catalog, with three interfaces for each service.

use serde_json::{Value, json};

use crate::Service;
use crate::json::text;
use crate::state::{State, table};

/// Every service that is not hidden, with the URLs of the running cloud.
pub(crate) fn catalog(st: &State) -> Value {
    st.all(table::CATALOG)
        .filter_map(|doc| Some((doc, Service::ALL.into_iter().find(|s| s.catalog_type() == text(doc, "type"))?)))
        .filter(|(_, service)| !st.settings.hidden.contains(service))
        .map(|(doc, service)| entry(st, doc, service))
        .collect()
}

fn entry(st: &State, doc: &Value, service: Service) -> Value {
    let url = format!("{}{}", st.base(service), service.catalog_path());
    let endpoints: Vec<Value> = ["public", "internal", "admin"]
        .into_iter()
        .map(|interface| {
            json!({
                "id": text(doc, &format!("_{interface}")), "interface": interface,
                "region_id": st.settings.region, "url": url, "region": st.settings.region,
            })
        })
        .collect();
    json!({
        "endpoints": endpoints, "id": text(doc, "id"),
        "type": service.catalog_type(), "name": service.catalog_name(),
    })
}
