"""``hookbus_blocking`` and ``hookbus_observational``: points of one bus."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from lionagi.hooks.bus import HookBus, HookSignal
from lionagi.session.observer import SessionObserver

from .. import errors, values
from ..profile import Profile

if TYPE_CHECKING:
    from ..run import Run


def warned(registration: Callable[[], Any]) -> dict | None:
    """What a registration returns when the old package warns of it."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        registration()
    return {"warned": True} if caught else None


class HookBusProfile(Profile):
    def __init__(self, run: Run, setup: dict) -> None:
        super().__init__(run, setup)
        self.observer = SessionObserver()
        self.bus = HookBus(self.observer if setup.get("observer", True) else None)

    def op_register(self, op: dict) -> Any:
        return warned(lambda: self.bus.on(op["point"], self.handler(op)))

    def op_unregister(self, op: dict) -> Any:
        self.bus.off(op["point"], self.handler(op))

    def op_handlers_for(self, op: dict) -> Any:
        return [handler.handler_name for handler in self.bus.handlers_for(op["point"])]

    def op_emit(self, op: dict) -> Any:
        return self.bus.emit(op["point"], **values.make(op.get("payload", {})))

    def op_blocking_emit(self, op: dict) -> Any:
        return self.bus.blocking_emit(op["point"], **values.make(op.get("payload", {})))

    def op_bind(self, op: dict) -> Any:
        self.bus.bind(self.observer if op["observer"] else None)

    def op_observe_signals(self, op: dict) -> Any:
        self.observer.observe(HookSignal, handler=self.handler(op))

    def op_gate(self, op: dict) -> Any:
        self.observer.gate(self.handler(op))

    def op_set_retry_queues(self, op: dict) -> Any:
        queues = [RetryQueue(self.run, *numbered) for numbered in enumerate(op["results"])]
        self.bus._message_retry_queues = dict(enumerate(queues))

    def op_flush_message_retries(self, _: dict) -> Any:
        return self.bus.flush_message_retries()

    def final(self) -> Any:
        return {
            "signals": list(self.observer.flow.items),
            "handlers": {
                point.value: [handler.__name__ for handler in handlers]
                for point, handlers in self.bus._handlers.items()
            },
        }


class RetryQueue:
    """A queue of messages that answers its flush as the scenario says."""

    def __init__(self, run: Run, index: int, result: str) -> None:
        self._run, self._index, self._result = run, index, result

    async def flush_final(self) -> bool:
        self._run.record({"ev": "flush", "queue": self._index, "result": self._result})
        if self._result == "refused":
            raise errors.make({"kind": "store_refused", "message": f"queue {self._index}"})
        return self._result == "ok"
