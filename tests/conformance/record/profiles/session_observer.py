"""``session_observer``."""

from __future__ import annotations

import asyncio
import sqlite3
import time
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from lionagi.ln.types import Filter
from lionagi.ln.types.filters import FieldRef
from lionagi.session import observer as module

from .. import errors, values
from ..profile import Profile

if TYPE_CHECKING:
    from ..run import Run


class SessionObserverProfile(Profile):
    def __init__(self, run: Run, setup: dict) -> None:
        super().__init__(run, setup)
        self.observer = module.SessionObserver()
        self.streams: list[str] = []
        # The window in which nothing is written is measured with this module's clock.
        module.time = SimpleNamespace(monotonic=lambda: run.clock.now, time=time.time)

    def close(self) -> None:
        module.time = time

    def arguments(self, args: tuple, kwargs: dict) -> Any:
        return args[0] if args else None

    def _condition(self, handler: str, key: dict) -> Any:
        match key:
            case {"type": name}:
                return values.TYPES[name]
            case {"predicate": written}:
                return self.predicate(handler, written)
            case {"failing_filter": kind}:
                return FailingFilter(handler, kind)
            case {"repeat_filter": count}:
                return RepeatFilter(count)
            case {"field": [name, comparison, value]}:
                return getattr(FieldRef(name), f"__{comparison}__")(value)
        raise ValueError(f"no such key: {key}")

    def op_observe(self, op: dict) -> Any:
        keys = [self._condition(op["handler"], key) for key in op.get("keys", [])]
        self.observer.observe(*keys, handler=self.handler(op), role=op.get("role"))

    def op_unobserve(self, op: dict) -> Any:
        return self.observer.unobserve(self.handler(op))

    def op_route(self, op: dict) -> Any:
        about = f"route:{op['into']}"
        self.run.names.add(about)
        self.observer.route(self.predicate(about, op["when"]), into=op["into"])
        self.streams.append(op["into"])

    def op_gate(self, op: dict) -> Any:
        self.observer.gate(self.handler(op) if op.get("handler") else None)

    def op_clear_gate(self, _: dict) -> Any:
        self.observer.clear_gate()

    def op_authorize(self, op: dict) -> Any:
        return self.observer.authorize(values.make(op["payload"]))

    def op_emit(self, op: dict) -> Any:
        return self.observer.emit(values.make(op["payload"]))

    def op_stream(self, op: dict) -> Any:
        return self.observer.stream(op["name"])

    def op_by_type(self, op: dict) -> Any:
        return self.observer.by_type(values.TYPES[op["type"]])

    def op_bind_store(self, op: dict) -> Any:
        def opened() -> None:
            self.run.record({"ev": "window_opened"})

        self.observer.bind_db_persistence(
            "scenario",
            db=Store(self.run, op.get("results", []), op.get("write_ms", 0)),
            on_window_opened=opened if op.get("report") else None,
        )

    def op_unbind_store(self, _: dict) -> Any:
        self.observer.unbind_db_persistence()

    def op_persist_counters(self, _: dict) -> Any:
        return {
            "dropped": self.observer.persist_dropped,
            "refusal": self.observer.persist_refusal,
        }

    def final(self) -> Any:
        return {
            "stored": list(self.observer.flow.items),
            "streams": {name: self.observer.stream(name) for name in self.streams},
            "subscriptions": len(self.observer._subs),
            "persist": self.op_persist_counters({}),
        }


class FailingFilter(Filter):
    def __init__(self, handler: str, kind: str) -> None:
        self._handler, self._kind = handler, kind

    def matches(self, payload: Any) -> list:
        raise errors.make({"kind": self._kind, "message": "filter"}, self._handler)


class RepeatFilter(Filter):
    def __init__(self, count: int) -> None:
        self._count = count

    def matches(self, payload: Any) -> list:
        return [payload] * self._count


class Store:
    """A store that answers each write as the scenario says, and then that all is well."""

    def __init__(self, run: Run, results: list[str], write_ms: int) -> None:
        self._run, self._results, self._write_ms = run, iter(results), write_ms

    async def insert_session_signal(self, *, kind: str, **_: Any) -> None:
        result = next(self._results, "ok")
        if self._write_ms:
            await asyncio.sleep(self._write_ms / 1000)
        signal = values.SIGNAL_NAMES.get(kind, "signal")
        self._run.record({"ev": "store_write", "signal": signal, "result": result})
        match result:
            case "failed":
                raise errors.make({"kind": "runtime_error", "message": "write failed"})
            case "locked":
                raise sqlite3.OperationalError("database is locked")
            case "refused":
                raise errors.make({"kind": "store_refused", "message": "signal"})
