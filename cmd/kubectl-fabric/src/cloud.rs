//! placeholder
use crate::{
    exit::{Result, Stop},
    objects::{Facts, Object},
};
#[derive(Clone, Debug, Default, clap::Args)]
pub(crate) struct CloudArgs {}
pub(crate) fn check_all(_a: &CloudArgs, _o: &mut [Object], _f: &Facts) -> Result<()> {
    Err(Stop::error("not yet"))
}
