"""Random scenarios of a broadcaster."""

from __future__ import annotations

from . import payloads, scripts
from .choices import Choices
from .handlers import Style, handlers


def scenario(choices: Choices) -> dict:
    names = scripts.names(choices, 5)
    #: Handlers that are methods of an object which can be dropped.
    bound = set(choices.some(names, 2)) if choices.chance(0.25) else set()

    def subject() -> dict:
        name = choices.one_of(names)
        return {"handler": name} | ({"bound": True} if name in bound else {})

    def does(choices: Choices, _: str) -> dict:
        kind = choices.one_of(["subscribe", "unsubscribe", "count", "broadcast"])
        match kind:
            case "count":
                return {"op": kind}
            case "broadcast":
                # Of another type, so that nobody hears of it and nothing goes round.
                return {"op": kind, "event": "other"}
            case _:
                return {"op": kind} | subject()

    style = Style(
        errors=(*payloads.ORDINARY, *payloads.UNUSUAL, "base_exception"),
        one_at_a_time=True,
        does=does,
    )
    written = handlers(choices, names, style)
    script: list[dict] = [{"op": "subscribe"} | subject() for _ in range(len(names) + 1)]
    live = [op["handler"] for op in script if op.get("bound")]
    for _ in range(choices.number(1, 3)):
        if choices.chance(0.08):
            script += scripts.together(_broadcast(choices), _broadcast(choices))
        else:
            script += scripts.emission(choices, _broadcast(choices))
        if choices.chance(0.25):
            script.append({"op": "unsubscribe"} | subject())
        if choices.chance(0.25):
            script.append({"op": choices.one_of(["count", "count", "singleton"])})
        if live and choices.chance(0.4):
            script.append({"op": "drop", "handler": live.pop()})
    return {"handlers": written, "script": script}


def _broadcast(choices: Choices) -> dict:
    events = ["expected"] * 5 + ["subtype", "other", "not_an_event"]
    op = {"op": "broadcast", "event": choices.one_of(events)}
    return op | ({"payload": payloads.value(choices)} if choices.chance(0.9) else {})
