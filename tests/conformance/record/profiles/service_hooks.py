"""``service_hook_registry``: hooks of a service's events."""

from __future__ import annotations

import asyncio
import contextlib
import inspect
from typing import TYPE_CHECKING, Any

from lionagi.protocols.generic.event import EventStatus
from lionagi.service.hooks import HookEvent, HookEventTypes, HookRegistry, hooked_event
from pydantic import PrivateAttr

from .. import values
from ..profile import Profile
from .hook_bus import warned

if TYPE_CHECKING:
    from ..run import Run

PHASES = {
    "pre_event_create": HookEventTypes.PreEventCreate,
    "pre_invocation": HookEventTypes.PreInvocation,
    "post_invocation": HookEventTypes.PostInvocation,
}
DECORATORS = {
    "pre_event_create": "pre_event_create_hook",
    "pre_invocation": "pre_invoke",
    "post_invocation": "post_invoke",
}
#: The time limit, in milliseconds, of a hook that is given none: longer than any scenario.
NO_LIMIT = 30_000


class Core(hooked_event.HookedEvent):
    """An event whose work is done by a handler of the scenario."""

    _work: Any = PrivateAttr(None)

    async def _core_invoke(self) -> Any:
        done = self._work()
        return await done if inspect.isawaitable(done) else done

    async def _core_stream(self) -> Any:
        async with contextlib.aclosing(self._work()) as source:
            async for chunk in source:
                yield chunk


class Canned(HookRegistry):
    """A registry that always gives the same answer."""

    def __init__(self, canned: dict) -> None:
        super().__init__()
        status = canned["status"]
        if status in EventStatus.allowed() and not canned.get("status_as_text"):
            status = EventStatus(status)
        self._answer = (values.make(canned["result"]), canned["should_exit"], status)

    async def call(self, _: Any, /, **kwargs: Any) -> Any:
        return self._answer, {}


def chunk_type(written: str) -> Any:
    """The key of a stream handler: a type when it begins with a dollar, else a name."""
    return values.STRUCTURED[written[1:]] if written.startswith("$") else written


def limit(op: dict) -> float:
    return op.get("timeout_ms", NO_LIMIT) / 1000


class ServiceHooksProfile(Profile):
    def __init__(self, run: Run, setup: dict) -> None:
        super().__init__(run, setup)
        hooks = {phase: run.handler(name) for phase, name in setup.get("hooks", {}).items()}
        streams = setup.get("stream_handlers", {}).items()
        streams = {chunk_type(key): run.handler(name) for key, name in streams}
        if "canned" in setup:
            self.registry: HookRegistry = Canned(setup["canned"])
        else:
            self.registry = HookRegistry(hooks or None, streams or None)
        self.logged = hooked_event.global_hook_logger.logs
        self.logged.clear()
        self.core: Core | None = None
        self.hook: HookEvent | None = None

    def close(self) -> None:
        self.logged.clear()

    def arguments(self, args: tuple, kwargs: dict) -> Any:
        match args:
            case []:
                return {}
            case [_, kind, chunk]:
                return {"chunk_type": kind, "chunk": chunk, "params": kwargs}
            case [type(), *_]:
                return {"subject": "event_type", "params": kwargs}
        shown = {"params": kwargs, "subject": "event", "status": args[0].status}
        state = getattr(args[0], "stream_terminal_state", None)
        return shown if state is None else shown | {"stream_state": state.value}

    def op_register_hook(self, op: dict) -> Any:
        return warned(lambda: getattr(self.registry, DECORATORS[op["phase"]])(self.handler(op)))

    def op_new_registry(self, op: dict) -> Any:
        hooks = op["hooks"].items()
        hooks = {k: self.run.handler(v) if v in self.run.written else v for k, v in hooks}
        return {"phases": sorted(phase.value for phase in HookRegistry(hooks)._hooks)}

    def op_can_handle(self, op: dict) -> Any:
        if "hook_type" in op:
            return self.registry._can_handle(ht_=PHASES[op["hook_type"]])
        return self.registry._can_handle(ct_=chunk_type(op["chunk_type"]))

    async def op_call(self, op: dict) -> Any:
        named = op.get("hook_type")
        options: dict[str, Any] = {"hook_type": PHASES[named] if named else None}
        options |= {"should_exit": op.get("exit", False)} | op.get("params", {})
        if "exit_alias" in op:
            options["exit"] = op["exit_alias"]
        if "chunk_type" in op:
            options["chunk_type"] = chunk_type(op["chunk_type"])
            options["chunk"] = values.make(op.get("chunk"))
        subject = Core if named == "pre_event_create" else Core()
        answer = await self.registry.call(subject, **options)
        (result, should_exit, status), meta = answer if named else (answer, None)
        came = {"result": result, "should_exit": should_exit, "status": status}
        return came if meta is None else came | {"meta": sorted(meta)}

    async def op_hook_event(self, op: dict) -> Any:
        created = op["hook_type"] == "pre_event_create"
        self.hook = HookEvent(
            hook_type=PHASES[op["hook_type"]],
            event_like=Core if created else Core(),
            registry=self.registry,
            exit=op.get("exit"),
            timeout=limit(op),
            params=op.get("params", {}),
        )
        await self.hook.invoke()
        return describe_hook(self.hook)

    def _begin_core(self, op: dict) -> Core:
        self.core = core = Core()
        core._work = self.run.handler(op["core"])
        for when in ("pre", "post"):
            if (hook := op.get(when)) is not None:
                getattr(core, f"create_{when}_invoke_hook")(
                    self.registry,
                    exit_hook=hook.get("exit"),
                    hook_timeout=limit(hook),
                    hook_params=hook.get("params"),
                )
        return core

    async def op_invoke(self, op: dict) -> Any:
        core = self._begin_core(op)
        await (core._invoke() if op.get("raw") else core.invoke())

    async def op_stream(self, op: dict) -> Any:
        core = self._begin_core(op)
        source = core._stream() if op.get("raw") else core.stream()
        count = 0
        async with contextlib.aclosing(source):
            async for chunk in source:
                self.run.record({"ev": "chunk", "value": values.show(chunk)})
                count += 1
                if count == op.get("stop_after"):
                    break
                if pause := op.get("consumer_sleep_ms"):
                    await asyncio.sleep(pause / 1000)
        return {"chunks": count}

    def final(self) -> Any:
        if self.core is None:
            return {} if self.hook is None else {"hook": describe_hook(self.hook)}
        core, execution = self.core, self.core.execution
        shown = {
            "event": {
                "status": core.status,
                "response": execution.response,
                "error": execution.error,
            },
            "pre": describe_hook(core._pre_invoke_hook_event),
            "post": describe_hook(core._post_invoke_hook_event),
            "logged": [log.content["hook_type"] for log in self.logged],
        }
        if core.stream_terminal_state is not None:
            shown["stream_state"] = core.stream_terminal_state.value
        if self.run.closed_sources:
            shown["closed"] = self.run.closed_sources
        return shown


def describe_hook(hook: HookEvent | None) -> dict | None:
    if hook is None:
        return None
    execution, cause = hook.execution, hook._exit_cause
    error = execution.error
    if cause is not None and isinstance(error, str) and error == str(cause):
        error = {"text_of_exit_cause": True}
    return {
        "status": execution.status,
        "response": execution.response,
        "error": error,
        "should_exit": hook._should_exit,
        "exit_cause": cause,
    }
