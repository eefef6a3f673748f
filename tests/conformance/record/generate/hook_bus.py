"""Random scenarios of the points of a hook bus."""

from __future__ import annotations

from typing import Any

from . import payloads, scripts
from .choices import Choices
from .handlers import Style, handler, handlers

BLOCKING = ("tool.pre", "prompt.submit")
OBSERVATIONAL = (
    "tool.post",
    "tool.error",
    "session.start",
    "session.end",
    "branch.create",
    "api.post_call",
    "message.add",
    "artifact.created",
)
#: A point at which nothing is registered that emits.
INNER = "branch.end"


def blocking(choices: Choices) -> dict:
    points = list(BLOCKING)
    if choices.chance(0.2):
        points.append(choices.one_of(OBSERVATIONAL))
    return _bus(choices, points)


def observational(choices: Choices) -> dict:
    return _bus(choices, choices.some(OBSERVATIONAL, 3))


def _bus(choices: Choices, points: list[str]) -> dict:
    names = scripts.names(choices, 5)

    def target() -> dict:
        return {"handler": choices.one_of(names), "point": choices.one_of(points)}

    def does(choices: Choices, _: str) -> dict:
        kind = choices.one_of(["register", "unregister", "handlers_for", "emit", "bind"])
        match kind:
            case "handlers_for":
                return {"op": kind, "point": choices.one_of(points)}
            case "emit":
                return {"op": kind, "point": INNER, "payload": {"inner": choices.serial()}}
            case "bind":
                return {"op": kind, "observer": choices.chance(0.5)}
            case _:
                return {"op": kind} | target()

    style = Style(
        errors=(*payloads.ORDINARY, *payloads.UNUSUAL, "base_exception"),
        stops=0.1,
        one_at_a_time=True,
        positional=False,
        does=does,
    )
    written = handlers(choices, names, style)
    script: list[dict] = []
    for name in names:
        for _ in range(choices.one_of([1, 1, 1, 2])):
            point = choices.one_of(points)
            script.append({"op": "register", "handler": name, "point": point})
    plain = Style(one_at_a_time=True, stops=0.05, errors=style.errors)
    if choices.chance(0.2):
        written["inner"] = handler(choices, "inner", Style(positional=False, one_at_a_time=True))
        script.append({"op": "register", "handler": "inner", "point": INNER})
    if choices.chance(0.15):
        written["watcher"] = handler(choices, "watcher", plain)
        script.append({"op": "observe_signals", "handler": "watcher"})
    if choices.chance(0.1):
        written["gate"] = handler(choices, "gate", plain)
        script.append({"op": "gate", "handler": "gate"})
    if "session.end" in points and choices.chance(0.6):
        results = [choices.one_of(["ok", "ok", "lost", "refused"]) for _ in range(2)]
        script.append({"op": "set_retry_queues", "results": results[: choices.number(0, 2)]})
        if choices.chance(0.3):
            script.append({"op": "flush_message_retries"})

    def emit() -> dict:
        kind = "blocking_emit" if choices.chance(0.1) else "emit"
        point = "tool.nope" if choices.chance(0.02) else choices.one_of(points)
        op: dict[str, Any] = {"op": kind, "point": point}
        return op | ({"payload": _payload(choices)} if choices.chance(0.9) else {})

    for _ in range(choices.number(1, 3)):
        if choices.chance(0.08):
            script += scripts.together(emit(), emit())
        else:
            script += scripts.emission(choices, emit(), 0.15)
        if choices.chance(0.2):
            script.append({"op": "unregister"} | target())
        if choices.chance(0.1):
            script.append({"op": "handlers_for", "point": choices.one_of(points)})
        if choices.chance(0.08):
            script.append({"op": "bind", "observer": choices.chance(0.5)})
    setup = {"setup": {"observer": False}} if choices.chance(0.08) else {}
    return setup | {"handlers": written, "script": script}


def _payload(choices: Choices) -> dict:
    payload: dict[str, Any] = {"n": choices.number(0, 9)}
    if choices.chance(0.2):
        payload["db"] = "handle"
    if choices.chance(0.1):
        payload[choices.one_of(["denied", "exception", "point", "kwargs"])] = payloads.value(choices)
    if choices.chance(0.2):
        payload["value"] = payloads.value(choices)
    return payload
