"""Keeps the values of prometheus_client in a segment.

    import shm_publisher.prometheus                             # before the first metric
    shm_publisher.prometheus.publish("shop-1", app="shop")

With PROMETHEUS_SHM_SERVER_KEY in the environment, the import is enough; PROMETHEUS_SHM_APP and
PROMETHEUS_SHM_CONTEXT_ID are optional.  This module also starts a program that cannot be changed:
python3 -m shm_publisher.prometheus PROGRAM [ARGUMENTS], or -m MODULE [ARGUMENTS].
"""
from __future__ import annotations

import importlib.util
import os
import re
import runpy
import shutil
import sys
import threading
import weakref
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Optional

import prometheus_client
from prometheus_client import values

from .calls import say
from .checks import shown
from .layout import COUNTER, F64, GAUGE, HISTOGRAM, SUMMARY, UNKNOWN
from .publication import Publication, checked_app
from .registry import PublishedRegistry, publish_registry
from .series import Distribution, Family, Number, new_series
from .store import STORE, PublishedMetrics

KINDS = {"counter": COUNTER, "gauge": GAUGE}
MAX_HELP = 4096
USAGE = """usage: PROMETHEUS_SHM_SERVER_KEY=KEY python3 -m shm_publisher.prometheus PROGRAM [ARGUMENTS]
       PROMETHEUS_SHM_SERVER_KEY=KEY python3 -m shm_publisher.prometheus -m MODULE [ARGUMENTS]"""


class _Value:
    """The interface that prometheus_client expects, with an exemplar, which stays in the process."""

    __slots__ = ("_exemplar",)
    _multiprocess = False

    def set_exemplar(self, exemplar: Any) -> None:
        self._exemplar = exemplar

    def get_exemplar(self) -> Any:
        return self._exemplar


class NumberValue(_Value):
    """The value of a counter or gauge."""

    __slots__ = ("_series", "function", "__weakref__")

    function: Callable[[], float]               # the argument of set_function()

    def __init__(self, family: Family, labels: dict[str, str]) -> None:
        self._exemplar, self._series = None, Number(family, labels)
        STORE.add(self._series)

    def inc(self, amount: float) -> None:
        with STORE.lock:
            self._series.cell[0] += amount

    def set(self, value: float, timestamp: Optional[float] = None) -> None:
        with STORE.lock:
            self._series.cell[0] = value

    def get(self) -> float:
        with STORE.lock:
            return self._series.cell[0]

    def __del__(self) -> None:
        _remove(self)


class _Composite:
    """A histogram or summary.  prometheus_client makes a value for each of its samples, one after the other.  The
    last value completes the series."""

    __slots__ = ("_series", "bounds", "parts")

    def __init__(self) -> None:
        self.bounds: list[float] = []
        self.parts: list[_Part] = []

    def complete(self, family: Family, labels: dict[str, str]) -> None:
        self._series = new_series(family, labels)
        for part in self.parts:
            part._series = self._series
        self.parts.clear()
        STORE.add(self._series)

    def __del__(self) -> None:
        _remove(self)


class _Part(_Value):
    """A sample of a histogram or summary: a unit of its frame."""

    __slots__ = ("_composite", "_series", "_unit")

    _series: Distribution

    def __init__(self, composite: _Composite, unit: int) -> None:
        self._exemplar, self._composite, self._unit = None, composite, unit
        composite.parts.append(self)


class SumValue(_Part):
    __slots__ = ()

    def inc(self, amount: float) -> None:
        with STORE.lock:
            self._series.add(self._unit, amount)

    def get(self) -> float:
        with STORE.lock:
            return self._series.frame[1][self._unit]


class CountValue(_Part):
    __slots__ = ()

    def inc(self, amount: float) -> None:
        with STORE.lock:
            self._series.count(self._unit, int(amount))

    def get(self) -> float:
        with STORE.lock:
            return float(self._series.frame[0][self._unit])


def _remove(value: Any) -> None:
    """Removes the series of a value that nothing refers to any more."""
    series = getattr(value, "_series", None)
    if series is not None and not sys.is_finalizing():
        STORE.remove(series)


# Unfinished histograms and summaries, which lack values of some samples, by thread, name and labels.
_begun: dict[tuple[Any, ...], _Composite] = {}


def new_value(typ: str, metric_name: str, name: str, labelnames: Sequence[str], labelvalues: Sequence[str],
              help_text: str, **_: Any) -> _Value:
    """Takes the place of prometheus_client.values.ValueClass."""
    help_text = str(help_text).encode("utf-8", "replace")[:MAX_HELP].decode("utf-8", "ignore")
    suffix = name[len(metric_name):]
    labels = dict(zip(labelnames, labelvalues))
    if typ == "histogram" and suffix in ("_sum", "_bucket"):
        bound = labels.pop("le", None)
        key = threading.get_ident(), metric_name, *labels.items()
        if bound is None:
            composite = _begun[key] = _Composite()
            return SumValue(composite, 1)
        composite = _begun[key]
        value = CountValue(composite, 2 + len(composite.bounds))
        if bound == "+Inf":
            family = Family(metric_name, help_text, "", HISTOGRAM, UNKNOWN, tuple(composite.bounds))
            _begun.pop(key).complete(family, labels)
        else:
            composite.bounds.append(float(bound))
        return value
    if typ == "summary" and suffix in ("_count", "_sum"):
        key = threading.get_ident(), metric_name, *labels.items()
        if suffix == "_count":
            composite = _begun[key] = _Composite()
            return CountValue(composite, 1)
        composite = _begun.pop(key)
        total = SumValue(composite, 2)
        composite.complete(Family(metric_name, help_text, "", SUMMARY), labels)
        return total
    return NumberValue(Family(name, help_text, "", F64, KINDS.get(typ, UNKNOWN)), labels)


_library_set_function = prometheus_client.Gauge.set_function


def _set_function(gauge: prometheus_client.Gauge, f: Callable[[], float]) -> None:
    """Takes the place of Gauge.set_function: the segment has the result of the function, too."""
    _library_set_function(gauge, f)
    value = gauge._value
    if isinstance(value, NumberValue):
        value.function = f
        reference = weakref.ref(value)          # the function may refer to a child, which must not live for that

        def result() -> float:
            value = reference()
            return 0.0 if value is None else value.function()
        STORE.follow(value._series, result)


def install() -> None:
    """Makes all metrics that follow keep their values here.  The import of this module does it."""
    values.ValueClass = new_value
    prometheus_client.Gauge.set_function = _set_function        # type: ignore[method-assign]


def publish(server_key: str, app: str, *, registry: Any = None, interval: float = 5.0,
            **options: Any) -> PublishedMetrics:
    """Publishes the values of all metrics, as shm_publisher.publish() does.

    A thread copies all else of the registry, by default REGISTRY, every `interval` seconds: infos, enums, and custom
    collectors such as that of the process.  In workers, whose server keys have their pids, all else is not published, as
    in the library's multiprocess mode."""
    return STORE.publish(server_key, app, interval, options, _mirror(server_key, registry, interval))


def _mirror(server_key: str, registry: Any, interval: float) -> Optional[Callable[[Publication], None]]:
    """Returns a function that starts a thread, which copies the metrics of the registry that are not in the segment.
    Returns None for workers, whose server keys have `{pid}`."""
    if "{pid}" in server_key:
        return None

    def begin(publication: Publication) -> None:
        rest = PublishedRegistry(_Rest(registry or prometheus_client.REGISTRY), publication, STORE)
        publication.repeat("registry", interval, rest.update, at_once=True)
    return begin


class _Rest:
    """The metrics of a registry that are not in the segment yet.  Reading all metrics would take long."""

    def __init__(self, registry: Any) -> None:
        self._registry = registry

    def collect(self) -> Iterator[Any]:
        registry = self._registry
        if not isinstance(registry, prometheus_client.CollectorRegistry):
            yield from registry.collect()
            return
        yield from registry.restricted_registry(["target_info"]).collect()
        with registry._lock:
            collectors = list(registry._collector_to_names)
        for collector in collectors:
            if not _is_in_segment(collector):
                yield from collector.collect()


def _is_in_segment(collector: Any) -> bool:
    """Whether all values of a collector are in the segment.  Those of metrics declared before install() are not."""
    if type(collector) not in (prometheus_client.Counter, prometheus_client.Gauge, prometheus_client.Histogram,
                               prometheus_client.Summary):
        return False                            # subclasses may have samples of their own
    children = list(collector._metrics.values()) if collector._labelnames else [collector]
    return all(isinstance(getattr(child, "_sum", None) or getattr(child, "_value", None), _Value) for child in children)


def _app_of(server_key: str) -> str:
    """Returns the name of the application for a server key.  A key may have characters that such a name must not
    have, and may begin with a digit."""
    name = re.sub("[-.]", "_", re.sub(r"[-_.]?\{pid\}", "", server_key))
    return (name if re.match("[A-Za-z]", name) else f"app_{name}")[:64]


def _publish_from_environment() -> None:
    """Publishes as the environment states, from the first metric on."""
    server_key = os.environ.get("PROMETHEUS_SHM_SERVER_KEY", "")
    if not server_key:
        return
    app = os.environ.get("PROMETHEUS_SHM_APP") or _app_of(server_key)
    for name, text, pattern in (
            ("PROMETHEUS_SHM_SERVER_KEY", server_key.replace("{pid}", "1", 1), r"(?!\.)[A-Za-z0-9_.-]{1,64}"),
            ("PROMETHEUS_SHM_APP", app, r"[A-Za-z][A-Za-z0-9_]{0,63}")):
        if not re.fullmatch(pattern, text):
            raise ValueError(f"{name}: found {shown(os.environ.get(name) or app)}, allowed: 1 to 64 letters, digits and _"
                             + (", and a server key may have -, . and one {pid}" if name.endswith("KEY") else
                                ", with a letter first"))
    context_id = os.environ.get("PROMETHEUS_SHM_CONTEXT_ID")
    STORE.publish_later(server_key, checked_app(app), 5.0, {"context_id": context_id} if context_id else {},
                        _mirror(server_key, None, 5.0))


def main(arguments: list[str]) -> None:
    """Runs a Python program whose metrics are published as the environment states."""
    if arguments[:1] in (["-h"], ["--help"]):
        print(USAGE)
        return
    if not arguments or arguments[0] == "-m" and len(arguments) < 2:
        sys.exit(USAGE)
    if not os.environ.get("PROMETHEUS_SHM_SERVER_KEY"):
        sys.exit("PROMETHEUS_SHM_SERVER_KEY: not set, allowed: a server key, such as shop-{pid}")
    if arguments[0] == "-m":
        if not _has_module(arguments[1]):
            sys.exit(f"-m {arguments[1]}: found no module of this name")
        sys.argv = arguments[1:]
        runpy.run_module(arguments[1], run_name="__main__", alter_sys=True)
        return
    program = arguments[0] if os.path.exists(arguments[0]) else shutil.which(arguments[0])
    if program is None:
        sys.exit(f"{arguments[0]}: found no file, and no program in PATH")
    sys.argv = [program, *arguments[1:]]
    sys.path[0] = os.path.dirname(os.path.abspath(program))
    runpy.run_path(program, run_name="__main__")


def _has_module(name: str) -> bool:
    try:
        return importlib.util.find_spec(name) is not None
    except ModuleNotFoundError as error:        # of a package that should have the module, or in its code
        if not f"{name}.".startswith(f"{error.name}."):
            raise
        return False


__all__ = ["install", "publish", "publish_registry"]

if __name__ == "__main__":
    from shm_publisher import prometheus            # the module that programs import
    prometheus.main(sys.argv[1:])
else:
    install()
    if "PROMETHEUS_MULTIPROC_DIR" in os.environ:
        say("PROMETHEUS_MULTIPROC_DIR is set, but shm_publisher.prometheus keeps the metrics in shared memory, so the "
            "directory gets no files: unset the variable, or do without this module")
    _publish_from_environment()
