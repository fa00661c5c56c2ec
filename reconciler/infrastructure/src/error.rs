//! What can stop a reconcile, each with its Gardener code (`codes.rs`).

use fabric_openstack_types::ApiError;

/// What can stop a reconcile or a deletion.
#[derive(Clone, Debug, thiserror::Error)]
pub enum Error {
    /// A call failed.
    #[error("{0}")]
    Api(#[from] ApiError),
    /// A resource that the specification names is not there.
    #[error("{field}: {what} {id} does not exist or is not visible for this project; check the id, or recreate it")]
    MissingGiven {
        /// The field that names it.
        field: &'static str,
        /// What it is ("router").
        what: &'static str,
        /// Its id.
        id: String,
    },
    /// The specification contradicts what is there.
    #[error("{field}: {problem}")]
    Configuration {
        /// The field that is to be changed.
        field: &'static str,
        /// What is wrong and what to do.
        problem: String,
    },
    /// Two or more resources could be ours.
    #[error("{count} {what}s could be this shoot's ({ids}): delete or rename all but one")]
    Ambiguous {
        /// What they are ("network").
        what: &'static str,
        /// How many.
        count: usize,
        /// Their ids.
        ids: String,
    },
    /// The state names it, but nothing on it says that it is ours: an edited file must not hand over what is another's.
    #[error(
        "{what} {id} ({name}) is in the state, but neither carries this shoot's mark nor its name: rename it to {wanted} \
         if it is this shoot's, else remove it from the state"
    )]
    Unproven {
        /// What it is ("network").
        what: &'static str,
        /// Its id.
        id: String,
        /// Its name.
        name: String,
        /// The name that ours would have.
        wanted: String,
    },
    /// Something of somebody else blocks a deletion.
    #[error("{what} {id} cannot be deleted while others use it: {blockers}; remove them, then delete again")]
    Blocked {
        /// What it is ("network").
        what: &'static str,
        /// Its id.
        id: String,
        /// Who uses it, named.
        blockers: String,
    },
    /// A resource came up in a state that it does not leave by itself.
    #[error("{what} {id} is in status {status}; it should be {wanted}")]
    BadStatus {
        /// What it is ("router interface port").
        what: &'static str,
        /// Its id.
        id: String,
        /// Its status.
        status: String,
        /// The status we waited for.
        wanted: &'static str,
    },
    /// Something did not become ready in time.
    #[error("{what} {id} is not {wanted} after {seconds} s: the cloud's data plane does not answer; it is tried again")]
    NotReady {
        /// What it is.
        what: &'static str,
        /// Its id.
        id: String,
        /// The status we waited for.
        wanted: &'static str,
        /// How long we waited, in seconds.
        seconds: u64,
    },
    /// What was done could not be saved.
    #[error("state not saved: {0}")]
    State(String),
    /// A step needs what an earlier step should have left.
    #[error("{0} is not known yet; run again")]
    Unknown(&'static str),
}
