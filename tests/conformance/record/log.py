"""What the old package logs from warnings on, as events."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Iterator
from typing import TYPE_CHECKING

from . import errors

if TYPE_CHECKING:
    from .run import Run


class Lines(logging.Handler):
    """Records each line with the handler that it is about; its text is nobody's promise."""

    def __init__(self, run: Run) -> None:
        super().__init__(logging.WARNING)
        self._run = run

    def emit(self, line: logging.LogRecord) -> None:
        level = "error" if line.levelno >= logging.ERROR else "warning"
        self._run.record({"ev": "log", "level": level, "handler": self._about(line)})

    def _about(self, line: logging.LogRecord) -> str | None:
        said = [line.exc_info[1]] if line.exc_info else []
        said += line.args if isinstance(line.args, tuple) else ()
        for one in said:
            if isinstance(one, BaseException):
                if name := errors.raised_by(one):
                    return name
            elif isinstance(one, str) and one in self._run.names:
                return one
        return None


@contextlib.contextmanager
def recorded(run: Run) -> Iterator[None]:
    """Turns the lines into events of the run, and shows them nowhere else."""
    logger = logging.getLogger("lionagi")
    before = logger.propagate, logger.level, logger.handlers
    logger.propagate, logger.handlers = False, [Lines(run)]
    logger.setLevel(logging.WARNING)
    try:
        yield
    finally:
        logger.propagate, logger.level, logger.handlers = before
