"""Random choices that are the same for the same seed."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")

#: Waits end on multiples of this, in milliseconds.
GRID = 30
#: Cancellations fall beside the grid, so that nothing ends at the same instant.
OFF_GRID = 15
#: How many instants of the grid a scenario uses.
INSTANTS = 24


class Choices:
    """The choices of one scenario, and the instants at which its waits may still end."""

    def __init__(self, seed: str) -> None:
        # A text seeds by its digest, so that the choices are the same on every machine.
        self._random = random.Random(seed)
        self._instants = list(range(1, INSTANTS + 1))
        self._serial = 0

    def chance(self, probability: float) -> bool:
        return self._random.random() < probability

    def one_of(self, items: Sequence[T]) -> T:
        return self._random.choice(items)

    def some(self, items: Sequence[T], most: int) -> list[T]:
        """Between one and ``most`` different items."""
        return self._random.sample(items, self.number(1, min(most, len(items))))

    def number(self, least: int, most: int) -> int:
        return self._random.randint(least, most)

    def serial(self) -> int:
        """A number that nothing else in the scenario has."""
        self._serial += 1
        return self._serial

    def waits(self, most: int = 2, after: int = 0) -> list[int]:
        """Waits whose ends no other handler has, when all handlers begin at the same instant.

        These begin ``after`` milliseconds of waits of the same handler. Which of two waits that end
        at one instant ends first is left to chance: the old clock adds fractions of a second.
        """
        begin = after // GRID
        later = [instant for instant in self._instants if instant > begin]
        ends = sorted(self._random.sample(later, min(self.one_of([0, 0, 1, 1, most]), len(later))))
        self._instants = [instant for instant in self._instants if instant not in ends]
        return [(end - begin) * GRID for begin, end in zip([begin, *ends], ends, strict=False)]

    def off_grid(self) -> int:
        """When something is cancelled, counted from its beginning."""
        return self.number(0, INSTANTS * 2 // 3) * GRID + OFF_GRID
