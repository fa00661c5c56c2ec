//! Makes the nodes' key pair.

use fabric_openstack_types::compute::KeyPair;
use ring::{
    rand::SystemRandom,
    signature::{Ed25519KeyPair, KeyPair as _},
};

use super::Run;
use crate::{error::Error, plan::KeyPairStep, state::Key};

pub(super) async fn ensure(run: &Run<'_>, step: KeyPairStep) -> Result<(), Error> {
    let public_key = match step {
        KeyPairStep::Have { .. } => return Ok(()),
        KeyPairStep::Replace { old, public_key } => {
            run.cloud.delete_key_pair(&old.map(|it| it.name)).await?;
            let mut state = run.state();
            state.clear(Key::KeyPair);
            state.clear(Key::KeyPairFingerprint);
            public_key
        }
        KeyPairStep::Create { public_key } => public_key,
    };
    let public_key = public_key.map_or_else(throw_away_key, Ok)?;
    let made: KeyPair = run.cloud.create_key_pair(run.target.name(), &public_key).await?;
    run.set(Key::KeyPair, made.name);
    run.set(Key::KeyPairFingerprint, made.fingerprint);
    Ok(())
}

/// A public key whose private half is gone when this returns: the shoot has SSH access disabled, but the worker
/// controller needs a key pair's name. (Nova generates none since microversion 2.92, and would send the private half.)
fn throw_away_key() -> Result<String, Error> {
    let unusable = |_| Error::State("this machine gives no random numbers for a key".to_owned());
    let document = Ed25519KeyPair::generate_pkcs8(&SystemRandom::new()).map_err(unusable)?;
    let pair = Ed25519KeyPair::from_pkcs8(document.as_ref())
        .map_err(|error| Error::State(format!("the key just made does not parse: {error}")))?;
    Ok(openssh(pair.public_key().as_ref()))
}

/// RFC 8709, section 4: the type's name and the key, each after its length.
fn openssh(key: &[u8]) -> String {
    use base64::{Engine, engine::general_purpose::STANDARD};
    const KIND: &str = "ssh-ed25519";
    let mut blob = Vec::new();
    for part in [KIND.as_bytes(), key] {
        let length = u32::try_from(part.len()).unwrap_or(u32::MAX);
        blob.extend_from_slice(&length.to_be_bytes());
        blob.extend_from_slice(part);
    }
    format!("{KIND} {}", STANDARD.encode(blob))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_throw_away_key_is_a_valid_openssh_line_and_never_the_same() {
        let (one, two) = (throw_away_key().unwrap(), throw_away_key().unwrap());
        assert!(one.starts_with("ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI"), "{one}");
        assert_eq!(one.len(), "ssh-ed25519 ".len() + 68);
        assert_ne!(one, two);
    }
}
