//! MD5 (RFC 1321), which fingerprints of key pairs are made with. Nothing here relies on its strength.

/// Shifts of the four rounds, each repeated four times.
const SHIFTS: [[u32; 4]; 4] = [[7, 12, 17, 22], [5, 9, 14, 20], [4, 11, 16, 23], [6, 10, 15, 21]];

/// The digest of some bytes.
pub(crate) fn digest(input: &[u8]) -> [u8; 16] {
    let mut padded = input.to_vec();
    padded.push(0x80);
    while padded.len() % 64 != 56 {
        padded.push(0);
    }
    padded.extend((input.len() as u64).wrapping_mul(8).to_le_bytes());
    let mut state: [u32; 4] = [0x6745_2301, 0xefcd_ab89, 0x98ba_dcfe, 0x1032_5476];
    for block in padded.chunks_exact(64) {
        let words: Vec<u32> =
            block.chunks_exact(4).map(|w| w.iter().rev().fold(0, |n, b| n << 8 | u32::from(*b))).collect();
        let mixed = mix(state, &words);
        for (to, from) in state.iter_mut().zip(mixed) {
            *to = to.wrapping_add(from);
        }
    }
    let mut out = [0u8; 16];
    for (to, from) in out.iter_mut().zip(state.iter().flat_map(|w| w.to_le_bytes())) {
        *to = from;
    }
    out
}

fn mix([mut a, mut b, mut c, mut d]: [u32; 4], words: &[u32]) -> [u32; 4] {
    for step in 0..64u32 {
        let (f, at) = match step / 16 {
            0 => ((b & c) | (!b & d), step),
            1 => ((d & b) | (!d & c), 5 * step + 1),
            2 => (b ^ c ^ d, 3 * step + 5),
            _ => (c ^ (b | !d), 7 * step),
        };
        let word = words.get(at as usize % 16).copied().unwrap_or_default();
        let shift = SHIFTS.get(step as usize / 16).and_then(|r| r.get(step as usize % 4)).copied().unwrap_or_default();
        // The RFC's table T: the integer part of 2^32 * |sin(step + 1)|.
        let constant = (f64::from(step + 1).sin().abs() * 4_294_967_296.0) as u32;
        let sum = a.wrapping_add(f).wrapping_add(constant).wrapping_add(word);
        (a, d, c, b) = (d, c, b, b.wrapping_add(sum.rotate_left(shift)));
    }
    [a, b, c, d]
}

#[cfg(test)]
mod tests {
    use super::digest;

    #[test]
    fn the_test_suite_of_rfc_1321_holds() {
        let cases = [
            ("", "d41d8cd98f00b204e9800998ecf8427e"),
            ("abc", "900150983cd24fb0d6963f7d28e17f72"),
            ("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789", "d174ab98d277d9f5a5611c2c9f419d9f"),
        ];
        for (input, expected) in cases {
            let hex: String = digest(input.as_bytes()).iter().map(|b| format!("{b:02x}")).collect();
            assert_eq!(hex, expected, "{input:?}");
        }
    }
}
