"""Random scripts: operations one by one, some cancelled, some at the same time."""

from __future__ import annotations

from .choices import GRID, OFF_GRID, Choices

#: Operations that run at the same time begin this long after each other: their waits end apart.
APART = 4


def names(choices: Choices, most: int) -> list[str]:
    return [f"h{number}" for number in range(1, choices.number(1, most) + 1)]


def cancelled(choices: Choices, op: dict, probability: float) -> dict:
    """The operation, perhaps cancelled while it runs."""
    if choices.chance(probability):
        return op | {"cancel_emitter_after_ms": choices.off_grid()}
    return op


def emission(choices: Choices, op: dict, probability: float = 0.12) -> list[dict]:
    """An operation that takes time: by itself, or in the background."""
    if choices.chance(0.88):
        return [cancelled(choices, op, probability)]
    spawned = {"op": "spawn", "as": "a", "do": cancelled(choices, op, probability)}
    if choices.chance(0.5):
        pause = {"op": "sleep_ms", "ms": choices.number(0, 8) * GRID + OFF_GRID}
        if pause["ms"] == spawned["do"].get("cancel_emitter_after_ms"):
            # Which of two requests comes first, or whether both are one, is left to chance.
            pause["ms"] += GRID
        return [spawned, pause, {"op": "cancel", "task": "a"}, {"op": "join", "task": "a"}]
    return [spawned, {"op": "sleep_ms", "ms": choices.off_grid()}, {"op": "join", "task": "a"}]


def together(first: dict, second: dict) -> list[dict]:
    """Two operations at the same time."""
    return [
        {"op": "spawn", "as": "b", "do": first},
        {"op": "sleep_ms", "ms": APART},
        second,
        {"op": "join", "task": "b"},
    ]
