"""Random handlers: a form, waits and marks, and an end."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from . import payloads
from .choices import GRID, Choices

RETURNING = ("sync_returning_coroutine", "sync_returning_awaitable")
FORMS = ("sync", "async", *RETURNING)


@dataclass
class Style:
    """How the handlers of a profile are."""

    forms: tuple[str, ...] = FORMS
    #: Kinds of errors that end a handler.
    errors: tuple[str, ...] = payloads.ORDINARY
    groups: float = 0.05
    fails: float = 0.25
    cancels: float = 0.05
    stops: float = 0.0
    #: Whether a call that is sync may wait: where it has a thread of its own.
    sync_waits: bool = False
    #: Whether handlers run one after the other, so that several may show that they are cancelled.
    one_at_a_time: bool = False
    #: Whether the first argument has a position.
    positional: bool = True
    #: An operation that a handler may perform.
    does: Callable[[Choices, str], dict | None] = lambda _choices, _name: None
    does_often: float = 0.2
    reacted: bool = field(default=False, init=False)


def handlers(choices: Choices, names: list[str], style: Style) -> dict[str, dict]:
    return {name: handler(choices, name, style) for name in names}


def handler(choices: Choices, name: str, style: Style) -> dict:
    form = choices.one_of(style.forms)
    in_call = form == "sync"
    written: dict[str, Any] = {"form": form}
    if form in RETURNING and choices.chance(0.3):
        written["call_steps"] = _middle(choices, name, style, waits=style.sync_waits)
        if choices.chance(0.15):
            written["call_steps"] += [{"raise": _error(choices, style)}]
    after = waited(written.get("call_steps", []))
    steps = _middle(choices, name, style, waits=style.sync_waits or not in_call, after=after)
    if not in_call and steps and choices.chance(0.2) and (style.one_at_a_time or not style.reacted):
        style.reacted = True
        steps = [_tried(choices, steps, style)]
    written["steps"] = steps + _end(choices, style)
    return written


def _middle(
    choices: Choices, name: str, style: Style, *, waits: bool, after: int = 0
) -> list[dict]:
    steps: list[dict] = []
    for wait in choices.waits(after=after) if waits else []:
        steps.append({"sleep_ms": wait})
        if choices.chance(0.4):
            steps.append({"mark": f"m{choices.serial()}"})
    if not steps and choices.chance(0.2):
        steps.append({"mark": f"m{choices.serial()}"})
    if choices.chance(style.does_often) and (op := style.does(choices, name)):
        step: dict[str, Any] = {"do": op}
        if choices.chance(0.3):
            step["propagate"] = True
        # What an emission within an emission does, and what the siblings of its handler do at the
        # same instant, is in no order: it begins where nothing else happens.
        alone = waits and op["op"] == "emit" and not style.one_at_a_time
        if not alone:
            steps.insert(choices.number(0, len(steps)), step)
        elif steps and "sleep_ms" in steps[0]:
            steps.insert(choices.number(1, len(steps)), step)
    return steps


def _tried(choices: Choices, steps: list[dict], style: Style) -> dict:
    """Steps whose cancellation is answered; a wait comes first, so that siblings have ended."""
    answer: list[dict] = [{"sleep_ms": GRID}] if not style.one_at_a_time else []
    if choices.chance(0.3):
        answer.append({"sleep_ms": GRID})
    answer.append({"mark": f"m{choices.serial()}"})
    if choices.chance(0.2):
        answer += _end(choices, style)
    tried: dict[str, Any] = {"try": steps, "on_cancel": answer}
    return tried | ({"reraise": False} if choices.chance(0.4) else {})


def _end(choices: Choices, style: Style) -> list[dict]:
    roll = choices.number(1, 100) / 100
    for step, probability in (
        ({"cancel": True}, style.cancels),
        ({"stop": True}, style.stops),
        ({"raise": _error(choices, style)}, style.fails),
        ({"return_error": payloads.error(choices, payloads.ORDINARY)}, 0.04),
        ({"return_argument": 0}, 0.04 if style.positional else 0.0),
        ({"return": payloads.value(choices)}, 0.35),
    ):
        if roll <= probability:
            return [step]
        roll -= probability
    return []


def _error(choices: Choices, style: Style) -> dict:
    return payloads.error(choices, style.errors, style.groups)


def waited(steps: list[dict]) -> int:
    """How long these steps wait, in milliseconds."""
    return sum(step.get("sleep_ms", 0) for step in steps)


def has_waits(written: dict) -> bool:
    """Whether a handler waits, so that two calls of it at once would end at the same instant."""
    return any("sleep_ms" in step or "try" in step for step in written["steps"])
