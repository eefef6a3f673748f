"""Random scenarios, one file for each profile, the same for the same seed.

They stay within what is the same in every run of both sides: waits of handlers that run at the same
time end at different instants, cancellations and deadlines fall beside them, and of handlers that
run at the same time at most one shows how it is cancelled.
"""

from __future__ import annotations

from collections.abc import Callable

from . import (
    broadcaster,
    hook_bus,
    loader,
    message_added,
    scheduler_signal_bus,
    session_observer,
    terminal_callbacks,
)
from .choices import Choices

GENERATORS: dict[str, Callable[[Choices], dict]] = {
    "hookbus_blocking": hook_bus.blocking,
    "hookbus_observational": hook_bus.observational,
    "session_observer": session_observer.scenario,
    "broadcaster": broadcaster.scenario,
    "message_added_sync": message_added.sync,
    "message_added_async": message_added.asynchronous,
    "scheduler_signal_bus": scheduler_signal_bus.scenario,
    "terminal_callbacks": terminal_callbacks.scenario,
    "loader": loader.scenario,
}


def scenario(profile: str, seed: int, index: int) -> dict:
    """The scenario of this number among those of a seed."""
    written = GENERATORS[profile](Choices(f"{profile} {seed} {index}"))
    head = {"id": f"{profile}/random_{seed}_{index:05}", "profile": profile, "title": "random"}
    return head | written
