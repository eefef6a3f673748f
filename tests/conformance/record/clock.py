"""Time that moves only when nothing can run, for the loop and for the threads beside it."""

from __future__ import annotations

import asyncio
import selectors
import threading
from collections.abc import Callable
from typing import Any

#: How long, in seconds of the wall clock, a thread is waited for before something is wrong.
PATIENCE = 60.0


class NothingRuns(RuntimeError):
    """The scenario waits for something that never comes."""


class Call:
    """A function on a thread of its own that runs only while it has its turn."""

    def __init__(self) -> None:
        self.wakes: float | None = None
        self.begun = self.ended = False
        self.awaited = True
        self._go = threading.Semaphore(0)
        self._back = threading.Semaphore(0)

    def give_turn(self) -> None:
        """On the loop's thread: lets the call run up to its next wait or its end."""
        self.begun, self.wakes = True, None
        self._go.release()
        if not self._back.acquire(timeout=PATIENCE):
            raise NothingRuns("a thread did not give its turn back")

    def take_turn(self) -> None:
        """On the call's thread."""
        self._go.acquire()

    def return_turn(self) -> None:
        """On the call's thread."""
        self._back.release()

    def forget(self) -> None:
        """Whoever waited for the call has gone. What has not begun never begins."""
        self.awaited = False
        if not self.begun:
            self.ended = True
            self._go.release()


class Clock(selectors.DefaultSelector):
    """A selector that moves time on where others would wait.

    At one instant the loop comes first; when it has nothing left to do, the threads have their
    turns, in the order in which they were started.
    """

    def __init__(self) -> None:
        super().__init__()
        self.now = 0.0
        self.calls: list[Call] = []
        self.loop: Loop | None = None
        self._thread = threading.local()

    def select(self, timeout: float | None = None) -> list:
        if timeout is not None and timeout <= 0:
            return super().select(0)
        while True:
            if events := super().select(0):
                return events
            self.calls = [call for call in self.calls if not call.ended or call.awaited]
            if any(call.ended for call in self.calls):
                # Its result is on the way to the loop.
                return super().select(PATIENCE)
            ready = next((call for call in self.calls if call.wakes is None), None)
            if ready is not None:
                ready.give_turn()
            elif self._move_on():
                return []

    def _move_on(self) -> bool:
        """Moves to the next instant, and says whether it is the loop's."""
        timer = self.loop.next_timer() if self.loop else None
        call = min(self.calls, key=lambda call: call.wakes or 0.0, default=None)
        if call is not None and call.wakes is not None and (timer is None or call.wakes <= timer):
            self.now, call.wakes = max(self.now, call.wakes), None
            return False
        if timer is None:
            raise NothingRuns("the scenario waits for something that never comes")
        self.now = max(self.now, timer)
        return True

    def sleep(self, seconds: float) -> None:
        """A blocking wait, on a call's thread."""
        call: Call = self._thread.call
        call.wakes = self.now + seconds
        call.return_turn()
        call.take_turn()

    def is_elsewhere(self) -> bool:
        """Whether this is a thread beside the loop."""
        return getattr(self._thread, "call", None) is not None

    def offload(self, run_sync: Callable) -> Callable:
        """``anyio.to_thread.run_sync``, with turns."""

        async def turns(function: Callable, *args: Any, **options: Any) -> Any:
            call = Call()
            self.calls.append(call)

            def body(*args: Any) -> Any:
                call.take_turn()
                if call.ended:
                    return None
                self._thread.call = call
                try:
                    return function(*args)
                finally:
                    self._thread.call = None
                    call.ended = True
                    call.return_turn()

            try:
                return await run_sync(body, *args, **options)
            finally:
                call.forget()

        return turns


class Loop(asyncio.SelectorEventLoop):
    """An event loop on a clock of its own."""

    def __init__(self) -> None:
        self.clock = Clock()
        super().__init__(self.clock)
        self.clock.loop = self
        self._clock_resolution = 1e-9

    def time(self) -> float:
        return self.clock.now

    def next_timer(self) -> float | None:
        timers = (timer.when() for timer in self._scheduled if not timer.cancelled())
        return min(timers, default=None)
