"""A scenario's trace, and its text."""

from __future__ import annotations

import json
import warnings
from itertools import groupby
from typing import Any

import anyio.to_thread

from . import FORMAT, LIONAGI, log
from .clock import Loop
from .run import Run

_run_sync = anyio.to_thread.run_sync


def record(scenario: dict) -> dict:
    """Runs a scenario on a loop and a clock of its own."""
    loop = Loop()
    loop.set_exception_handler(lambda *_: None)
    anyio.to_thread.run_sync = loop.clock.offload(_run_sync)
    try:
        events, final = loop.run_until_complete(_run(scenario, loop))
    finally:
        anyio.to_thread.run_sync = _run_sync
        loop.close()
    return {
        "scenario": scenario["id"],
        "profile": scenario["profile"],
        "oracle": {"lionagi": LIONAGI, "format": FORMAT},
        "events": cancelled_in_order(events),
        "final": final,
    }


async def _run(scenario: dict, loop: Loop) -> tuple[list[dict], Any]:
    run = Run(scenario, loop.clock)
    with warnings.catch_warnings(), log.recorded(run):
        # Awaitables that a dispatcher drops are part of what is recorded.
        warnings.simplefilter("ignore")
        final = await run.script()
        await run.end()
    if run.refused is not None:
        raise run.refused
    return run.events, final


def cancelled_in_order(events: list[dict]) -> list[dict]:
    """A cancellation reaches siblings in no defined order: they stand in the order of names."""

    def cancelled(event: dict) -> bool:
        return event["ev"] == "finish" and event["outcome"] == {"cancelled": True}

    ordered: list[dict] = []
    for together, group in groupby(events, cancelled):
        ordered += sorted(group, key=lambda event: event["handler"]) if together else group
    return ordered


def text(trace: dict) -> str:
    """A line for each event, so that a change of a trace reads well."""
    head = _json({name: trace[name] for name in ("scenario", "profile", "oracle")})
    events = ",\n".join(f"  {_json(event)}" for event in trace["events"])
    lines = [f"{head[:-1]},", ' "events": [', events, " ],", f' "final": {_json(trace["final"])}}}']
    return "".join(f"{line}\n" for line in lines if line)


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
