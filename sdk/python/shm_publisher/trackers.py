"""What metrics return for `with` blocks and as decorators of functions."""
from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from time import perf_counter
from typing import Any, TypeVar

F = TypeVar("F", bound=Callable[..., Any])


class _Block:
    """A block of code, or each call of a function that it decorates.  A call of an `async def` function lasts until the
    coroutine ends."""

    def __enter__(self) -> Any:
        return self

    def __exit__(self, kind: Any, error: Any, traceback: Any) -> None:
        pass

    def _for_call(self) -> Any:
        """Returns a block for one call, since calls may overlap."""
        return self

    def __call__(self, function: F) -> F:
        @functools.wraps(function)
        def wrapped(*args: Any, **kwargs: Any) -> Any:
            with self._for_call():
                return function(*args, **kwargs)

        @functools.wraps(function)
        async def awaited(*args: Any, **kwargs: Any) -> Any:
            with self._for_call():
                return await function(*args, **kwargs)
        return awaited if inspect.iscoroutinefunction(function) else wrapped    # type: ignore[return-value]


class Timer(_Block):
    """Passes the seconds that a block takes to a metric."""

    def __init__(self, metric: Any, call: str) -> None:
        self._metric, self._call = metric, call

    def labels(self, *labelvalues: Any, **labelkwargs: Any) -> None:
        """Chooses the child, in the middle of the block."""
        self._metric = self._metric.labels(*labelvalues, **labelkwargs)

    def __call__(self, function: F) -> F:
        self._metric._check_child("time")
        return super().__call__(function)

    def _for_call(self) -> Timer:
        return Timer(self._metric, self._call)

    def __enter__(self) -> Timer:
        self._start = perf_counter()
        return self

    def __exit__(self, kind: Any, error: Any, traceback: Any) -> None:
        seconds = max(perf_counter() - self._start, 0.0)
        if error is None:
            self._metric._check_child("time")
        if not self._metric._labelnames:        # otherwise the block failed before it chose a child
            getattr(self._metric, self._call)(seconds)


class InprogressTracker(_Block):
    """Counts the blocks in progress."""

    def __init__(self, enter: Callable[[], None], leave: Callable[[], None]) -> None:
        self._enter, self._leave = enter, leave

    def __enter__(self) -> InprogressTracker:
        self._enter()
        return self

    def __exit__(self, kind: Any, error: Any, traceback: Any) -> None:
        self._leave()


class ExceptionCounter(_Block):
    """Counts the exceptions that leave a block."""

    def __init__(self, count: Callable[[], None], kinds: Any) -> None:
        self._count, self._kinds = count, kinds

    def __exit__(self, kind: Any, error: Any, traceback: Any) -> None:
        if isinstance(error, self._kinds):
            self._count()
