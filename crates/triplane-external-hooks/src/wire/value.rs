//! From checked text to the value that guards judge.

use serde_json::{Map, Number, Value};

use crate::wire::json::{Keep, parse};
use crate::wire::node::{Found, Kind, Node};
use crate::wire::unreadable::Fault;

/// The whole value of a node, whatever parts of it were kept.
///
/// # Errors
///
/// [`Fault::NumberOutOfRange`], with the byte at which the number stands.
pub(crate) fn value_of(node: &Node<'_>) -> Result<Value, Found> {
    parse(node.raw, Keep::All)
        .and_then(|whole| built(&whole))
        .map_err(|(fault, byte)| (fault, node.offset + byte))
}

fn built(node: &Node<'_>) -> Result<Value, Found> {
    Ok(match &node.kind {
        Kind::Null => Value::Null,
        Kind::Bool => Value::Bool(node.is_true()),
        Kind::Number => {
            let number: Number = serde_json::from_str(node.raw)
                .map_err(|_| (Fault::NumberOutOfRange, node.offset))?;
            Value::Number(number)
        }
        Kind::String => Value::String(node.text().unwrap_or_default().into_owned()),
        Kind::Array(items) => Value::Array(items.iter().map(built).collect::<Result<_, _>>()?),
        Kind::Object(fields) => {
            let mut map = Map::new();
            for (key, node) in fields {
                map.insert(key.as_ref().to_owned(), built(node)?);
            }
            Value::Object(map)
        }
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn check(text: &str, wanted: Result<&str, Found>) {
        let got = parse(text, Keep::Fields).and_then(|node| value_of(&node));
        assert_eq!(
            got.map(|value| value.to_string()),
            wanted.map(str::to_owned),
            "{text}"
        );
    }

    #[test]
    fn a_value_is_built_with_its_numbers_and_escapes() {
        check(
            r#" {"b": [1, -0.5e3, true] , "a": null} "#,
            Ok(r#"{"a":null,"b":[1,-500.0,true]}"#),
        );
        check(r#""\u00e9\ud83d\ude80\n\/""#, Ok(r#""é🚀\n/""#));
        check("9007199254740993", Ok("9007199254740993"));
        check("18446744073709551615", Ok("18446744073709551615"));
        check("{}", Ok("{}"));
        check("[]", Ok("[]"));
        check(r#" {"a": [1e999]}"#, Err((Fault::NumberOutOfRange, 8)));
    }

    #[test]
    fn a_lone_surrogate_is_replaced_and_its_text_is_kept() {
        check(r#""\ud800""#, Ok("\"\u{fffd}\""));
        check(r#""\udc00x""#, Ok("\"\u{fffd}x\""));
        check(r#""\ud800\ud83d\ude80""#, Ok("\"\u{fffd}🚀\""));
        check(r#""\ud800\u0041""#, Ok("\"\u{fffd}A\""));
        check(r#""\ud800\n""#, Ok("\"\u{fffd}\\n\""));
        let kept = parse(r#" "\ud800" "#, Keep::All).map(|node| node.raw);
        assert_eq!(kept, Ok(r#""\ud800""#));
    }

    fn any_value() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            any::<f64>().prop_map(Value::from),
            any::<String>().prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 64, 8, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..8).prop_map(Value::from),
                prop::collection::btree_map(any::<String>(), inner, 0..24)
                    .prop_map(|map| Value::Object(map.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn what_was_written_is_what_is_built(value in any_value()) {
            let text = value.to_string();
            let node = parse(&text, Keep::Fields).unwrap();
            prop_assert_eq!(value_of(&node).unwrap(), value);
        }
    }
}
