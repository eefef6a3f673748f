"""Scenarios as they are written, with a field that is asked for and missing told apart."""

from __future__ import annotations

import json
from typing import Any


class MissingField(BaseException):
    """An object of the scenario lacks a field."""


class Written(dict):
    """An object of a scenario."""

    def __missing__(self, field: str) -> Any:
        raise MissingField(repr(field))


# Recorded texts name the type of a value.
Written.__name__ = "dict"


def read(text: str) -> Any:
    return json.loads(text, object_pairs_hook=Written)
