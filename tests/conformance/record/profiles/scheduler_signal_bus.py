"""``scheduler_signal_bus``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lionagi.studio.scheduler.signals import SchedulerSignalBus, build_schedule_run_signal

from .. import values
from ..profile import Profile

if TYPE_CHECKING:
    from ..run import Run


def neutral(counters: dict | None) -> dict | None:
    """Counters with the neutral names of signals."""
    if counters is None:
        return None
    emitted = {values.SIGNAL_NAMES[name]: count for name, count in counters["emitted"].items()}
    return counters | {"emitted": emitted}


class SchedulerSignalBusProfile(Profile):
    def __init__(self, run: Run, setup: dict) -> None:
        super().__init__(run, setup)
        self.bus = SchedulerSignalBus()

    def op_observe(self, op: dict) -> Any:
        classes = [values.TYPES[name] for name in op.get("types", [])]
        predicates = [self.predicate(op["handler"], one) for one in op.get("predicates", [])]
        self.bus.observe(*classes, *predicates, handler=self.handler(op))

    def op_unobserve(self, op: dict) -> Any:
        return self.bus.unobserve(self.handler(op))

    def op_emit(self, op: dict) -> Any:
        return self.bus.emit(values.make(op["signal"]))

    def op_pop_counters(self, op: dict) -> Any:
        return neutral(self.bus.pop_run_counters(op["run_id"]))

    def op_build_signal(self, op: dict) -> Any:
        return build_schedule_run_signal(**{name: op[name] for name in op if name != "op"})

    def final(self) -> Any:
        counters = self.bus._counters.items()
        return {
            "counters": {run_id: neutral(one.to_dict()) for run_id, one in counters},
            "subscriptions": len(self.bus._subs),
        }
