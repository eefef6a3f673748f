"""Random scenarios of a session's observer."""

from __future__ import annotations

import json
from typing import Any

from . import payloads, scripts
from .choices import GRID, Choices
from .handlers import Style, handler, handlers, has_waits

TYPES = (
    *("alpha", "alpha", "beta", "gamma", "holder"),
    *("signal", "run_start", "integer", "string", "object", "list"),
)
#: What a handler emits. No handler that emits is told of it, or it would never end.
INNER = {"$signal": "run_end", "role": "inner"}
ROUTES = ("always", "always", "never", "raise:runtime_error", "mark:r", "async_never")
#: A handler that only handlers subscribe.
LATE = "late"
#: Longer than the window in which nothing is written to a locked store.
BEHIND_WINDOW = 31_200


def scenario(choices: Choices) -> dict:
    names = scripts.names(choices, 5)
    style = Style(
        errors=(*payloads.ORDINARY, *payloads.UNUSUAL),
        cancels=0.06,
        does=lambda choices, _: _done_by_handler(choices, names),
    )
    written = handlers(choices, names, style)
    # It subscribes nobody: an emission is heard by whom it finds subscribed, also while it runs.
    written[LATE] = handler(choices, LATE, Style(cancels=0.0))
    script: list[dict] = []
    for name in names:
        if _emits(written[name]):
            script.append({"op": "observe", "handler": name, "keys": [{"type": "alpha"}]})
            continue
        script.append(_observe(choices, name))
        if choices.chance(0.15) and not has_waits(written[name]):
            script.append(_observe(choices, name))
    if choices.chance(0.15):
        written["inner"] = handler(choices, "inner", Style(cancels=0.0))
        keys = [{"type": "run_end"}]
        script.append({"op": "observe", "handler": "inner", "keys": keys})
    for stream in choices.some(["s", "t"], 2) if choices.chance(0.3) else []:
        script.append({"op": "route", "when": choices.one_of(ROUTES), "into": stream})
    stored = choices.chance(0.25)
    if stored:
        script.append(_bind(choices))
    if choices.chance(0.08 if stored else 0.3):
        written["gate"] = _gate(choices)
        script.append({"op": "gate", "handler": "gate"})
    for _ in range(choices.number(1, 4)):
        emit = {"op": "emit", "payload": payloads.emitted(choices)}
        if choices.chance(0.08):
            script += scripts.together(emit, {"op": "emit", "payload": payloads.emitted(choices)})
        else:
            script += scripts.emission(choices, emit)
        if choices.chance(0.5):
            script.append(_between(choices, names, stored=stored))
    return {"handlers": written, "script": script}


def _emits(written: dict) -> bool:
    """Whether a handler emits, at whatever depth of its steps."""
    return json.dumps(INNER) in json.dumps(written)


def _observe(choices: Choices, name: str) -> dict:
    op: dict[str, Any] = {"op": "observe", "handler": name}
    keys = [_key(choices) for _ in range(choices.one_of([1, 1, 1, 2, 3]))]
    if choices.chance(0.2):
        op["role"] = choices.one_of(["worker", "boss"])
        keys = [] if choices.chance(0.5) else keys
    return op | {"keys": keys}


def _key(choices: Choices) -> dict:
    roll = choices.number(1, 20)
    if roll <= 9:
        return {"type": choices.one_of(TYPES)}
    if roll <= 14:
        kinds = ["always", "always", "never", "raise:value_error", "mark:p", "async_never"]
        return {"predicate": choices.one_of(kinds)}
    if roll <= 18:
        name = choices.one_of(["value", "value", "item.value", "k", "first", "nothing"])
        compared = choices.one_of([0, 1, 2, "2", None, True])
        return {"field": [name, choices.one_of(["eq", "ne", "gt", "lt"]), compared]}
    if roll == 19:
        return {"failing_filter": choices.one_of(["value_error", "runtime_error"])}
    return {"repeat_filter": choices.number(0, 3)}


def _gate(choices: Choices) -> dict:
    style = Style(errors=(*payloads.ORDINARY, "stop_hook"), cancels=0.03)
    written = handler(choices, "gate", style)
    if choices.chance(0.5):
        written["steps"].append({"return": choices.one_of([True, False, 1, "", "yes", None])})
    return written


def _bind(choices: Choices) -> dict:
    results = [
        choices.one_of(["ok", "ok", "failed", "locked", "refused"])
        for _ in range(choices.number(0, 4))
    ]
    op: dict[str, Any] = {"op": "bind_store", "results": results}
    if choices.chance(0.5):
        # Off the grid: no handler's wait ends with a write.
        op["write_ms"] = choices.one_of([8, 22, 53])
    return op | ({"report": True} if choices.chance(0.5) else {})


def _done_by_handler(choices: Choices, names: list[str]) -> dict:
    name = choices.one_of(names)
    return choices.one_of(
        [
            {"op": "observe", "handler": LATE, "keys": [{"type": "gamma"}]},
            {"op": "unobserve", "handler": name},
            {"op": "emit", "payload": INNER},
            {"op": "stream", "name": "s"},
            {"op": "by_type", "type": "alpha"},
            {"op": "persist_counters"},
            {"op": "clear_gate"},
        ]
    )


def _between(choices: Choices, names: list[str], *, stored: bool) -> dict:
    ops = [
        {"op": "unobserve", "handler": choices.one_of(names)},
        {"op": "by_type", "type": choices.one_of(TYPES)},
        {"op": "authorize", "payload": choices.one_of([{"tool": "t"}, "act", None])},
        {"op": "clear_gate"},
        {"op": "stream", "name": choices.one_of(["s", "t"])},
    ]
    if stored:
        ops += [
            {"op": "persist_counters"},
            {"op": "persist_counters"},
            {"op": "unbind_store"},
            _bind(choices),
            {"op": "sleep_ms", "ms": choices.one_of([GRID, BEHIND_WINDOW])},
        ]
    return choices.one_of(ops)
