//! Kubernetes quantities (`500m`, `8Gi`, `1e3`), as far as rules ask: their sign, and whether they are whole.
//!
//! The grammar is that of `k8s.io/apimachinery/pkg/api/resource`.

use serde_json::Value;

/// A quantity that could be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Quantity {
    negative: bool,
    whole: bool,
}

impl Quantity {
    /// Reads a text or a plain number; `None` when it is no quantity.
    pub(crate) fn read(value: &Value) -> Option<Self> {
        match value {
            Value::String(text) => Self::parse(text),
            Value::Number(number) => Self::parse(&number.to_string()),
            _ => None,
        }
    }

    fn parse(text: &str) -> Option<Self> {
        let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
        let end = unsigned.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(unsigned.len());
        let (number, suffix) = unsigned.split_at_checked(end)?;
        let (before, after) = number.split_once('.').unwrap_or((number, ""));
        if (before.is_empty() && after.is_empty()) || after.contains('.') {
            return None;
        }
        let digits = format!("{before}{after}");
        let fraction = after.len();
        let zero = digits.bytes().all(|digit| digit == b'0');
        let whole = match scale(suffix)? {
            _ if zero => true,
            // The last digits that are not zero must stand before the point once it has moved.
            Scale::Decimal(exponent) => {
                let trailing = digits.bytes().rev().take_while(|digit| *digit == b'0').count();
                i64::try_from(fraction).ok()? <= i64::from(exponent) + i64::try_from(trailing).ok()?
            }
            // A fraction of n digits is whole times 2^k only if it is a multiple of 5^n, and n is at most k.
            Scale::Binary(exponent) => {
                let after = after.trim_end_matches('0');
                let length = u32::try_from(after.len()).ok()?;
                let five = 5u128.checked_pow(length);
                after.is_empty()
                    || length <= exponent
                        && after.parse::<u128>().ok().zip(five).is_some_and(|(part, five)| part % five == 0)
            }
        };
        Some(Self { negative: text.starts_with('-') && !zero, whole })
    }

    /// Whether it is below zero.
    pub(crate) fn is_negative(self) -> bool {
        self.negative
    }

    /// Whether it has no fraction.
    pub(crate) fn is_whole(self) -> bool {
        self.whole
    }
}

enum Scale {
    /// Powers of ten.
    Decimal(i32),
    /// Powers of two.
    Binary(u32),
}

fn scale(suffix: &str) -> Option<Scale> {
    let decimal = match suffix {
        "n" => -9,
        "u" => -6,
        "m" => -3,
        "" => 0,
        "k" => 3,
        "M" => 6,
        "G" => 9,
        "T" => 12,
        "P" => 15,
        "E" => 18,
        _ => {
            let binary = ["Ki", "Mi", "Gi", "Ti", "Pi", "Ei"].iter().zip(1u32..).find(|(name, _)| **name == suffix);
            if let Some((_, thousands)) = binary {
                return Some(Scale::Binary(10 * thousands));
            }
            let exponent = suffix.strip_prefix(['e', 'E'])?;
            return exponent.parse().ok().map(Scale::Decimal);
        }
    };
    Some(Scale::Decimal(decimal))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn quantities_are_read_as_kubernetes_reads_them() {
        // Value; negative and whole, or no quantity.
        let cases = [
            (json!("2"), Some((false, true))),
            (json!(2), Some((false, true))),
            (json!(2.5), Some((false, false))),
            (json!("-1"), Some((true, true))),
            (json!(-1), Some((true, true))),
            (json!("-0"), Some((false, true))),
            (json!("+3"), Some((false, true))),
            (json!("500m"), Some((false, false))),
            (json!("2000m"), Some((false, true))),
            (json!("8Gi"), Some((false, true))),
            (json!("0.5Ki"), Some((false, true))),
            (json!("0.1Ki"), Some((false, false))),
            // 2⁻²⁰ and half of it.
            (json!("0.00000095367431640625Mi"), Some((false, true))),
            (json!("0.000000476837158203125Mi"), Some((false, false))),
            (json!("1.0"), Some((false, true))),
            (json!("1."), Some((false, true))),
            (json!(".5"), Some((false, false))),
            (json!("1.5k"), Some((false, true))),
            (json!("1e3"), Some((false, true))),
            (json!("12e-1"), Some((false, false))),
            (json!("20E-1"), Some((false, true))),
            (json!("1E"), Some((false, true))),
            (json!("100n"), Some((false, false))),
            (json!(""), None),
            (json!("."), None),
            (json!("1.2.3"), None),
            (json!("8gi"), None),
            (json!("eight"), None),
            (json!(" 8"), None),
            (json!("1e"), None),
            (json!("--1"), None),
            (json!("1ä"), None),
            (json!(true), None),
            (json!(null), None),
        ];
        for (value, expected) in cases {
            let found = Quantity::read(&value).map(|it| (it.is_negative(), it.is_whole()));
            assert_eq!(found, expected, "{value}");
        }
    }
}
