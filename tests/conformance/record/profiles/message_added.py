"""``message_added_sync`` and ``message_added_async``: two ways to add a message."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lionagi.protocols.messages.manager import MessageManager

from ..profile import Profile

if TYPE_CHECKING:
    from ..run import Run


class MessageAdded(Profile):
    def __init__(self, run: Run, setup: dict) -> None:
        super().__init__(run, setup)
        self.manager = MessageManager()
        self.callbacks = self.manager._on_message_added

    def op_register(self, op: dict) -> Any:
        self.callbacks.append(self.handler(op))

    def op_unregister(self, op: dict) -> Any:
        if (callback := self.handler(op)) in self.callbacks:
            self.callbacks.remove(callback)

    def final(self) -> Any:
        return {
            "messages": list(self.manager.messages),
            "callbacks": [callback.handler_name for callback in self.callbacks],
        }


def content(op: dict) -> dict:
    """The argument that says of which kind a message is."""
    return {op.get("kind", "instruction"): op["text"]}


class MessageAddedSync(MessageAdded):
    def op_add_message(self, op: dict) -> Any:
        return self.manager.add_message(**content(op))


class MessageAddedAsync(MessageAdded):
    def op_add_message(self, op: dict) -> Any:
        return self.manager.a_add_message(**content(op))
