"""The store of all series of the process: publishes them, keeps the segment alive, and begins anew after a fork."""
from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable
from typing import Any, NamedTuple, Optional

from .calls import say
from .forks import BeforeWorkers, FirstUse, watch
from .nodes import Variable
from .publication import Publication, Warnings, checked_app, checked_interval, checked_options, key_of_child
from .series import Number, Series

HEARTBEAT_SECONDS = 1.0
# Larger than the defaults of Publisher: metrics have many series, and only the used part takes memory.
CAPACITIES = {"records": 1 << 16, "strings": 1 << 23, "slots": 1 << 16, "frames": 1 << 23}


class Settings(NamedTuple):
    """The arguments of publish(), with which a forked child publishes, too."""
    server_key: str
    app: str
    interval: float
    options: dict[str, Any]
    on_open: Optional[Callable[[Publication], None]]    # called in the process that calls publish()
    is_deferred: bool = False                   # until the first series; before that, publish() may replace it


class Store:
    """The series of the process.  `lock` guards all values and all structure."""

    def __init__(self) -> None:
        self.lock: Any = threading.RLock()
        self._series: dict[tuple[Any, ...], Series] = {}
        self._settings: Optional[Settings] = None
        self._publication: Optional[Publication] = None
        # Changes of the segment.  A signal handler or __del__ in the middle of one leaves its own to the outer call.
        self._work: deque[tuple[Callable[[Any], None], Any]] = deque()
        self._is_working = False
        self._functions: set[Number] = set()
        self._calling: Optional[Publication] = None     # whose thread calls the functions
        self._warnings = Warnings()

    # -- publishing ----------------------------------------------------------------------------------------

    def publish(self, server_key: str, app: str, interval: float, options: dict[str, Any],
                on_open: Optional[Callable[[Publication], None]] = None) -> PublishedMetrics:
        """Publishes all series, and those that follow."""
        checked_options(options)
        settings = Settings(server_key, checked_app(app), checked_interval(interval), {**CAPACITIES, **options}, on_open)
        if isinstance(self.lock, (FirstUse, BeforeWorkers)):
            # A forked child, or a worker of uWSGI, publishes with these arguments instead of those of its parent.
            self.lock.begin(opens=False)
        with self.lock:
            if isinstance(self.lock, BeforeWorkers):
                former = self._settings
                if former is not None and (self._series or not former.is_deferred):
                    raise _second_call(f"have the server key {former.server_key}")
                self._settings = settings
                return PublishedMetrics(self, None)
            if self._publication is not None:
                raise _second_call(f"are in {self._publication.publisher.path}")
            publication = self._open(settings, is_child=False)
            self._settings = settings
            return PublishedMetrics(self, publication)

    def publish_later(self, server_key: str, app: str, interval: float, options: dict[str, Any],
                      on_open: Optional[Callable[[Publication], None]]) -> None:
        """Publishes from the first series on."""
        with self.lock:
            self._settings = Settings(server_key, app, interval, {**CAPACITIES, **options}, on_open, is_deferred=True)

    def _try_to_open(self, is_child: bool) -> None:
        """Opens the segment in the middle of an update, which must not fail for it."""
        if self._settings is not None and not isinstance(self.lock, BeforeWorkers):
            try:
                self._open(self._settings, is_child)
            except Exception as error:
                self._settings = None
                say(f"the metrics of process {os.getpid()} are not published: {error}")

    def _open(self, settings: Settings, is_child: bool) -> Publication:
        key = key_of_child(settings.server_key) if is_child else settings.server_key
        publication = Publication(key, settings.app, "Metrics", settings.options)
        self._publication = publication
        try:
            for series in list(self._series.values()):
                self._work.append((self._enter, series))
            self._do_work()
            publication.publisher._publish()    # leaves the segment open if it fails, since series are in it
            period = settings.options.get("heartbeat_period") or HEARTBEAT_SECONDS
            publication.repeat("heartbeat", min(HEARTBEAT_SECONDS, period), lambda: self._beat(publication))
            self._start_functions(settings)
            publication.close_at_exit(lambda: self.close(publication))
            if settings.on_open is not None and not is_child:
                settings.on_open(publication)
        except BaseException:
            self._leave_all()
            publication.close()
            raise
        return publication

    def _leave_all(self) -> None:
        self._publication = None
        self._work.clear()
        for series in list(self._series.values()):
            series.leave()
            series.is_tried = False             # which concerns this segment only

    def close(self, only: Optional[Publication] = None) -> None:
        """Closes the segment, or only the given one.  The series go on in the memory of the process."""
        if only is not None and not only.is_own:
            return                              # a forked child
        with self.lock:
            publication = self._publication
            if isinstance(self.lock, BeforeWorkers):
                self._settings = None           # so workers publish nothing
            elif publication is not None and only in (None, publication):
                self._settings = None
                self._leave_all()
                publication.close()

    def has(self, name: str, labels: dict[str, str]) -> bool:
        """Whether there is a series with this name and these labels."""
        return (name, *sorted(labels.items())) in self._series

    def _beat(self, publication: Publication) -> None:
        with self.lock:
            if self._publication is publication and not self._is_working:
                try:
                    self._is_working = True
                    publication.publisher.notify()
                finally:
                    self._is_working = False
                self._do_work()

    # -- series --------------------------------------------------------------------------------------------

    def add(self, series: Series) -> None:
        """Adds a series.  It takes the place of an equal one."""
        with self.lock:
            former = self._series.get(series.key)
            if former is not None:
                self.remove(former)
            self._series[series.key] = series
            if self._publication is None:
                self._try_to_open(is_child=False)
            else:
                self._work.append((self._enter, series))
                self._do_work()

    def remove(self, series: Series) -> None:
        """Removes a series.  Its updates go to the memory of the process from now on."""
        with self.lock:
            if self._series.get(series.key) is series:
                del self._series[series.key]
            self._functions.discard(series)     # type: ignore[arg-type]
            variable = series.leave()
            if variable is not None:
                self._work.append((Variable.remove, variable))
                self._do_work()

    def drop(self, metric: str, why: str) -> None:
        """Counts a series that is not published, and says why, once for each metric."""
        with self.lock:
            if self._publication is not None:
                self._publication.publisher._count_dropped()
        self.tell(metric, why)

    def tell(self, metric: str, why: str) -> None:
        """Writes a line about a metric to stderr, once."""
        self._warnings.tell(metric, f"metric {metric}: {why}")

    def _do_work(self) -> None:
        """Does the work in order.  The lock is held.  What an exception of a signal handler interrupts is repeated."""
        if self._is_working:
            return
        try:
            self._is_working = True
            while self._work:
                call, argument = self._work[0]
                call(argument)
                self._work.popleft()
        finally:
            self._is_working = False

    def _enter(self, series: Series) -> None:
        publication, family = self._publication, series.family
        if publication is None or series.variable is not None or self._series.get(series.key) is not series:
            return
        try:
            variable = self._added_before(series, publication) if series.is_tried else None
            series.is_tried = True
            if variable is None:
                variable = publication.publisher.add_variable(
                    publication.root, family.name, family.type, kind=family.kind, unit=family.unit, help=family.help,
                    schema=family.bounds, labels=series.labels,
                    **({"value": series.first()} if isinstance(series, Number) else {}))
        except ValueError as error:
            publication.publisher._count_dropped()
            self._warnings.tell_refusal(family.name, series.labels, "is not published", error)
            return
        if variable.alive:
            series.enter(variable)
        else:
            self.tell(family.name, "not all of its series are published, since the segment is full: pass larger records, "
                                   "strings, slots and frames to publish()")

    def _added_before(self, series: Series, publication: Publication) -> Optional[Variable]:
        """Returns the variable of an addition that an exception interrupted."""
        text = series.text()
        return next((each for each in publication.root._children.values() if each.name == text), None)

    # -- functions -----------------------------------------------------------------------------------------

    def follow(self, series: Number, function: Callable[[], float]) -> None:
        """Sets a series to the result of a function, now and at each interval."""
        with self.lock:
            if self._series.get(series.key) is not series:
                return                          # it was removed
            series.function = function
            self._functions.add(series)
            if self._settings is not None:
                self._start_functions(self._settings)
        self._call_function(series)

    def _start_functions(self, settings: Settings) -> None:
        """Starts the thread that calls the functions, if there are any."""
        publication = self._publication
        if self._functions and publication is not None and self._calling is not publication:
            self._calling = publication
            publication.repeat("functions", settings.interval, self._call_functions, at_once=True)

    def _call_functions(self) -> None:
        with self.lock:
            functions = list(self._functions)
        for series in functions:
            self._call_function(series)

    def _call_function(self, series: Number) -> None:
        function = series.function
        if function is None:
            return
        try:
            value = float(function())
        except Exception as error:              # the last value stays
            self.tell(series.family.name, f"its function failed: {error!r}")
            return
        with self.lock:
            if series.function is function:
                series.cell[0] = value

    # -- forks ---------------------------------------------------------------------------------------------

    def open_in_worker(self, opens: bool) -> None:
        """Publishes in the process that loaded the application, once it is a worker of uWSGI itself."""
        if opens:
            self._try_to_open(is_child=False)
        else:
            self._settings = None

    def begin_in_child(self, opens: bool) -> None:
        """Begins anew in a forked child: all values except infos are 0, and go to a segment of its own.  Values that
        are not published stay, so that a program may become a daemon before publish()."""
        publication = self._publication
        if publication is not None and publication.is_own:      # an exception interrupted the first call
            self._leave_all()
            publication.close()
        self._publication = None
        self._work.clear()
        self._is_working = False
        if self._settings is None:
            return
        for series in list(self._series.values()):
            function = getattr(series, "function", None)
            series.reset()
            series.is_tried = False
            if function is not None:
                series.function = function      # type: ignore[attr-defined]
        if opens:
            self._try_to_open(is_child=True)
        else:
            self._settings = None


def _second_call(where: str) -> ValueError:
    return ValueError(f"publish: found a second call, allowed: one until close(), since the metrics {where} already")


class PublishedMetrics:
    """The published metrics, until close() or the end of the process."""

    def __init__(self, store: Store, publication: Optional[Publication]) -> None:
        self._store, self._publication = store, publication     # None while uWSGI has no workers
        self._pid, self._is_closed = os.getpid(), False

    @property
    def path(self) -> str:
        """The file of the segment; empty if uWSGI had no workers at the call of publish()."""
        return "" if self._publication is None else self._publication.publisher.path

    @property
    def holds_key(self) -> bool:
        """Whether readers could find the segment by its name at the last heartbeat."""
        return self._publication is not None and self._publication.publisher.holds_key

    def close(self) -> None:
        """Closes the segment.  The metrics keep their values, and publish() may follow."""
        # A forked child has its own, and a second call must not end what publish() has published since.
        if os.getpid() == self._pid and not self._is_closed:
            self._store.close(self._publication)
            self._is_closed = True

    def __enter__(self) -> PublishedMetrics:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


STORE = Store()
watch(STORE)
