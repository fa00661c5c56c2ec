//! The controller in a seed: a real apiserver, the real program, and an OpenStack.

mod contract;
mod look;
pub(crate) mod seed;
