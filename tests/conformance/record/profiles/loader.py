"""``loader``: named handlers, the hooks of an agent, and the bus that is built of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from lionagi.hooks import loader
from lionagi.hooks.bus import HookBus, hook
from lionagi.session.observer import SessionObserver

from .. import values
from ..profile import Profile

if TYPE_CHECKING:
    from ..run import Run


def name(handler: Callable) -> str:
    return getattr(handler, "handler_name", None) or f"builtin:{handler.__name__}"


def table(points: dict) -> dict:
    """The names of the handlers at each point."""
    return {point.value: [name(one) for one in handlers] for point, handlers in points.items()}


class LoaderProfile(Profile):
    def __init__(self, run: Run, setup: dict) -> None:
        super().__init__(run, setup)
        self.observer = SessionObserver()
        self.bus: HookBus | None = None
        self._registered = dict(loader._REGISTRY)

    def close(self) -> None:
        loader._REGISTRY.clear()
        loader._REGISTRY.update(self._registered)

    def arguments(self, args: tuple, kwargs: dict) -> Any:
        return kwargs

    def op_register_handler(self, op: dict) -> Any:
        loader.register_handler(op["name"], self.handler(op))

    def op_resolve_handler(self, op: dict) -> Any:
        return name(loader.resolve_handler(op["name"]))

    def op_load_hooks_for_agent(self, op: dict) -> Any:
        return table(loader.load_hooks_for_agent(op.get("hooks")))

    def op_build_session_bus(self, op: dict) -> Any:
        observer = self.observer if op.get("observer", True) else None
        self.bus = loader.build_session_bus(op.get("hooks"), observer=observer)
        return table(self.bus._handlers)

    def op_defaults(self, _: dict) -> Any:
        return table(loader.DEFAULT_HOOKS)

    def op_tag(self, op: dict) -> Any:
        tagged = hook(op["point"])(self.handler(op))
        point = tagged.__lionagi_hook_point__.value
        return {"same_object": tagged is self.handler(op), "point": point}

    def op_register(self, op: dict) -> Any:
        self.bus.on(op["point"], self.handler(op))

    def op_emit(self, op: dict) -> Any:
        return self.bus.emit(op["point"], **values.make(op.get("payload", {})))

    def final(self) -> Any:
        return {"signals": list(self.observer.flow.items)}
