//! Time stamps in the three spellings that the services use.

use jiff::Timestamp;

/// `2026-11-30T16:43:13Z`: Neutron.
pub(crate) fn zulu() -> String {
    Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

/// `2026-11-30T16:43:26.264119`: Manila and Nova.
pub(crate) fn micros() -> String {
    Timestamp::now().strftime("%Y-%m-%dT%H:%M:%S%.6f").to_string()
}

/// `2026-11-30T18:58:12`: Octavia.
pub(crate) fn plain() -> String {
    Timestamp::now().strftime("%Y-%m-%dT%H:%M:%S").to_string()
}

/// `2026-12-01T16:43:12.000000Z`: Keystone.
pub(crate) fn keystone(at: Timestamp) -> String {
    at.strftime("%Y-%m-%dT%H:%M:%S.000000Z").to_string()
}
