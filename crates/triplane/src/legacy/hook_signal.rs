//! `HookSignal`: what a bus records of a passed point.

use triplane_signals::SignalClass;

use crate::legacy::hook_point::HookPoint;
use crate::legacy::value::{Signal, Value};

/// A recorded point with the arguments that its hooks were called with (plane: observation).
///
/// Move to a filter on [`SignalKind`](triplane_signals::SignalKind): a new signal is of a typed kind
/// instead of carrying arguments by name.
///
/// A denial has `denied` and `exception` among them, see
/// [`HookBus::blocking_emit`](crate::legacy::HookBus::blocking_emit).
#[derive(Debug, Clone)]
pub struct HookSignal {
    /// The point.
    pub point: HookPoint,
    /// The arguments by name, in order.
    pub kwargs: Vec<(String, Value)>,
}

impl HookSignal {
    /// What a signal records of a point; `None` when it is of another class, or of no point.
    pub fn of(signal: &Signal) -> Option<Self> {
        if signal.class != SignalClass::HookSignal {
            return None;
        }
        Some(Self {
            point: signal.text("point").parse().ok()?,
            kwargs: signal.field("kwargs")?.fields().to_vec(),
        })
    }
}

impl From<HookSignal> for Signal {
    fn from(recorded: HookSignal) -> Self {
        Self::new(SignalClass::HookSignal)
            .with("point", Value::text(recorded.point.as_str()))
            .with("kwargs", recorded.kwargs)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_recorded_point_is_read_back_from_its_signal() {
        let kwargs = vec![("tool".to_owned(), Value::text("read"))];
        let point = HookPoint::ToolPre;
        let signal = Signal::from(HookSignal { point, kwargs });
        let read = HookSignal::of(&signal).unwrap();
        assert_eq!(read.point, point);
        assert_eq!(read.kwargs.len(), 1);
        assert!(read.kwargs[0].1.equals(&Value::text("read")));
        assert!(HookSignal::of(&Signal::new(SignalClass::Signal)).is_none());
    }
}
