"""``python -m record``: records traces, or answers requests for them.

``traces SCENARIOS TRACES`` records every scenario of a tree.

``random PROFILE SEED COUNT SCENARIOS`` writes random scenarios.

``serve`` reads requests, one a line of JSON, and answers each with a line:
``{"scenario": …}`` with ``{"trace": …}``, and ``{"profile": …, "seed": …, "index": …}``, which asks
for a random scenario, with that scenario, too. What goes wrong is ``{"error": …}``.
"""

from __future__ import annotations

import argparse
import json
import sys
import traceback
import warnings
from pathlib import Path

from . import generate, trace, written


def main() -> None:
    warnings.filterwarnings("ignore", message=".*never awaited")
    parser = argparse.ArgumentParser(prog="record", description="records the old package")
    commands = parser.add_subparsers(required=True)
    traces = commands.add_parser("traces")
    traces.add_argument("scenarios", type=Path)
    traces.add_argument("traces", type=Path)
    traces.set_defaults(run=lambda options: record_tree(options.scenarios, options.traces))
    commands.add_parser("serve").set_defaults(run=lambda _: serve())
    random = commands.add_parser("random")
    random.add_argument("profile", choices=generate.GENERATORS)
    random.add_argument("seed", type=int)
    random.add_argument("count", type=int)
    random.add_argument("scenarios", type=Path)
    random.set_defaults(run=write_random)
    options = parser.parse_args()
    options.run(options)


def record_tree(scenarios: Path, traces: Path) -> None:
    files = sorted(scenarios.rglob("*.json"))
    for file in files:
        target = traces / file.relative_to(scenarios)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(trace.text(trace.record(written.read(file.read_text()))))
    print(f"{len(files)} traces recorded")


def write_random(options: argparse.Namespace) -> None:
    for index in range(options.count):
        scenario = generate.scenario(options.profile, options.seed, index)
        file = options.scenarios / f"{scenario['id']}.json"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(scenario, indent=1) + "\n")


def serve() -> None:
    for line in sys.stdin:
        try:
            answer = reply(written.read(line))
        except (Exception, written.MissingField):
            answer = {"error": traceback.format_exc()}
        print(json.dumps(answer), flush=True)


def reply(request: dict) -> dict:
    if "scenario" in request:
        return {"trace": trace.record(request["scenario"])}
    drawn = generate.scenario(request["profile"], request["seed"], request["index"])
    # Read back, so that it is what its file would be.
    scenario = written.read(json.dumps(drawn))
    return {"scenario": scenario, "trace": trace.record(scenario)}


if __name__ == "__main__":
    main()
