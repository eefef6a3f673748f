"""Values: made as a scenario writes them, and shown as a trace has them.

Nothing that differs from one run to the next, such as an id or a time, is shown.
"""

from __future__ import annotations

import inspect
import re
from functools import singledispatch
from typing import Any

from lionagi.hooks.bus import HookPoint, HookSignal
from lionagi.ln.types import Undefined
from lionagi.protocols.action.tool_hooks import ToolPostDecision, ToolPreDecision
from lionagi.protocols.generic.event import EventStatus
from lionagi.protocols.messages.message import Message
from lionagi.service.hooks import HookEventTypes
from lionagi.session import signal as signals
from lionagi.studio.scheduler import signals as schedule_signals
from pydantic import BaseModel

from . import errors


class Alpha(BaseModel):
    value: Any = None


class Beta(Alpha):
    pass


class Gamma(BaseModel):
    value: Any = None


class Holder(BaseModel):
    item: Any = None
    other: Any = None


# Recorded texts that name a type name this module.
for _class in (Alpha, Beta, Gamma, Holder):
    _class.__module__ = "__main__"

STRUCTURED: dict[str, type] = {"alpha": Alpha, "beta": Beta, "gamma": Gamma, "holder": Holder}
SIGNALS: dict[str, type] = {
    "signal": signals.Signal,
    "run_start": signals.RunStart,
    "run_end": signals.RunEnd,
    "node_started": signals.NodeStarted,
    "gate_denied": signals.GateDenied,
    "hook_signal": HookSignal,
    "schedule_run_succeeded": schedule_signals.ScheduleRunSucceeded,
    "schedule_run_failed": schedule_signals.ScheduleRunFailed,
    "schedule_run_cancelled": schedule_signals.ScheduleRunCancelled,
}
PLAIN: dict[str, type] = {"string": str, "integer": int, "object": dict, "list": list}
#: Every type that a filter can name.
TYPES = STRUCTURED | SIGNALS | PLAIN
#: The neutral name of each type.
NAMES = {cls: name for name, cls in TYPES.items()}
#: The neutral name of each class of signals, by the name that the old package stores.
SIGNAL_NAMES = {cls.__name__: name for name, cls in SIGNALS.items()}
#: Fields of a signal that are shown when they hold something.
SHOWN_FIELDS = ("op_id", "name", "run_id", "schedule_id", "reason_code")


def make(written: Any) -> Any:
    """The value that a scenario writes."""
    match written:
        case list():
            return [make(item) for item in written]
        case {"$type": name, **fields}:
            return STRUCTURED[name](**make(fields))
        case {"$signal": name, **fields}:
            role = fields.pop("role", None)
            return SIGNALS[name](emitter_role=role, **make(fields))
        case {"$error": error}:
            return errors.make(error)
        case dict():
            return {name: make(value) for name, value in written.items()}
        case _:
            return written


def show(value: Any) -> Any:
    """A value as a trace has it."""
    if (name := getattr(value, "handler_name", None)) is not None:
        return {"$handler": name}
    if value is Undefined:
        return {"$undefined": True}
    if inspect.isawaitable(value):
        if inspect.iscoroutine(value):
            value.close()
        return {"$awaitable": True}
    return _show(value)


@singledispatch
def _show(value: Any) -> Any:
    return {"$opaque": type(value).__name__}


@_show.register(type(None))
@_show.register(bool)
@_show.register(int)
@_show.register(float)
def _plain(value: Any) -> Any:
    return value


@_show.register
def _text(value: str) -> str:
    return errors.neutral_text(value)


@_show.register(EventStatus)
@_show.register(HookEventTypes)
@_show.register(HookPoint)
def _member(value: Any) -> Any:
    return value.value


@_show.register
def _error(value: BaseException) -> dict:
    return {"$error": errors.describe(value)}


@_show.register(list)
@_show.register(tuple)
def _list(value: Any) -> list:
    return [show(item) for item in value]


@_show.register
def _object(value: dict) -> dict:
    return {str(name): show(item) for name, item in value.items()}


@_show.register
def _class(value: type) -> dict:
    return {"$class": NAMES.get(value, value.__name__)}


@_show.register(Alpha)
@_show.register(Gamma)
@_show.register(Holder)
def _structured(value: BaseModel) -> dict:
    fields = {name: show(item) for name, item in value.__dict__.items() if item is not None}
    return {"$type": NAMES[type(value)]} | fields


@_show.register
def _signal(value: signals.Signal) -> dict:
    shown = {"$signal": NAMES.get(type(value), "signal"), "data": show(value.data)}
    if value.emitter_role is not None:
        shown["role"] = value.emitter_role
    fields = {name: getattr(value, name, "") for name in SHOWN_FIELDS}
    return shown | {name: field for name, field in fields.items() if field}


@_show.register
def _hook_signal(value: HookSignal) -> dict:
    kwargs = {name: show(item) for name, item in value.kwargs.items()}
    if "exception" in kwargs:
        kwargs["exception"] = errors.describe_text(kwargs["exception"])
    point = getattr(value.point, "value", value.point)
    return {"$signal": "hook_signal", "point": str(point), "kwargs": kwargs}


@_show.register
def _message(value: Message) -> dict:
    kind = re.sub(r"\B([A-Z])", r"_\1", type(value).__name__).lower()
    for field in ("instruction", "assistant_response", "system_message", "function"):
        if text := getattr(value.content, field, None):
            return {"$message": kind, "text": show(text)}
    return {"$message": kind}


@_show.register
def _decision(value: ToolPreDecision) -> dict:
    return {
        "$decision": value.decision,
        "reason": value.reason,
        "updated_input": show(value.updated_input),
    }


@_show.register
def _note(value: ToolPostDecision) -> dict:
    return {"$note": value.reason}
