"""Random scenarios of the callbacks of a message manager."""

from __future__ import annotations

from . import payloads, scripts
from .choices import Choices
from .handlers import FORMS, RETURNING, Style, handlers

KINDS = ("instruction", "assistant_response", "system")
ERRORS = (*payloads.ORDINARY, "timeout", "stop_hook", "base_exception")


def sync(choices: Choices) -> dict:
    forms: tuple[str, ...] = ("sync", "sync", "sync", *RETURNING)
    if choices.chance(0.25):
        forms += ("async",)
    return _scenario(choices, forms, cancelled=0.0)


def asynchronous(choices: Choices) -> dict:
    return _scenario(choices, (*FORMS, "async"), cancelled=0.15)


def _scenario(choices: Choices, forms: tuple[str, ...], *, cancelled: float) -> dict:
    names = scripts.names(choices, 5)
    errors = (*ERRORS, "store_refused") if choices.chance(0.4) else ERRORS

    def does(choices: Choices, _: str) -> dict:
        kind = choices.one_of(["register", "unregister"])
        return {"op": kind, "handler": choices.one_of(names)}

    style = Style(forms=forms, errors=errors, cancels=0.08, one_at_a_time=True, does=does)
    written = handlers(choices, names, style)
    script: list[dict] = []
    for name in names:
        script += [{"op": "register", "handler": name}] * choices.one_of([1, 1, 1, 2])
    if choices.chance(0.1):
        # It takes itself out first, so that it ends.
        again = [{"do": {"op": "unregister", "handler": "again"}}, {"do": _add(choices)}]
        written["again"] = {"form": choices.one_of(forms), "steps": again}
        script.append({"op": "register", "handler": "again"})
    for _ in range(choices.number(1, 3)):
        if cancelled:
            script += scripts.emission(choices, _add(choices), cancelled)
        else:
            script.append(_add(choices))
        if choices.chance(0.25):
            script.append({"op": "unregister", "handler": choices.one_of(names)})
    return {"handlers": written, "script": script}


def _add(choices: Choices) -> dict:
    kind, text = choices.one_of(KINDS), f"t{choices.serial()}"
    op = {"op": "add_message", "text": text}
    return op if choices.chance(0.1) else op | {"kind": kind}
