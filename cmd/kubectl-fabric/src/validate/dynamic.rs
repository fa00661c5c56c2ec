//! `--dynamic`: the rules that look into the cloud.

use std::collections::HashMap;

use fabric_apis::field::Findings;
use fabric_infrastructure::{Failure, State, prepare};

use crate::{
    cloud::{CloudArgs, Place, Session},
    exit::{Exit, Result},
    objects::{Facts, Login, Object},
    work::block_on,
};

/// Asks the dynamic rules about every object that has no error yet, with one session a region.
///
/// # Errors
/// No cloud is named; its credentials cannot be read.
pub(super) fn check(args: &CloudArgs, objects: &mut [Object], facts: &Facts) -> Result<()> {
    let mut logins: Vec<Login> = objects.iter_mut().filter_map(|object| object.login.take()).collect();
    let login = if logins.len() == 1 { logins.pop() } else { None };
    block_on(async {
        let mut sessions: HashMap<Option<String>, Session> = HashMap::new();
        for object in objects {
            let Some(subject) = object.subject.as_ref().filter(|_| object.report.errors.is_empty()) else { continue };
            let region = subject.input.shoot.region.clone().or_else(|| facts.region.clone());
            if !sessions.contains_key(&region) {
                let profile = subject.input.profile.as_ref();
                let place = Place { profile, region: region.as_deref(), login: login.as_ref(), verb: None };
                sessions.insert(region.clone(), Session::open(args, &place).await?);
            }
            let Some(session) = sessions.get(&region) else { continue };
            match prepare(&session.client, &subject.input, &State::default()).await {
                Ok(prepared) => object.report.add(prepared.checked.findings),
                Err(Failure::Invalid(findings)) => object.report.add(findings),
                // Judging stops before a plan is made or run.
                Err(Failure::Checks(_) | Failure::Plan(_) | Failure::Apply(_)) => {
                    object.report.add(Findings::default())
                }
            }
        }
        Ok(Exit::Ok)
    })
    .map(drop)
}
