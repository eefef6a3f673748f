"""Random scenarios of the loader of hooks."""

from __future__ import annotations

from typing import Any

from . import payloads, scripts
from .choices import Choices
from .handlers import Style, handlers

#: Names under which handlers of the scenario are registered.
OWN = ("a", "b")
BUILTIN = ("persist_message", "log_tool_call", "persist_session_start", "persist_branch_end")
POINTS = ("tool.post", "session.start", "branch.end", "api.post_call", "artifact.created", "tool.pre")
#: Points that are emitted. Nothing of the old package itself runs there.
EMITTED = ("api.pre_call", "tool.pre")


def scenario(choices: Choices) -> dict:
    names = scripts.names(choices, 3)
    style = Style(
        errors=(*payloads.ORDINARY, "stop_hook", "store_refused"),
        stops=0.05,
        one_at_a_time=True,
        positional=False,
    )
    written = handlers(choices, names, style)

    def register(name: str) -> dict:
        return {"op": "register_handler", "name": name, "handler": choices.one_of(names)}

    script: list[dict] = [register(name) for name in OWN if choices.chance(0.8)]
    if choices.chance(0.2):
        script.append(register(choices.one_of(BUILTIN)))
    for _ in range(choices.number(0, 4)):
        script.append(_looks(choices, names))
    script += [register(name) for name in OWN]
    hooks = {point: [choices.one_of(OWN) for _ in range(choices.number(0, 3))] for point in EMITTED}
    script.append({"op": "build_session_bus", "hooks": hooks, "observer": choices.chance(0.8)})
    if choices.chance(0.4):
        point = choices.one_of(EMITTED)
        script.append({"op": "register", "handler": choices.one_of(names), "point": point})
    for _ in range(choices.number(1, 2)):
        op: dict[str, Any] = {"op": "emit", "point": choices.one_of(EMITTED)}
        script += scripts.emission(choices, op | {"payload": {"n": choices.serial()}})
    return {"handlers": written, "script": script}


def _looks(choices: Choices, names: list[str]) -> dict:
    kind = choices.one_of(
        ["resolve_handler", "load_hooks_for_agent", "build_session_bus", "defaults", "tag"]
    )
    match kind:
        case "resolve_handler":
            return {"op": kind, "name": choices.one_of([*OWN, *BUILTIN, "nope"])}
        case "defaults":
            return {"op": kind}
        case "tag":
            point = choices.one_of([*POINTS, "tool.nope"])
            return {"op": kind, "handler": choices.one_of(names), "point": point}
        case _:
            op: dict[str, Any] = {"op": kind}
            return op | ({"hooks": _hooks(choices)} if choices.chance(0.9) else {})


def _hooks(choices: Choices) -> dict:
    """The hooks section of an agent, sometimes a wrong one."""
    hooks: dict[str, Any] = {}
    for point in choices.some(POINTS, 3):
        known = [*OWN, *BUILTIN] + (["nope"] if choices.chance(0.1) else [])
        hooks[point] = [choices.one_of(known) for _ in range(choices.number(0, 3))]
        if choices.chance(0.04):
            hooks[point] = choices.one_of(["a", None, {"a": 1}])
    if choices.chance(0.08):
        hooks["tool.nope"] = ["a"]
    return hooks
