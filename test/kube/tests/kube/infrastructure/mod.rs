//! The controller in a seed: a real apiserver, the real program, and an OpenStack.

mod contract;
mod faults;
mod look;
mod scenarios;
pub(crate) mod seed;
mod way;
