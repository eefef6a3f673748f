"""``terminal_callbacks``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lionagi.state.lifecycle.callbacks import (
    EntityRef,
    RunTerminalEnvelope,
    TerminalCallbackRegistry,
)

from ..profile import Profile

if TYPE_CHECKING:
    from ..run import Run


class TerminalCallbacksProfile(Profile):
    def __init__(self, run: Run, setup: dict) -> None:
        super().__init__(run, setup)
        budget = setup.get("budget_ms", 200) / 1000
        self.registry = TerminalCallbackRegistry(budget_seconds=budget)

    def arguments(self, args: tuple, kwargs: dict) -> Any:
        envelope = args[0].to_dict()
        shown = ("entity", "previous_status", "terminal_status", "reason_code")
        return {name: envelope[name] for name in shown}

    def op_register(self, op: dict) -> Any:
        name = op.get("name", op["handler"])
        self.run.names.add(name)
        self.registry.register(
            name,
            self.handler(op),
            kinds=op.get("kinds"),
            ids=op.get("ids"),
            override=op.get("override", False),
        )

    def op_unregister(self, op: dict) -> Any:
        self.registry.unregister(op["name"])

    def op_clear(self, _: dict) -> Any:
        self.registry.clear()

    def op_contains(self, op: dict) -> Any:
        return op["name"] in self.registry

    def op_emit(self, op: dict) -> Any:
        envelope = RunTerminalEnvelope(
            event_id="event",
            entity=EntityRef(op.get("kind", "session"), op.get("id", "s1")),
            previous_status=op.get("previous_status", "running"),
            terminal_status=op.get("status", "completed"),
            reason_code=op.get("reason_code", "done"),
            occurred_at=0.0,
        )
        return self.registry.emit(envelope)

    def final(self) -> Any:
        return {"registered": list(self.registry._registrations)}
