"""Random scenarios of the scheduler's signal bus."""

from __future__ import annotations

from typing import Any

from . import payloads, scripts
from .choices import Choices
from .handlers import Style, handler, handlers, has_waits

SIGNALS = ("schedule_run_succeeded", "schedule_run_failed", "schedule_run_cancelled")
STATUSES = ("completed", "failed", "timed_out", "cancelled", "running", "")
RUNS = ("r1", "r2", "")
PREDICATES = ("always", "always", "never", "raise:value_error", "async_never", "mark:p")
#: What a handler emits: no handler that emits is told of it.
INNER = {"$signal": "run_end", "role": "inner"}


def scenario(choices: Choices) -> dict:
    names = scripts.names(choices, 5)
    style = Style(
        errors=(*payloads.ORDINARY, *payloads.UNUSUAL, "base_exception"),
        cancels=0.08,
        does=lambda choices, _: _done_by_handler(choices, names),
    )
    written = handlers(choices, names, style)
    script: list[dict] = []
    for name in names:
        script.append(_observe(choices, name))
        if choices.chance(0.15) and not has_waits(written[name]):
            script.append(_observe(choices, name))
    if choices.chance(0.15):
        written["inner"] = handler(choices, "inner", Style())
        script.append({"op": "observe", "handler": "inner", "types": ["run_end"]})
    for _ in range(choices.number(1, 4)):
        if choices.chance(0.08):
            script += scripts.together(_emit(choices), _emit(choices))
        else:
            script += scripts.emission(choices, _emit(choices))
        if choices.chance(0.4):
            script.append(_between(choices, names))
    return {"handlers": written, "script": script}


def _observe(choices: Choices, name: str) -> dict:
    op: dict[str, Any] = {"op": "observe", "handler": name}
    # Without a type a handler would hear of what handlers emit, and emit again.
    kinds = choices.some(SIGNALS, 2) if choices.chance(0.9) else ["run_start"]
    op["types"] = kinds
    if choices.chance(0.4):
        op["predicates"] = [choices.one_of(PREDICATES) for _ in range(choices.number(1, 2))]
    return op


def _emit(choices: Choices) -> dict:
    if choices.chance(0.08):
        return {"op": "emit", "signal": payloads.signal(choices)}
    signal: dict[str, Any] = {"$signal": choices.one_of(SIGNALS), "run_id": choices.one_of(RUNS)}
    if choices.chance(0.2):
        signal |= {"schedule_id": "s1", "reason_code": "done"}
    if choices.chance(0.2):
        signal |= {"data": payloads.value(choices), "role": "worker"}
    return {"op": "emit", "signal": signal}


def _done_by_handler(choices: Choices, names: list[str]) -> dict:
    name = choices.one_of(names)
    return choices.one_of(
        [
            {"op": "observe", "handler": name, "types": [choices.one_of(SIGNALS)]},
            {"op": "unobserve", "handler": name},
            {"op": "pop_counters", "run_id": choices.one_of(RUNS)},
            {"op": "emit", "signal": INNER},
        ]
    )


def _between(choices: Choices, names: list[str]) -> dict:
    return choices.one_of(
        [
            {"op": "unobserve", "handler": choices.one_of(names)},
            {"op": "pop_counters", "run_id": choices.one_of(RUNS)},
            {
                "op": "build_signal",
                "entity_id": choices.one_of(RUNS),
                "new_status": choices.one_of(STATUSES),
                "reason_code": choices.one_of(["done", ""]),
            },
        ]
    )
