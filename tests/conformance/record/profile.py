"""What all profiles share: the old package's side of one dispatcher."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from . import errors
from .handlers import Ended
from .written import MissingField

if TYPE_CHECKING:
    from .run import Run


class Profile:
    """One dispatcher of the old package: a method ``op_…`` for each operation of a script."""

    def __init__(self, run: Run, setup: dict) -> None:
        self.run = run

    def begin(self, op: dict) -> Any:
        """What the operation returns, which may have to be awaited."""
        operation = getattr(self, f"op_{op['op']}", None)
        if operation is None:
            raise self.run.refuse(f"no such operation: {op}")
        try:
            return operation(op)
        except MissingField as missing:
            raise self.run.refuse(f"{op} lacks {missing}") from None

    async def perform(self, op: dict) -> Any:
        result = self.begin(op)
        return await result if inspect.isawaitable(result) else result

    def arguments(self, args: tuple, kwargs: dict) -> Any:
        """What a handler's call is shown with."""
        return args[0] if args else kwargs

    def special_step(self, step: dict, args: tuple, kwargs: dict) -> Ended | None:
        """A step that only this profile knows."""
        raise self.run.refuse(f"no such step: {step}")

    def final(self) -> Any:
        """The state at the end."""
        return {}

    def close(self) -> None:
        """Puts back what the profile changed in the old package."""

    def handler(self, op: dict) -> Callable:
        return self.run.handler(op["handler"])

    def predicate(self, about: str, written: str) -> Callable:
        """``always``, ``never``, ``raise:<kind>``, ``mark:<x>`` or ``async_never``."""
        word, _, detail = written.partition(":")

        async def asynchronous(_: Any) -> bool:
            return False

        def predicate(_: Any) -> bool:
            if word == "raise":
                raise errors.make({"kind": detail, "message": "predicate"}, about)
            if word == "mark":
                self.run.record({"ev": "predicate", "handler": about, "mark": detail})
            return word != "never"

        return asynchronous if word == "async_never" else predicate
