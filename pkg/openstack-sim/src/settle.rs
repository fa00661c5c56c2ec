//! The stand-in for the data plane: what L2, L3 and Octavia's workers would report after a while.
//!
//! Nothing runs in the background. Whoever next looks at the cloud first lets happen what is due,
//! so that a run is repeatable and an idle cloud costs nothing.

use serde_json::{Map, Value};

use crate::json::{flag, text, text_opt};
use crate::octavia;
use crate::state::{Later, State, table};

/// Lets everything happen that is due.
pub(crate) fn settle(st: &mut State) {
    for what in st.due() {
        match what {
            Later::Port(id) => {
                // One that was switched off meanwhile stays down.
                if st.get(table::PORTS, &id).is_some_and(|port| flag(port, "admin_state_up")) {
                    status(st, table::PORTS, &id, "ACTIVE");
                }
            }
            Later::FloatingIp(id) => {
                let wired = st.get(table::FLOATING_IPS, &id).is_some_and(|f| text_opt(f, "router_id").is_some());
                status(st, table::FLOATING_IPS, &id, if wired { "ACTIVE" } else { "DOWN" });
            }
            Later::LoadBalancer(id) => octavia::load_balancers::settle(st, &id),
        }
    }
}

fn status(st: &mut State, name: &str, id: &str, status: &str) {
    if st.get(name, id).is_some_and(|d| text(d, "status") != status) {
        let mut change = Map::new();
        change.insert("status".to_owned(), Value::from(status));
        st.change(name, id, &change);
    }
}
