//! Identifiers, addresses and choices from one seeded generator, so that a run can be repeated.

use uuid::Uuid;

/// SplitMix64: small, and good enough for names; nothing here is secret.
#[derive(Debug)]
pub(crate) struct Rng(u64);

impl Rng {
    /// With a seed the sequence is fixed, without one it differs in every run.
    pub(crate) fn new(seed: Option<u64>) -> Self {
        Self(seed.unwrap_or_else(|| Uuid::new_v4().as_u64_pair().0))
    }

    /// Where the sequence stands, to go on from there another time.
    pub(crate) fn position(&self) -> u64 {
        self.0
    }

    /// The next 64 bits.
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `n`; 0 when `n` is 0.
    pub(crate) fn below(&mut self, n: usize) -> usize {
        usize::try_from(self.next().checked_rem(n as u64).unwrap_or(0)).unwrap_or(0)
    }

    /// A number in [0, 1).
    pub(crate) fn fraction(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }

    fn uuid(&mut self) -> Uuid {
        let (a, b) = (self.next().to_be_bytes(), self.next().to_be_bytes());
        let mut bytes = [0u8; 16];
        for (to, from) in bytes.iter_mut().zip(a.iter().chain(b.iter())) {
            *to = *from;
        }
        uuid::Builder::from_random_bytes(bytes).into_uuid()
    }

    /// A version 4 UUID with dashes, the form of Neutron, Manila and Octavia.
    pub(crate) fn id(&mut self) -> String {
        self.uuid().to_string()
    }

    /// A UUID of 32 hexadecimal digits, the form of Keystone.
    pub(crate) fn hex(&mut self) -> String {
        self.uuid().simple().to_string()
    }

    /// A token as opaque and as long as a Fernet token is.
    pub(crate) fn token(&mut self) -> String {
        let mut out = String::from("gAAAAAB");
        for _ in 0..5 {
            out.push_str(&self.hex());
        }
        out
    }

    /// A MAC address with Neutron's default prefix.
    pub(crate) fn mac(&mut self) -> String {
        let [a, b, c, ..] = self.next().to_be_bytes();
        format!("fa:16:3e:{a:02x}:{b:02x}:{c:02x}")
    }
}
