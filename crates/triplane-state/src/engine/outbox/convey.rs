//! Calling a sink that may do anything.

use std::any::Any;
use std::panic::AssertUnwindSafe;
use std::time::Duration;

use futures::FutureExt as _;
use tokio::time::timeout;

use crate::delivery::{DeliveryIntent, DeliveryResult, DeliverySink};

/// Hands `intents` to the sink. Whatever it does, every intent gets a result.
///
/// When the sink panics over several intents it is called again for each alone, so that one of them
/// does not take the others along. What had been sent by then is sent twice, under the same key.
pub(crate) async fn convey(
    sink: &dyn DeliverySink,
    intents: &[DeliveryIntent],
    attempt_max: Duration,
) -> Vec<DeliveryResult> {
    match call(sink, intents, attempt_max).await {
        Ok(results) => results,
        Err(panicked) if intents.len() == 1 => vec![panicked],
        Err(_panicked) => {
            let mut results = Vec::with_capacity(intents.len());
            for intent in intents.chunks(1) {
                match call(sink, intent, attempt_max).await {
                    Ok(alone) => results.extend(alone),
                    Err(panicked) => results.push(panicked),
                }
            }
            results
        }
    }
}

/// One call, with one result for each intent, or the result that a panic stands for.
async fn call(
    sink: &dyn DeliverySink,
    intents: &[DeliveryIntent],
    attempt_max: Duration,
) -> Result<Vec<DeliveryResult>, DeliveryResult> {
    if intents.is_empty() {
        return Ok(Vec::new());
    }
    let batch_max = attempt_max.saturating_mul(u32::try_from(intents.len()).unwrap_or(u32::MAX));
    // The call itself may panic too, before there is a future.
    let call = AssertUnwindSafe(async { sink.deliver_batch(intents).await }).catch_unwind();
    let mut results = match timeout(batch_max, call).await {
        Ok(Ok(results)) => results,
        Ok(Err(panic)) => {
            let error = format!("the sink panicked: {}", panic_text(panic.as_ref()));
            tracing::error!(intents = intents.len(), "{error}");
            return Err(DeliveryResult::Retry { error, after: None });
        }
        Err(_elapsed) => {
            let error = format!("the sink gave no answer within {batch_max:?}");
            vec![DeliveryResult::Unknown { error }; intents.len()]
        }
    };
    results.resize_with(intents.len(), || DeliveryResult::Unknown {
        error: "the sink gave no answer for this intent".to_owned(),
    });
    Ok(results)
}

fn panic_text(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("without a message")
}
