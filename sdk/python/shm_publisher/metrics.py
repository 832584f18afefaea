"""Counters, gauges, histograms, summaries and infos with labels, as in prometheus_client.

    from shm_publisher import Counter, publish

    REQUESTS = Counter("http_requests_total", "Requests that were answered.", ["code"])
    publish("shop-1", app="shop")
    REQUESTS.labels("200").inc()
"""
from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable
from math import inf
from typing import Any, TypeVar, Union

from .checks import checked_integer, checked_schema, checked_series, checked_string, shown
from .layout import COUNTER, F64, GAUGE, HISTOGRAM, SUMMARY, UNKNOWN
from .series import Family, new_series
from .store import STORE, PublishedMetrics
from .trackers import ExceptionCounter, InprogressTracker, Timer

M = TypeVar("M", bound="Metric")

DEFAULT_BUCKETS = (.005, .01, .025, .05, .1, .25, .5, 1.0, 2.5, 5.0, 10.0)
MAX_CHILDREN = 1000
# Suffixes of the names of a metric's samples, by type.
SAMPLES = {HISTOGRAM: ("", "_bucket", "_count", "_sum"), SUMMARY: ("", "_count", "_sum")}
_owners: dict[str, Metric] = {}                 # the metrics by the names of their samples


def publish(server_key: str, app: str, *, interval: float = 5.0, **options: Any) -> PublishedMetrics:
    """Publishes all metrics of this module in a segment, until close() or the end of the process.

    `app` is the application by which the exporter selects the target.  The pid replaces `{pid}` in the server key.  A
    forked child publishes in a segment of its own, whose key is `server_key` and its pid, from its first update on.
    Functions of gauges are called every `interval` seconds.  `options` are those of Publisher."""
    return STORE.publish(server_key, app, interval, options)


class _NeedsLabels:
    """Takes the place of a series in a metric that has labels."""

    def __init__(self, metric: Metric) -> None:
        self._metric = metric

    def __getattr__(self, name: str) -> Any:
        raise ValueError(f"{self._metric} has the labels {', '.join(self._metric._labelnames)}: call labels() first")


class Metric:
    """A metric, or one child of a metric with labels."""

    __slots__ = ("_family", "_labelnames", "_labels", "_children", "_max_children", "_series", "_is_live")

    _type, _kind, _suffix = F64, UNKNOWN, ""

    def __init__(self, name: str, documentation: str, labelnames: Iterable[str] = (), namespace: str = "",
                 subsystem: str = "", unit: str = "", *, max_children: int = MAX_CHILDREN) -> None:
        self._declare(name, documentation, labelnames, namespace, subsystem, unit, max_children, ())

    def _declare(self, name: str, documentation: str, labelnames: Iterable[str], namespace: str, subsystem: str,
                 unit: str, max_children: int, bounds: tuple[float, ...]) -> None:
        kind = type(self).__name__
        for what, part in ("name", name), ("namespace", namespace), ("subsystem", subsystem), ("unit", unit):
            if not isinstance(part, str):
                raise ValueError(f"{what} of {kind}: found {shown(part)}, allowed: a string")
            if what != "name" and not re.fullmatch("[a-zA-Z0-9_:]*", part):
                raise ValueError(f"{what} of {kind} {shown(name)}: found {shown(part)}, allowed: letters, digits, _ and :")
        if isinstance(labelnames, str) or not isinstance(labelnames, Iterable):
            raise ValueError(f"labelnames of {kind} {shown(name)}: found {shown(labelnames)}, allowed: a list of names")
        full = "_".join(part for part in (namespace, subsystem, name) if part)
        full = full[:-len(self._suffix)] if self._suffix and full.endswith(self._suffix) else full
        if not full:
            raise ValueError(f"name of {kind}: found {shown(name)}, allowed: names such as shop{self._suffix}")
        if unit and not full.endswith(f"_{unit}"):
            full = f"{full}_{unit}"
        full += self._suffix
        what = f"{kind} {shown(full)}"
        checked_string(documentation, 4096, f"documentation of {what}")
        checked_string(unit, 64, f"unit of {what}")
        self._labelnames = tuple(labelnames)
        if len(set(self._labelnames)) < len(self._labelnames):
            raise ValueError(f"labelnames of {what}: found {shown(list(self._labelnames))}, allowed: each name once")
        checked_series(self._type, full, dict.fromkeys(self._labelnames, ""), what)            # checks all names
        self._family = Family(full, documentation, unit, self._type, self._kind, bounds)
        self._labels: dict[str, str] = {}
        self._max_children = checked_integer(max_children, 1, 1 << 20, f"max_children of {what}")
        self._children: dict[tuple[str, ...], Any] = {}
        self._series: Any = _NeedsLabels(self)
        self._is_live = False
        with STORE.lock:
            samples = [full + suffix for suffix in SAMPLES.get(self._type, ("",))]
            for sample in samples:
                owner = _owners.get(sample)
                if owner is not None and owner._family.name == full:
                    raise ValueError(f"name of {kind}: found {shown(full)}, but {owner} is declared already")
                if owner is not None:
                    raise ValueError(f"name of {kind}: found {shown(full)}, whose {sample} is a sample of {owner} already")
            _owners.update(dict.fromkeys(samples, self))
        if not self._labelnames:
            self._begin()

    def _check_child(self, call: str) -> None:
        if self._labelnames:
            raise ValueError(f"{call} of {self}: it has the labels {', '.join(self._labelnames)}: call labels() first")

    def _begin(self) -> None:
        """Makes the series of a metric without labels, or of a child."""
        self._series, self._is_live = new_series(self._family, self._labels), True
        STORE.add(self._series)

    def __str__(self) -> str:
        return f"{type(self).__name__} {self._family.name}"

    def __repr__(self) -> str:
        return f"<{self} {self._labels}>" if self._labels else f"<{self}>"

    def labels(self: M, *labelvalues: Any, **labelkwargs: Any) -> M:
        """Returns the child with these label values, in the order of the names or by name.  Other values than strings
        become strings."""
        try:
            child = self._children.get(labelvalues)
        except TypeError:                       # a value that cannot be hashed
            child = None
        return child if child is not None and not labelkwargs else self._child(labelvalues, labelkwargs)

    def _child(self: M, values: tuple[Any, ...], named: dict[str, Any]) -> M:
        key = self._key("labels", values, named)
        child = self._children.get(key)
        if child is not None:
            return child
        with STORE.lock:
            child = self._children.get(key)
            if child is None:
                child = object.__new__(type(self))
                child._family, child._labelnames, child._children = self._family, (), {}
                child._labels = dict(zip(self._labelnames, key))
                child._max_children = 0
                if len(self._children) >= self._max_children:
                    child._series, child._is_live = new_series(self._family, child._labels), False
                    STORE.drop(self._family.name, f"it has {self._max_children} label sets, and further ones are not "
                                                  "published: label values must not grow without a bound, or pass a larger "
                                                  "max_children")
                else:
                    child._series, child._is_live = new_series(self._family, child._labels), True
                    # A signal handler may have added the child meanwhile.
                    first = self._children.setdefault(key, child)
                    if first is child:
                        STORE.add(child._series)
                    child = first
            return child

    def _key(self, call: str, values: tuple[Any, ...], named: dict[str, Any]) -> tuple[str, ...]:
        names = self._labelnames
        if not names:
            raise ValueError(f"{call} of {self}: it has no labels" if not self._labels else
                             f"{call} of {self}: it has its labels already: {self._labels}")
        if (values or set(named) != set(names)) if named else len(values) != len(names):
            raise ValueError(f"{call} of {self}: found {shown(named or list(values))}, allowed: one value for each of "
                             f"{', '.join(names)}, all by position or all by name")
        given = [named[name] for name in names] if named else values
        return tuple([value if type(value) is str else str.__str__(value) if isinstance(value, str) else str(value)
                      for value in given])

    def remove(self, *labelvalues: Any, **labelkwargs: Any) -> None:
        """Removes the child with these label values, if there is one.  Updates of a removed child store nothing."""
        key = self._key("remove", labelvalues, labelkwargs)
        with STORE.lock:
            child = self._children.pop(key, None)
            if child is not None:
                child._end()

    def clear(self) -> None:
        """Removes all children."""
        if not self._labelnames:
            raise ValueError(f"clear of {self}: it has no children")
        with STORE.lock:
            while self._children:
                self._children.popitem()[1]._end()

    def _end(self) -> None:
        self._is_live = False
        STORE.remove(self._series)

    def _refusal(self, call: str, value: Any) -> ValueError:
        return ValueError(f"{call} of {self}: found {shown(value)}, allowed: numbers")


class Counter(Metric):
    """A number that only grows.  Its name ends in `_total`, which is added if it is missing."""

    __slots__ = ()
    _kind, _suffix = COUNTER, "_total"

    def inc(self, amount: float = 1) -> None:
        """Adds an amount, which may not be negative."""
        try:
            if 0 <= amount < inf:
                with STORE.lock:
                    self._series.cell[0] += amount
                return
        except TypeError:
            raise self._refusal("inc", amount) from None
        except OverflowError:
            pass
        raise ValueError(f"inc of {self}: found {shown(amount)}, allowed: finite amounts from 0, since a counter does "
                         "not fall")

    def count_exceptions(self, exception: Union[type[BaseException], tuple[type[BaseException], ...]] = Exception,
                         ) -> ExceptionCounter:
        """Counts the exceptions of a block or function: `with c.count_exceptions():` or `@c.count_exceptions()`."""
        self._check_child("count_exceptions")
        return ExceptionCounter(self.inc, exception)


class Gauge(Metric):
    """A number that rises and falls."""

    __slots__ = ()
    _kind = GAUGE

    def inc(self, amount: float = 1) -> None:
        """Adds an amount."""
        try:
            amount = 1.0 * amount               # a float, so that no method of another class runs in the update
            with STORE.lock:
                self._series.cell[0] += amount
        except (TypeError, OverflowError):
            raise self._refusal("inc", amount) from None

    def dec(self, amount: float = 1) -> None:
        """Subtracts an amount."""
        try:
            amount = 1.0 * amount
            with STORE.lock:
                self._series.cell[0] -= amount
        except (TypeError, OverflowError):
            raise self._refusal("dec", amount) from None

    def set(self, value: float) -> None:
        """Sets the value."""
        try:
            value = 1.0 * value
            with STORE.lock:
                self._series.cell[0] = value
        except (TypeError, OverflowError):
            raise self._refusal("set", value) from None

    def set_to_current_time(self) -> None:
        """Sets the value to the time, in seconds since 1970."""
        self.set(time.time())

    def set_function(self, f: Callable[[], float]) -> None:
        """Sets the value to the result of a function, now and at each interval of publish()."""
        if not callable(f):
            raise ValueError(f"set_function of {self}: found {shown(f)}, allowed: functions")
        self._check_child("set_function")
        STORE.follow(self._series, f)

    def track_inprogress(self) -> InprogressTracker:
        """Counts the blocks or calls in progress: `with g.track_inprogress():` or `@g.track_inprogress()`."""
        self._check_child("track_inprogress")
        return InprogressTracker(self.inc, self.dec)

    def time(self) -> Timer:
        """Sets the value to the seconds that a block or call takes."""
        return Timer(self, "set")


class _Observer(Metric):
    __slots__ = ()

    def observe(self, amount: float) -> None:
        """Counts an observation."""
        try:
            amount = 1.0 * amount
            if type(amount) is not float:       # such as a timedelta or a number of numpy
                amount = float(amount)
        except (TypeError, OverflowError):
            raise self._refusal("observe", amount) from None
        if amount != amount:
            raise ValueError(f"observe of {self}: found NaN, allowed: numbers, since no bucket counts NaN")
        with STORE.lock:
            self._series.observe(amount)

    def time(self) -> Timer:
        """Observes the seconds that a block or call takes: `with h.time():` or `@h.time()`."""
        return Timer(self, "observe")


class Histogram(_Observer):
    """Counts observations by upper bounds, and has their sum."""

    __slots__ = ()
    _type, DEFAULT_BUCKETS = HISTOGRAM, DEFAULT_BUCKETS

    def __init__(self, name: str, documentation: str, labelnames: Iterable[str] = (), namespace: str = "",
                 subsystem: str = "", unit: str = "", *, buckets: Iterable[Union[float, str]] = DEFAULT_BUCKETS,
                 max_children: int = MAX_CHILDREN) -> None:
        what = f"buckets of Histogram {shown(name)}"
        try:
            bounds = [float(bound) for bound in buckets]
        except (TypeError, ValueError, OverflowError):
            raise ValueError(f"{what}: found {shown(buckets)}, allowed: a list of numbers") from None
        bounds = bounds[:-1] if bounds and bounds[-1] == inf else bounds
        self._declare(name, documentation, labelnames, namespace, subsystem, unit, max_children,
                      tuple(checked_schema(HISTOGRAM, bounds, what)))


class Summary(_Observer):
    """The count and the sum of observations."""

    __slots__ = ()
    _type = SUMMARY


class Info(Metric):
    """Texts about the process, as labels of a gauge that is 1.  Its name ends in `_info`, which is added if it is
    missing."""

    __slots__ = ()
    _kind, _suffix = GAUGE, "_info"

    def _begin(self) -> None:
        self._series, self._is_live = None, True            # no series without texts

    def info(self, val: dict[str, str]) -> None:
        """Sets the texts by label name."""
        self._check_child("info")
        if not isinstance(val, dict):
            raise ValueError(f"info of {self}: found {shown(val)}, allowed: a dict of texts by label name")
        labels = {**self._labels, **val}
        if len(labels) < len(self._labels) + len(val):
            raise ValueError(f"info of {self}: found {shown(val)}, allowed: names other than {', '.join(self._labels)}")
        checked_series(F64, self._family.name, labels, str(self))
        series = new_series(self._family, labels)
        series.start = series.cell[0] = 1.0
        with STORE.lock:
            if self._is_live:
                if self._series is not None:
                    STORE.remove(self._series)
                self._series = series
                STORE.add(series)

    def _end(self) -> None:
        self._is_live = False
        if self._series is not None:
            STORE.remove(self._series)


__all__ = ["Counter", "Gauge", "Histogram", "Info", "Metric", "PublishedMetrics", "Summary", "publish"]
