"""``broadcaster``."""

from __future__ import annotations

import gc
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from lionagi.protocols.generic.event import Event
from lionagi.service.broadcaster import Broadcaster

from .. import values
from ..profile import Profile

if TYPE_CHECKING:
    from ..run import Run


class OracleEvent(Event):
    """The type that is expected; its name is in recorded texts."""

    payload: Any = None


class OracleSubEvent(OracleEvent):
    """A subtype of what is expected."""


class Subscriber:
    """An object whose method is subscribed."""

    def __init__(self, handler: Callable) -> None:
        self._handler = handler

    def on_event(self, event: Event) -> Any:
        return self._handler(event)


class BroadcasterProfile(Profile):
    def __init__(self, run: Run, setup: dict) -> None:
        super().__init__(run, setup)
        # A class of its own for each scenario: subscribers belong to the class.
        self.broadcaster = type("Scenario", (Broadcaster,), {"_event_type": OracleEvent})
        self.objects: dict[str, Subscriber] = {}

    def arguments(self, args: tuple, kwargs: dict) -> Any:
        return getattr(args[-1], "payload", None)

    def _callback(self, op: dict) -> Callable:
        if not op.get("bound"):
            return self.handler(op)
        name = op["handler"]
        if name not in self.objects:
            self.objects[name] = Subscriber(self.handler(op))
        return self.objects[name].on_event

    def op_subscribe(self, op: dict) -> Any:
        self.broadcaster.subscribe(self._callback(op))

    def op_unsubscribe(self, op: dict) -> Any:
        self.broadcaster.unsubscribe(self._callback(op))

    def op_drop(self, op: dict) -> Any:
        self.objects.pop(op["handler"], None)
        gc.collect()

    def op_broadcast(self, op: dict) -> Any:
        payload = values.make(op.get("payload"))
        match op.get("event", "expected"):
            case "not_an_event":
                event = payload
            case "other":
                event = Event()
            case "subtype":
                event = OracleSubEvent(payload=payload)
            case _:
                event = OracleEvent(payload=payload)
        return self.broadcaster.broadcast(event)

    def op_count(self, _: dict) -> Any:
        return self.broadcaster.get_subscriber_count()

    def op_singleton(self, _: dict) -> Any:
        return self.broadcaster() is self.broadcaster()

    def final(self) -> Any:
        return {"subscribers": self.broadcaster.get_subscriber_count()}
