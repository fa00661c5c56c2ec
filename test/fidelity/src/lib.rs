//! Objects about to be stored, with what stands around them and what the tables of the rules say, for every program
//! that judges objects.
//!
//! ```text
//!  validation/tests/rules (generators, tables) ─► cases ─► webhook, command line, controller: all alike, and as told
//! ```
//!
//! The generators and tables are the ones that `validation` holds its code against, compiled a second time: not a copy.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "all of this is for tests")]
#![allow(dead_code, unused_imports, reason = "half of it is for the tests beside the tables")]

#[path = "../../../validation/tests/rules/control_plane.rs"]
mod control_plane;
#[path = "../../../validation/tests/rules/infrastructure.rs"]
mod infrastructure;
#[path = "../../../validation/tests/rules/pool.rs"]
mod pool;
#[path = "../../../validation/tests/rules/profile.rs"]
mod profile;
#[path = "../../../validation/tests/rules/secret.rs"]
mod secret;
#[path = "../../../validation/tests/rules/shoot.rs"]
mod shoot;
#[path = "../../../validation/tests/rules/table.rs"]
mod table;
#[path = "../../../validation/tests/rules/values.rs"]
mod values;

mod cases;

pub use cases::{Case, cases};
