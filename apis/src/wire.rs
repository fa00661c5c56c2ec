//! Small encodings that several types share.

use serde::{Deserialize, Deserializer};

/// Reads `null` as the default value. In Go, which the other side is written in, `null` leaves a field at its zero
/// value, so an object that spells an absent field as `null` has to stay valid.
pub(crate) fn null_default<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: Default + Deserialize<'de>,
{
    Ok(Option::<T>::deserialize(deserializer)?.unwrap_or_default())
}

/// `skip_serializing_if` for a bool that Go marks `omitempty`.
pub(crate) fn is_false(value: &bool) -> bool {
    !*value
}

/// Declares a zero-sized type that is always one string on the wire: the `apiVersion` or `kind` of an object of ours.
/// A value of the type can't disagree with the object it stands in, and decoding refuses any other string.
macro_rules! constant_text {
    ($(#[$meta:meta])* $name:ident = $text:expr) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        pub struct $name;

        impl $name {
            /// The text on the wire.
            pub const TEXT: &'static str = $text;
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(Self::TEXT)
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
                if text == Self::TEXT {
                    Ok(Self)
                } else {
                    Err(serde::de::Error::custom(format_args!("is {:?}, expected {:?}", text, Self::TEXT)))
                }
            }
        }
    };
}
pub(crate) use constant_text;
