"""Random scenarios of terminal callbacks."""

from __future__ import annotations

from typing import Any

from . import payloads, scripts
from .choices import GRID, INSTANTS, Choices
from .handlers import Style, handler, handlers

KINDS = ("session", "play", "invocation")
IDS = ("a", "b")
#: What a handler emits: no handler that emits is told of it.
INNER = "schedule_run"
#: Beside the grid, so that no handler ends with the time.
BUDGETS = (100, 200, 200, 400, 1000)
#: Until everything that an emission left behind has ended.
ALL_ENDED = INSTANTS * GRID + 180


def scenario(choices: Choices) -> dict:
    names = scripts.names(choices, 5)
    style = Style(
        errors=(*payloads.ORDINARY, *payloads.UNUSUAL, "base_exception"),
        cancels=0.0,
        sync_waits=True,
        does=lambda choices, _: _done_by_handler(choices, names),
    )
    written = handlers(choices, names, style)
    for one in written.values():
        # Whether a thread had begun when a callback cancels itself at once is left to chance.
        if one["form"] == "async" and choices.chance(0.06):
            one["steps"] = [{"sleep_ms": wait} for wait in choices.waits(1)] or [{"sleep_ms": 751}]
            one["steps"].append({"cancel": True})
    _one_looks(written)
    script: list[dict] = [_register(choices, name, names) for name in names]
    if choices.chance(0.15):
        written["inner"] = handler(choices, "inner", Style(cancels=0.0, sync_waits=True))
        script.append({"op": "register", "handler": "inner", "kinds": [INNER]})
    for _ in range(choices.number(1, 3)):
        if choices.chance(0.06):
            script += scripts.together(_emit(choices), _emit(choices))
        else:
            script += scripts.emission(choices, _emit(choices))
        script.append({"op": "sleep_ms", "ms": ALL_ENDED})
        if choices.chance(0.3):
            script.append(_between(choices, names))
    return {"setup": {"budget_ms": choices.one_of(BUDGETS)}, "handlers": written, "script": script}


def _one_looks(written: dict[str, dict]) -> None:
    """Leaves one of the handlers that run elsewhere to look at the registrations, or to change them.

    Two of them do so in the order in which their threads get there, which is left to chance.
    """
    elsewhere = [one for one in written.values() if one["form"].startswith("sync")]
    looking = [one for one in elsewhere if _looks(one)]
    for one in looking[1:]:
        for steps in ("steps", "call_steps"):
            if steps in one:
                one[steps] = [step for step in one[steps] if not _looks(step)]


def _looks(part: Any) -> bool:
    if isinstance(part, dict):
        if part.get("op") in {"register", "unregister", "contains", "clear"}:
            return True
        part = list(part.values())
    return isinstance(part, list) and any(_looks(one) for one in part)


def _register(choices: Choices, handler: str, names: list[str]) -> dict:
    op: dict[str, Any] = {"op": "register", "handler": handler}
    # Never of the kind that handlers emit: they would be told of it, and emit again.
    op["kinds"] = choices.some(KINDS, 3)
    if choices.chance(0.15):
        op["ids"] = choices.some(IDS, 2)
    if choices.chance(0.12):
        op["override"] = True
    if choices.chance(0.15):
        op["name"] = choices.one_of(names)
    return op


def _emit(choices: Choices) -> dict:
    op: dict[str, Any] = {"op": "emit"}
    if choices.chance(0.9):
        op |= {"kind": choices.one_of(KINDS[:2]), "id": choices.one_of(IDS)}
    if choices.chance(0.15):
        op |= {"status": "failed", "previous_status": "queued", "reason_code": "late"}
    return op


def _done_by_handler(choices: Choices, names: list[str]) -> dict:
    return choices.one_of(
        [
            _register(choices, choices.one_of(names), names),
            {"op": "unregister", "name": choices.one_of(names)},
            {"op": "contains", "name": choices.one_of(names)},
            {"op": "clear"},
            {"op": "emit", "kind": INNER},
        ]
    )


def _between(choices: Choices, names: list[str]) -> dict:
    return choices.one_of(
        [
            {"op": "unregister", "name": choices.one_of(names)},
            {"op": "contains", "name": choices.one_of(names)},
            {"op": "clear"},
            _register(choices, choices.one_of(names), names),
        ]
    )
