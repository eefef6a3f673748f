"""Errors in neutral words: made as a scenario writes them, described as a trace has them."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator
from typing import Any

from lionagi.hooks.bus import StopHook
from lionagi.protocols.action.tool_hooks import ToolHookDeniedError
from lionagi.state.compat import StateCompatibilityRefused


class Fatal(BaseException):
    """Neither an ordinary error nor a cancellation."""


MADE: dict[str, type[BaseException]] = {
    "value_error": ValueError,
    "runtime_error": RuntimeError,
    "permission_denied": PermissionError,
    "key_error": KeyError,
    "type_error": TypeError,
    "timeout": TimeoutError,
    "os_error": OSError,
    "stop_hook": StopHook,
    "store_refused": StateCompatibilityRefused,
    "cancelled": asyncio.CancelledError,
    "base_exception": Fatal,
}
#: Classes that only dispatchers raise, by name: not all of them can be imported.
RAISED = {
    "ToolHookDeniedError": "tool_hook_denied",
    "RevalidationDeniedError": "revalidation_denied",
    "SchedulerHandlerCancelled": "scheduler_handler_cancelled",
    "ValidationError": "validation_error",
    "GeneratorExit": "stream_closed",
    "NotImplementedError": "not_implemented",
    "AttributeError": "attribute_error",
    "ItemNotFoundError": "not_found",
    "ItemExistsError": "already_exists",
}
KINDS = {error.__name__: kind for kind, error in MADE.items()} | RAISED
#: What the old package appends to the message of a refusal.
REFUSAL_TAIL = " refused in compatibility mode"
#: How the old package says why a tool hook denied.
DENIED_BECAUSE = {
    "hook error: ": "hook_error",
    "hook requested interactive approval": "ask",
    "unrecognized decision": "unrecognized",
    "hook returned unsupported type": "unsupported_type",
}


def make(written: dict, by: str | None = None) -> BaseException:
    """The error that a scenario writes, raised by the handler ``by``."""
    kind, message = written["kind"], written.get("message", "")
    match kind:
        case "group":
            members = [make(member, by) for member in written["members"]]
            error: BaseException = BaseExceptionGroup(message, members)
        case "store_refused":
            error = StateCompatibilityRefused(message, "scenario", "refused")
        case "cancelled":
            error = asyncio.CancelledError(*([message] if message else []))
        case _:
            error = MADE[kind](message)
    error.raised_by = by  # type: ignore[attr-defined]
    return error


def is_made(error: BaseException) -> bool:
    """Whether a scenario wrote the error, rather than a dispatcher."""
    return hasattr(error, "raised_by")


def raised_by(error: BaseException) -> str | None:
    """The handler that raised the error, or one of its members."""
    for one in _with_members(error):
        if name := getattr(one, "raised_by", None):
            return name
    return None


def message_of(error: BaseException) -> str:
    if isinstance(error, KeyError) and len(error.args) == 1:
        return str(error.args[0])
    text = str(error)
    return text.split(REFUSAL_TAIL)[0] if isinstance(error, StateCompatibilityRefused) else text


def describe(error: BaseException, within: tuple[BaseException, ...] = ()) -> dict:
    """``message`` is what the scenario wrote, ``text`` the wording of a dispatcher."""
    within = (*within, error)
    members = getattr(error, "exceptions", ())
    if isinstance(error, BaseExceptionGroup):
        words: dict[str, Any] = {
            "kind": "group",
            "members": [describe(member, within) for member in members],
        }
    else:
        words = {"kind": KINDS.get(type(error).__name__, f"other:{type(error).__name__}")}
        if isinstance(error, ToolHookDeniedError):
            words |= _denial(error)
        elif not isinstance(error, asyncio.CancelledError):
            if is_made(error):
                words["message"] = message_of(error)
            elif str(error):
                words["text"] = neutral_text(message_of(error))
    known = {id(one) for one in (*within, *members)}
    cause = error.__cause__
    if cause is not None and not any(id(one) in known for one in _with_members(cause)):
        words["cause"] = describe(cause, within)
    return words


def _denial(error: ToolHookDeniedError) -> dict:
    for begin, why in DENIED_BECAUSE.items():
        if error.reason.startswith(begin):
            text = error.reason.split(REFUSAL_TAIL)[0]
            return {"hook": error.hook_name, "why": why, "text": text}
    return {"hook": error.hook_name, "why": "deny", "reason": error.reason}


def describe_text(text: Any) -> Any:
    """A recorded ``Class: message`` in neutral words; anything else as it is."""
    found = re.fullmatch(r"(\w+): (.*)", text, re.DOTALL) if isinstance(text, str) else None
    if found is None or found[1] not in KINDS:
        return text
    message = found[2].split(REFUSAL_TAIL)[0]
    if found[1] == "KeyError":
        message = message.strip("'")
    return {"kind": KINDS[found[1]], "message": message}


def neutral_text(text: str) -> str:
    """Without what differs from one run to the next."""
    text = re.sub(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", "<uuid>", text)
    text = re.sub(r"0x[0-9a-f]+", "<addr>", text)
    text = re.sub(r"scope [0-9a-f]+(; reason: .*)?", "scope <addr>", text)
    return text.split("\n")[0] if "validation error" in text else text


def _with_members(error: BaseException) -> Iterator[BaseException]:
    yield error
    for member in getattr(error, "exceptions", ()):
        yield from _with_members(member)
