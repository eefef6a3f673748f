"""``tool_hooks``: hooks before and after the call of a tool."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from lionagi.protocols.action.function_calling import FunctionCalling
from lionagi.protocols.action.manager import ActionManager
from lionagi.protocols.action.tool import Tool
from lionagi.protocols.action.tool_hooks import ToolPostDecision, ToolPreDecision
from pydantic import create_model

from ..handlers import Ended
from ..profile import Profile

if TYPE_CHECKING:
    from ..run import Run

FIELD_TYPES: dict[str, type] = {"integer": int, "string": str, "boolean": bool}


class Manager(ActionManager):
    """The old manager, which keeps the calls that it makes."""

    def __init__(self, calls: list[FunctionCalling]) -> None:
        super().__init__()
        self._calls = calls

    def match_tool(self, *args: Any, **kwargs: Any) -> FunctionCalling:
        call = super().match_tool(*args, **kwargs)
        self._calls.append(call)
        return call

    def _warn_if_plugin_tool_shadowed(self, *_: Any) -> None:
        """Reads files of the user, and is no dispatch."""


class ToolHooksProfile(Profile):
    def __init__(self, run: Run, setup: dict) -> None:
        super().__init__(run, setup)
        written = setup["tool"]
        fields: dict[str, Any] = {"func_callable": self._function(written)}
        for processor in ("preprocessor", "postprocessor"):
            if processor in written:
                fields[processor] = run.handler(written[processor])
        if "request_options" in written:
            fields["request_options"] = options_model(written["request_options"])
        self.calls: list[FunctionCalling] = []
        self.tool = Tool(**fields)
        self.manager = Manager(self.calls)
        self.manager.register_tool(self.tool)

    def _function(self, written: dict) -> Callable:
        """The tool's function. The old package asks for no argument that is called ``kwargs``, and
        makes a schema of annotations, so that there are none.
        """
        handler = self.run.handler(written["handler"])

        async def asynchronous(**kwargs):  # noqa: ANN003, ANN202
            return await handler(**kwargs)

        def sync(**kwargs):  # noqa: ANN003, ANN202
            return handler(**kwargs)

        form = self.run.written[written["handler"]].get("form")
        function = asynchronous if form == "async" else sync
        function.__name__ = written.get("name", "tool")
        function.__doc__ = "A tool."
        return function

    def arguments(self, args: tuple, kwargs: dict) -> Any:
        return [*args, *([kwargs] if kwargs or not args else [])]

    def special_step(self, step: dict, args: tuple, kwargs: dict) -> Ended | None:
        match step:
            case {"replace": arguments}:
                return Ended(dict(arguments))
            case {"decide": decision}:
                return Ended(ToolPreDecision(**decision))
            case {"note": note}:
                return Ended(ToolPostDecision(note))
            case {"mutate": changed}:
                next(one for one in args if isinstance(one, dict)).update(changed)
                return None
        return super().special_step(step, args, kwargs)

    def op_register_pre(self, op: dict) -> Any:
        self.manager.add_tool_pre_hook(self.handler(op))

    def op_register_post(self, op: dict) -> Any:
        self.manager.add_tool_post_hook(self.handler(op))

    async def op_invoke(self, op: dict) -> Any:
        name = op.get("tool", self.tool.function)
        request = {"function": name, "arguments": dict(op["arguments"])}
        return describe(await self.manager.invoke(request))

    async def op_direct_invoke(self, op: dict) -> Any:
        call = FunctionCalling(func_tool=self.tool, arguments=dict(op["arguments"]))
        self.calls.append(call)
        await call.invoke()
        return describe(call)

    def final(self) -> Any:
        return {"calls": [describe(call) for call in self.calls]}


def options_model(fields: dict) -> type:
    """The model that the old package checks a tool's arguments with."""

    def field(written: dict) -> tuple:
        default = ... if written.get("required", True) else written.get("default")
        return FIELD_TYPES[written["type"]], default

    return create_model("RequestOptions", **{name: field(written) for name, written in fields.items()})


def describe(call: FunctionCalling) -> dict:
    return {
        "status": call.status,
        "response": call.response,
        "error": call.execution.error,
        "arguments": call.arguments,
        "notes": call.metadata.get("tool_post_hook_notes", []),
    }
