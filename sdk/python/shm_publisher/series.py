"""The series of metrics, and their values: in the memory of the process, or in the slots and frames of a segment.

Updates hold the lock of the store, which excludes other threads.  The lock lets signal handlers and `__del__` of the
same thread in, but these run only at calls and loops: from Python 3.10 on, not in the middle of statements that only
load and store.  So the steps of an update have no calls in between.
"""
from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple, Optional

from .checks import checked_series
from .layout import F64, HISTOGRAM, SUMMARY, UNKNOWN
from .nodes import Variable


if TYPE_CHECKING:
    Frame = tuple[memoryview[int], memoryview[float], memoryview[int]]


class Family(NamedTuple):
    """What all series of a metric have in common."""
    name: str
    help: str
    unit: str = ""
    type: int = F64
    kind: int = UNKNOWN
    bounds: tuple[float, ...] = ()              # of a histogram


class Series:
    """A series: a family, labels, and a value.  `variable` is its variable in the segment, if it has one."""

    __slots__ = ("family", "labels", "variable", "is_tried")

    def __init__(self, family: Family, labels: dict[str, str]) -> None:
        self.family, self.labels = family, labels
        self.variable: Optional[Variable] = None
        self.is_tried = False                   # whether an addition to the segment began
        self.reset()

    @property
    def key(self) -> tuple[Any, ...]:
        """Equal series have equal keys."""
        return (self.family.name, *sorted(self.labels.items()))

    def text(self) -> str:
        """Returns the series as the segment states it."""
        return checked_series(self.family.type, self.family.name, self.labels, f"metric {self.family.name}")

    def reset(self) -> None:
        """Moves the value to the memory of the process, and sets it to 0."""
        raise NotImplementedError

    def first(self) -> Optional[float]:
        """Returns the first value of the variable of a number; frames begin without observations."""
        return None

    def enter(self, variable: Variable) -> None:
        """Moves the value into a variable."""
        raise NotImplementedError

    def leave(self) -> Optional[Variable]:
        """Moves the value to the memory of the process.  Returns the variable that had it."""
        raise NotImplementedError


class Number(Series):
    """A counter or gauge.  `cell[0]` is its value."""

    __slots__ = ("cell", "function", "start")

    cell: memoryview[float]
    function: Optional[Callable[[], float]]
    start: float                                # the value after reset(): 1 for an info

    def reset(self) -> None:
        self.start = getattr(self, "start", 0.0)
        self.cell, self.function, self.variable = memoryview(bytearray(8)).cast("d"), None, None
        self.cell[0] = self.start

    def first(self) -> float:
        return self.cell[0]

    def enter(self, variable: Variable) -> None:
        self._move(variable._views()[3])
        self.variable = variable

    def leave(self) -> Optional[Variable]:
        self._move(memoryview(bytearray(8)).cast("d"))
        variable, self.variable = self.variable, None
        return variable

    def _move(self, cell: memoryview[float]) -> None:
        cell[0] = self.cell[0]
        self.cell = cell


class Distribution(Series):
    """A histogram or summary.  `frame` has views of the units of its frame, as integers and as floats, and of its slot.

    An update stores in the order of the segment format: begin, which is the last unit, the payload, end, which is the
    first unit, the slot."""

    __slots__ = ("frame",)

    frame: Frame

    def _new_frame(self) -> Frame:
        payload = len(self.family.bounds) + 2 if self.family.type == HISTOGRAM else 2
        memory = memoryview(bytearray(8 * (payload + 2)))
        return memory.cast("Q"), memory.cast("d"), memoryview(bytearray(8)).cast("Q")

    def reset(self) -> None:
        self.frame, self.variable = self._new_frame(), None

    def enter(self, variable: Variable) -> None:
        self._move(variable._views()[:3])
        self.variable = variable

    def leave(self) -> Optional[Variable]:
        self._move(self._new_frame())
        variable, self.variable = self.variable, None
        return variable

    def _move(self, frame: Frame) -> None:
        units, _, slot = frame
        old = self.frame[0]
        number = units[0] + 1
        units[-1] = number
        units[1:-1] = old[1:-1]
        units[0] = number
        slot[0] = number
        self.frame = frame

    def count(self, unit: int, amount: int) -> None:
        """Adds to a unit that is an integer.  The caller holds the lock."""
        units, _, slot = self.frame
        number = units[0] + 1
        units[-1] = number
        units[unit] += amount
        units[0] = number
        slot[0] = number

    def add(self, unit: int, amount: float) -> None:
        """Adds to a unit that is a float.  The caller holds the lock."""
        amount = float(amount)                  # an error must not come between the first and the last store
        units, floats, slot = self.frame
        number = units[0] + 1
        units[-1] = number
        floats[unit] += amount
        units[0] = number
        slot[0] = number


class HistogramSeries(Distribution):
    """Its units: the sum, a count for each bucket, and one for +Inf."""

    __slots__ = ()

    def observe(self, amount: float) -> None:
        """Counts an observation.  The caller holds the lock."""
        bucket = 2 + bisect_left(self.family.bounds, amount)        # the first bound that is not exceeded, or +Inf
        units, floats, slot = self.frame
        number = units[0] + 1
        units[-1] = number
        floats[1] += amount
        units[bucket] += 1
        units[0] = number
        slot[0] = number


class SummarySeries(Distribution):
    """Its units: the count, and the sum.  It has no quantiles."""

    __slots__ = ()

    def observe(self, amount: float) -> None:
        """Counts an observation.  The caller holds the lock."""
        units, floats, slot = self.frame
        number = units[0] + 1
        units[-1] = number
        units[1] += 1
        floats[2] += amount
        units[0] = number
        slot[0] = number


def new_series(family: Family, labels: dict[str, str]) -> Any:
    """Makes a series whose value is in the memory of the process."""
    return {HISTOGRAM: HistogramSeries, SUMMARY: SummarySeries}.get(family.type, Number)(family, labels)

