"""Handlers whose steps are data, as callables of each form."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from . import errors, values

if TYPE_CHECKING:
    from .run import Run


@dataclass
class Ended:
    """A step ended the handler, with this value."""

    value: Any


class OnlyAwaitable:
    """Something that can be awaited and is no coroutine, task or future."""

    def __init__(self, begin: Callable[[], Awaitable]) -> None:
        self._begin = begin

    def __await__(self) -> Any:
        return self._begin().__await__()


@dataclass
class Invocation:
    """One call of a handler, with what it was called with."""

    run: Run
    name: str
    args: tuple
    kwargs: dict

    def event(self, kind: str, **fields: Any) -> None:
        event = {"ev": kind, "handler": self.name} | fields
        if self.run.clock.is_elsewhere():
            event["offloaded"] = True
        self.run.record(event)

    def begin(self) -> None:
        shown = self.run.profile.arguments(self.args, self.kwargs)
        self.event("invoke", args=values.show(shown))

    def finish(self, value: Any) -> Any:
        self.event("finish", outcome={"returned": values.show(value)})
        return value

    def fail(self, error: BaseException) -> None:
        from_outside = isinstance(error, asyncio.CancelledError) and not errors.is_made(error)
        self.event(
            "finish",
            outcome={"cancelled": True} if from_outside else {"raised": errors.describe(error)},
        )

    def run_sync(self, steps: list[dict]) -> Ended | None:
        """Runs steps in the call itself; a failure of them is the handler's end."""
        try:
            for step in steps:
                if ended := self._step(step):
                    return ended
        except BaseException as error:
            self.fail(error)
            raise
        return None

    async def run_async(self, steps: list[dict]) -> Any:
        try:
            ended = await self.steps(steps)
        except BaseException as error:
            self.fail(error)
            raise
        return self.finish(ended.value if ended else None)

    async def steps(self, steps: list[dict]) -> Ended | None:
        for step in steps:
            if ended := await self.step(step):
                return ended
        return None

    async def step(self, step: dict) -> Ended | None:
        match step:
            case {"sleep_ms": time}:
                await asyncio.sleep(time / 1000)
            case {"try": tried}:
                try:
                    return await self.steps(tried)
                except asyncio.CancelledError:
                    ended = await self.steps(step.get("on_cancel", []))
                    if ended is None and step.get("reraise", True):
                        raise
                    return ended
            case {"do": op}:
                came = await self.run.attempt(self.run.profile.perform(op))
                self.run.record(
                    {"ev": "op", "op": op["op"], "by": self.name, "outcome": came.outcome()}
                )
                if came.error is not None and step.get("propagate", False):
                    raise came.error
            case _:
                return self._step(step)
        return None

    def _step(self, step: dict) -> Ended | None:
        match step:
            case {"sleep_ms": time} if self.run.clock.is_elsewhere():
                self.run.clock.sleep(time / 1000)
            case {"sleep_ms": _} | {"try": _}:
                raise self.run.refuse(f"{self.name} waits where nothing can: {step}")
            case {"mark": mark}:
                self.event("mark", mark=mark)
            case {"return": value}:
                return Ended(values.make(value))
            case {"return_argument": index}:
                return Ended(self.args[index])
            case {"return_error": error}:
                return Ended(errors.make(error, self.name))
            case {"raise": error}:
                raise errors.make(error, self.name)
            case {"cancel": True}:
                raise errors.make({"kind": "cancelled"}, self.name)
            case {"stop": True}:
                raise errors.make({"kind": "stop_hook"}, self.name)
            case {"do": op}:
                came = self.run.attempt_at_once(op)
                self.run.record(
                    {"ev": "op", "op": op["op"], "by": self.name, "outcome": came.outcome()}
                )
            case _:
                return self.run.profile.special_step(step, self.args, self.kwargs)
        return None


def build(run: Run, name: str, written: dict) -> Callable:
    """The callable of a handler."""
    form, steps = written.get("form", "sync"), written.get("steps", [])

    def invoked(args: tuple, kwargs: dict) -> Invocation:
        invocation = Invocation(run, name, args, kwargs)
        invocation.begin()
        return invocation

    def sync(*args: Any, **kwargs: Any) -> Any:
        call = invoked(args, kwargs)
        ended = call.run_sync(steps)
        return call.finish(ended.value if ended else None)

    async def asynchronous(*args: Any, **kwargs: Any) -> Any:
        return await invoked(args, kwargs).run_async(steps)

    def returning(*args: Any, **kwargs: Any) -> Any:
        call = invoked(args, kwargs)
        call.run_sync(written.get("call_steps", []))

        async def later() -> Any:
            call.event("await")
            return await call.run_async(steps)

        return later() if form == "sync_returning_coroutine" else OnlyAwaitable(later)

    async def stream(*args: Any, **kwargs: Any) -> Any:
        call = invoked(args, kwargs)
        try:
            for step in steps:
                if "yield" in step:
                    yield values.make(step["yield"])
                elif await call.step(step):
                    break
        except GeneratorExit:
            # When a source is closed is up to the collector of garbage, so that it is no event.
            run.closed_sources.append(name)
            raise
        except BaseException as error:
            call.fail(error)
            raise
        call.finish(None)

    forms: dict[str, Callable] = {
        "sync": sync,
        "async": asynchronous,
        "sync_returning_coroutine": returning,
        "sync_returning_awaitable": returning,
        "async_stream": stream,
    }
    callable_ = forms[form]
    callable_.__name__ = callable_.__qualname__ = name
    callable_.handler_name = name  # type: ignore[attr-defined]
    return callable_
