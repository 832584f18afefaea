"""What metrics return for `with` blocks and as decorators of functions."""
from __future__ import annotations

import functools
from collections.abc import Callable
from time import perf_counter
from typing import Any, TypeVar

F = TypeVar("F", bound=Callable[..., Any])


class _Block:
    """A block of code, or each call of a function that it decorates."""

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
        return wrapped                          # type: ignore[return-value]


class Timer(_Block):
    """Passes the seconds that a block takes to a function."""

    def __init__(self, report: Callable[[float], None]) -> None:
        self._report = report

    def _for_call(self) -> Timer:
        return Timer(self._report)

    def __enter__(self) -> Timer:
        self._start = perf_counter()
        return self

    def __exit__(self, kind: Any, error: Any, traceback: Any) -> None:
        self._report(max(perf_counter() - self._start, 0.0))


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
