"""One run of one scenario: its handlers, its operations, and what is recorded of them."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from . import errors, handlers, profiles, values
from .clock import Clock

#: More events than any scenario has that ends.
EVENTS_MAX = 5000
#: How often, and for how long each time, what an operation left behind is waited for.
LEFTOVER_WAITS, LEFTOVER_WAIT = 1000, 0.03


class NoScenario(Exception):  # noqa: N818
    """What was written is no scenario, and why."""


@dataclass
class Came:
    """What an operation came to: a value, or what it raised."""

    value: Any = None
    error: BaseException | None = None
    cancel_requested: bool = False

    def outcome(self) -> dict:
        if self.error is None:
            return {"returned": values.show(self.value)}
        from_outside = isinstance(self.error, asyncio.CancelledError)
        if self.cancel_requested and from_outside and not errors.is_made(self.error):
            return {"emitter_cancelled": True}
        return {"raised": errors.describe(self.error)}


class Operation:
    """An operation of the script, in a task of its own that its owner can cancel."""

    def __init__(self, run: Run, op: dict) -> None:
        loop = asyncio.get_running_loop()
        self._task = loop.create_task(run.attempt(run.profile.perform(op)))
        self._cancel_requested = False
        self._timer = None
        if (after := op.get("cancel_emitter_after_ms")) is not None:
            self._timer = loop.call_later(after / 1000, self.cancel)

    def cancel(self) -> None:
        if not self._task.done():
            self._cancel_requested = True
            self._task.cancel()

    async def outcome(self) -> dict:
        await asyncio.wait([self._task])
        if self._timer is not None:
            self._timer.cancel()
        came = self._task.result()
        came.cancel_requested = self._cancel_requested
        return came.outcome()


class Run:
    """What the handlers and the operations of one scenario share."""

    def __init__(self, scenario: dict, clock: Clock) -> None:
        self.scenario = scenario
        self.clock = clock
        self.written: dict[str, dict] = scenario.get("handlers", {})
        #: Names that a line of a log may be about.
        self.names = set(self.written)
        self.closed_sources: list[str] = []
        self.events: list[dict] = []
        self.refused: NoScenario | None = None
        self._recording = True
        self._handlers: dict[str, Callable] = {}
        self.profile = profiles.PROFILES[scenario["profile"]](self, scenario.get("setup", {}))

    def record(self, event: dict) -> None:
        if len(self.events) >= EVENTS_MAX:
            raise self.refuse("it does not end")
        if self._recording:
            self.events.append({"t": round(self.clock.now * 1000)} | event)

    def refuse(self, reason: str) -> NoScenario:
        """What is raised when the scenario is none. It is kept: a dispatcher may swallow it."""
        self.refused = self.refused or NoScenario(reason)
        return self.refused

    def handler(self, name: str) -> Callable:
        """The callable of a handler: the same every time, since registries compare by it."""
        if name not in self._handlers:
            self._handlers[name] = handlers.build(self, name, self.written[name])
        return self._handlers[name]

    @staticmethod
    async def attempt(awaitable: Awaitable) -> Came:
        try:
            return Came(value=await awaitable)
        except BaseException as error:
            return Came(error=error)

    def attempt_at_once(self, op: dict) -> Came:
        """Performs an operation without awaiting what it returns."""
        try:
            return Came(value=self.profile.begin(op))
        except BaseException as error:
            return Came(error=error)

    async def script(self) -> Any:
        """Runs the script, and returns the state at its end."""
        spawned: dict[str, Operation] = {}
        for index, op in enumerate(self.scenario["script"]):
            match op["op"]:
                case "sleep_ms":
                    await asyncio.sleep(op["ms"] / 1000)
                    continue
                case "spawn":
                    spawned[op["as"]] = Operation(self, op["do"])
                    await asyncio.sleep(0)
                    continue
                case "cancel":
                    spawned[op["task"]].cancel()
                    continue
                case "join":
                    # Forgotten with what it raised, which holds all that was called.
                    outcome = await spawned.pop(op["task"]).outcome()
                case _:
                    outcome = await Operation(self, op).outcome()
            self.record({"ev": "op", "i": index, "op": op["op"], "outcome": outcome})
        final = values.show(self.profile.final())
        self._recording = False
        return final

    async def end(self) -> None:
        """Waits, unrecorded, for what operations left behind."""
        for _ in range(LEFTOVER_WAITS):
            tasks = asyncio.all_tasks() - {asyncio.current_task()}
            if not tasks and all(call.ended for call in self.clock.calls):
                break
            await asyncio.sleep(LEFTOVER_WAIT)
        self.profile.close()
