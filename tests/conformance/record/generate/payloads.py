"""Random values, errors and signals, as scenarios write them."""

from __future__ import annotations

from typing import Any

from .choices import Choices

PLAIN: list[Any] = [None, 0, 1, -2, "text", "", True, False, [], [1, 2], {}, {"k": 1}, 2.5]
ORDINARY = ("value_error", "runtime_error", "permission_denied", "key_error", "type_error")
#: Beside the usual ones; what a dispatcher makes of each is its own affair.
UNUSUAL = ("timeout", "os_error", "stop_hook", "store_refused")


def error(choices: Choices, kinds: tuple[str, ...], groups: float = 0.0, depth: int = 0) -> dict:
    """An error of one of the kinds, or a group of them."""
    message = f"e{choices.serial()}"
    if depth < 2 and choices.chance(groups):
        members = [
            error(choices, kinds, groups / 2, depth + 1) for _ in range(choices.number(1, 3))
        ]
        return {"kind": "group", "message": message, "members": members}
    return {"kind": choices.one_of(kinds), "message": message}


def structured(choices: Choices) -> dict:
    value = choices.one_of([0, 1, 2, 3, 1.5, "2", None, True])
    return {"$type": choices.one_of(["alpha", "beta", "gamma"]), "value": value}


def value(choices: Choices) -> Any:
    """What a handler returns, mostly something plain."""
    if choices.chance(0.75):
        return choices.one_of(PLAIN)
    return choices.one_of([structured(choices), {"k": structured(choices)}, [structured(choices)]])


def signal(choices: Choices) -> dict:
    """A signal of the observer's."""
    name = choices.one_of(["signal", "signal", "run_start", "node_started"])
    written: dict[str, Any] = {"$signal": name}
    if choices.chance(0.6):
        written["role"] = choices.one_of(["worker", "boss"])
    if name == "signal" or choices.chance(0.4):
        written["data"] = choices.one_of([structured(choices), choices.one_of(PLAIN)])
    if name == "node_started":
        written |= {"op_id": choices.one_of(["n1", "n2"]), "name": "node"}
    return written


def emitted(choices: Choices) -> Any:
    """What an observer is given: a signal, or anything else, which it puts into one."""
    roll = choices.number(1, 10)
    if roll <= 4:
        return structured(choices)
    if roll <= 6:
        return signal(choices)
    if roll <= 8:
        return choices.one_of(PLAIN)
    inner = structured(choices)
    return choices.one_of(
        [
            {"$type": "holder", "item": inner, "other": structured(choices)},
            {"$type": "holder", "item": inner},
            {"first": inner, "second": choices.number(0, 3)},
            [inner, 1],
        ]
    )
