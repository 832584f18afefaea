"""Publishes the metrics of a registry of prometheus_client in shared memory (docs/publisher-libraries.md).

    from shm_publisher.registry import publish_registry
    publish_registry("shop-1", "shop")      # all metrics of prometheus_client.REGISTRY, every 5 seconds

The exporter shows names, labels, types and help texts as the registry does.  An update of a metric costs nothing more,
since a thread reads the registry.  A forked child needs a call of its own, with another server key.
"""
import threading
from contextlib import nullcontext

from . import layout as shm
from .publication import Publication, Warnings, checked_app, checked_interval

KINDS = {"counter": shm.COUNTER, "gauge": shm.GAUGE, "info": shm.GAUGE, "stateset": shm.GAUGE}


class PublishedRegistry:
    """A registry that a thread publishes until close() or the end of the process."""

    def __init__(self, registry, publication, store=None):
        # If there is a store, the registry leaves out the store's series, and the store's thread stores the heartbeat.
        self._registry, self._publication, self._store = registry, publication, store
        self._publisher, self._root = publication.publisher, publication.root
        self._published = {}                    # variables by series
        self._refused = set()                   # series that no segment can have
        self._warnings = Warnings()
        self._lock, self._is_ended = threading.Lock(), False

    def update(self):
        """Publishes the values of the registry now.  If the registry raises an exception, the last values stay."""
        if not self._publication.is_own:
            self._publisher.notify()            # says that the calls of a forked child do nothing
            return
        with self._lock:
            if self._is_ended:
                return
            try:
                families = list(self._registry.collect())
            except Exception as error:
                self._warnings.tell("", f"the metrics of the registry cannot be collected: {error!r}")
                return
            # Threads that add series take the lock of the store before that of the publisher.
            with nullcontext() if self._store is None else self._store.lock:
                self._take(families)

    def _take(self, families):
        wanted = {}
        for family in families:
            try:
                all_series = list(_series_of(family))
            except (TypeError, ValueError, OverflowError) as error:
                self._warnings.tell(family.name, f"metric {family.name} of the registry is left out: {error}")
                continue
            for series in all_series:
                name, labels, type_, schema, _ = series
                if self._store is None or not self._store.has(name, labels):
                    wanted[name, type_, schema, tuple(sorted(labels.items()))] = family, series
        for key in self._published.keys() - wanted.keys():
            self._published.pop(key).remove()
        self._refused &= wanted.keys()
        for key, (family, series) in wanted.items():
            try:
                self._publish(key, family, *series)
            except ValueError as error:
                self._refuse(key, series, error)
        if self._store is None:
            self._publisher.notify()

    def close(self):
        """Ends the updates, and closes the segment."""
        if self._publication.is_own:            # a thread of the parent may have held the lock
            with self._lock:
                self._is_ended = True
                self._publication.close()

    def _publish(self, key, family, name, labels, type_, schema, value):
        variable = self._published.get(key) or self._add(family, name, labels, type_, schema)
        if not variable.alive:                  # no room: the next update tries again
            return
        self._published[key] = variable
        if type_ == shm.HISTOGRAM:
            variable.set_histogram(*value)
        elif type_ == shm.SUMMARY:
            variable.set_summary(*value)
        else:
            variable.set(value)

    def _refuse(self, key, series, error):
        """Counts a series that cannot be published, and writes a line, once for each metric and rule that it breaks."""
        if key not in self._refused:
            self._refused.add(key)
            self._publisher._count_dropped()
            name, labels, *_ = series
            self._warnings.tell_refusal(name, labels, "of the registry is left out", error)

    def _add(self, family, name, labels, type_, schema):
        kind = KINDS.get(family.type, shm.UNKNOWN) if type_ == shm.F64 else shm.UNKNOWN
        return self._publisher.add_variable(self._root, name, type_, kind=kind, help=family.documentation,
                                            schema=schema, labels=labels, value=None)


def publish_registry(server_key, app, registry=None, *, interval=5.0, **options):
    """Publishes a registry of prometheus_client, by default REGISTRY, and updates it every `interval` seconds.

    `app` is the application by which the exporter selects the target.  `options` are those of Publisher.  The threads
    do not keep the process alive.  Raises the exceptions of Publisher."""
    if registry is None:
        from prometheus_client import REGISTRY as registry
    interval = checked_interval(interval)
    publication = Publication(server_key, checked_app(app), "Registry", options)
    try:
        published = PublishedRegistry(registry, publication)
        published.update()
        publication.publisher.publish()
        publication.close_at_exit(publication.close)            # not that of the registry: a collector may never return
    except BaseException:
        publication.close()
        raise
    publication.repeat("update", interval, published.update)
    publication.repeat("heartbeat", 1, publication.publisher.heartbeat)
    return published


def _series_of(family):
    """The series of a family: name, labels, type, schema, and the value for the set method of the type."""
    if family.type not in ("histogram", "summary"):
        for sample in family.samples:
            if not (family.type == "counter" and sample.name.endswith("_created")):
                yield sample.name, sample.labels, shm.F64, (), sample.value
        return
    own = "le" if family.type == "histogram" else "quantile"
    groups = {}
    for sample in family.samples:
        labels = {name: value for name, value in sample.labels.items() if name != own}
        group = groups.setdefault(tuple(sorted(labels.items())), (labels, {}, {}))
        if own in sample.labels:
            group[1][float(sample.labels[own])] = sample.value
        else:
            group[2][sample.name[len(family.name):]] = sample.value
    for labels, values, totals in groups.values():
        count, total = totals.get("_count", 0), totals.get("_sum", 0.0)
        if own == "quantile":
            schema = tuple(sorted(values))
            yield family.name, labels, shm.SUMMARY, schema, (int(count), total, [values[q] for q in schema])
            continue
        bounds = tuple(sorted(bound for bound in values if bound != float("inf")))
        cumulative = [values[bound] for bound in bounds] + [values.get(float("inf"), count)]
        counts = [int(each - before) for each, before in zip(cumulative, [0, *cumulative])]
        yield family.name, labels, shm.HISTOGRAM, bounds, (counts, total)
