"""Checks the metrics of the package: their values in the segment, read as check.py does, in threads, forked children and
signal handlers."""
import asyncio, glob, math, os, random, signal, subprocess, sys, threading, time
from bisect import bisect_left
import check
from check import CTX, FILES, HERE, Seg, at_every_line, ok, path, stderr_of, until
import shm_publisher as shm
from shm_publisher import forks as forks_module, metrics, publication, store
import struct
from datetime import timedelta
from types import SimpleNamespace

number = 0
SMALL = {"records": 1024, "strings": 1 << 16, "slots": 1024, "frames": 1 << 16}


def name(stem):
    """A name that no other check has."""
    global number
    number += 1
    return f"{stem}_{number}"


def published(key, **options):
    return shm.publish(key, "checked", context_id=CTX, **options)


def raises(kind, call, *args):
    ok(check.raises(kind, lambda: call(*args)), f"{kind.__name__} of {call} with {args}")


def float_of(variable):
    return struct.unpack("<d", struct.pack("<Q", variable["value"]))[0]


def values_of(file):
    """Returns the values of all series of a segment: a number, or (bucket counts or count, sum)."""
    values = {}
    for v in Seg(file).vars.values():
        ok(v["name"] not in values and v["synced"] and v["flags"] == 1, "each series once, with a value")
        if v["type"] == 3:
            values[v["name"]] = float_of(v)
        elif v["type"] == 6:
            total, *counts = struct.unpack(f"<d{len(v['schema']) + 1}Q", v["frame"][8:-8])
            values[v["name"]] = counts, total
        else:
            values[v["name"]] = struct.unpack("<Qd", v["frame"][8:24])
    return values


def declared():
    """Values before and after publish(), names, types and help texts."""
    counter = shm.Counter("jobs", "Jobs.", ("queue",), "shop", "till", "things")
    gauge = shm.Gauge("shop_open", "Open.")
    counter.labels("a").inc(2)
    gauge.set(7)
    timer = shm.Histogram("shop_delay", "Delay.", unit="seconds", buckets=(1, "2", float("inf")))
    timer.observe(1.5)
    with published("declared") as all_metrics:
        g = Seg(path("declared"))
        root, = g.objects.values()
        ok(root["cls"] == "Metrics" and root["name"].endswith(f".{os.getpid()}.checked"), "one root")
        v = g.var('shop_till_jobs_things_total{queue="a"}')
        ok((v["type"], v["kind"], v["unit"], v["help"], float_of(v)) == (3, 1, "things", "Jobs.", 2), "a counter")
        ok((g.var("shop_open")["kind"], float_of(g.var("shop_open"))) == (2, 7), "a gauge")
        ok(g.var("shop_delay_seconds")["schema"] == [1, 2], "bounds without +Inf")
        ok(all_metrics.holds_key and all_metrics.path == path("declared"), "where it is")
        counter.labels(queue="a").inc()
        raises(ValueError, published, "twice")
        before = g.heartbeat, g.tick
        until(lambda: (Seg(path("declared")).heartbeat, Seg(path("declared")).tick) > before, "in time")
    ok(not os.path.exists(path("declared")), "closed")
    counter.labels("a").inc()
    with published("again"):
        values = values_of(path("again"))
        ok(values['shop_till_jobs_things_total{queue="a"}'] == 4 and values["shop_delay_seconds"] == ([0, 1, 0], 1.5),
           "values go on after close()")
    for call in (lambda: shm.Counter("shop_open_total", "", ["a", "a"]), lambda: shm.Gauge("shop_open", "Again."),
                 lambda: shm.Gauge("a-b", ""), lambda: shm.Gauge(name("g"), "", ["__a"]), lambda: shm.Gauge(name("g"), "", "ab"),
                 lambda: shm.Summary(name("s"), "", ["quantile"]), lambda: shm.Histogram(name("h"), "", buckets=[2, 1]),
                 lambda: shm.Gauge(name("g"), 5), lambda: counter.inc(), lambda: counter.labels("a", "b"), lambda: counter.labels(),
                 lambda: counter.labels(other="a"), lambda: counter.labels("a").labels("b"), lambda: gauge.labels("a"),
                 lambda: counter.labels("a").inc(-1), lambda: counter.labels("a").inc(math.nan), lambda: gauge.set("a"),
                 lambda: gauge.inc(None), lambda: timer.observe(math.nan), lambda: gauge.remove("a"), lambda: gauge.clear(),
                 lambda: gauge.set_function(1),
                 lambda: shm.publish("a b", "c"), lambda: shm.publish("a", "b-c"), lambda: shm.publish("a", "b", interval=0)):
        raises(ValueError, call)
    raises(TypeError, lambda: shm.publish("a", "b", recrds=5))


def messages():
    """Messages name the function or class that was called, the argument, what was found and what is allowed."""
    counter = shm.Counter(name("message"), "")
    for kind, call, *words in (
            (ValueError, lambda: shm.publish(12, "a"), "server_key: found 12"),
            (ValueError, lambda: shm.publish("{pid}-{pid}", "a"), "server_key: found '{pid}-{pid}'", 'at most one "{pid}"'),
            (ValueError, lambda: shm.publish("a b-{pid}", "a"), "server_key: found 'a b-{pid}'"),
            (ValueError, lambda: published("a", mode="600"), "mode: found '600'", "0o600"),
            (ValueError, lambda: published("a", mode=600), "mode: found 600", "0o600"),
            (TypeError, lambda: published("a", slot=3), "publish: found the argument slot", "slots"),
            (TypeError, lambda: shm.Counter("a", "", labelname=["b"]), "labelname"),
            (ValueError, lambda: shm.Counter("my-counter", ""), "found 'my-counter_total', allowed as a metric's name"),
            (ValueError, lambda: shm.Gauge("a", "", unit="s s"), "unit of Gauge 'a': found 's s'"),
            (ValueError, lambda: shm.Gauge("a", "", namespace="b-c"), "namespace of Gauge 'a': found 'b-c'"),
            (ValueError, lambda: shm.Gauge("a", "", 3), "labelnames of Gauge 'a': found 3"),
            (ValueError, lambda: shm.Histogram("a", "", buckets=["b"]), "buckets of Histogram 'a': found ['b']"),
            (ValueError, lambda: shm.Histogram("a", "", buckets=3), "buckets of Histogram 'a': found 3"),
            (ValueError, lambda: counter.inc("2"), "found '2', allowed: numbers"),
            (ValueError, lambda: counter.inc(-2), "found -2", "does not fall"),
            (ValueError, lambda: counter.inc(10**400), "does not fall"),
            (ValueError, lambda: shm.Info(name("message"), "").info("a"), "found 'a', allowed: a dict"),
            (ValueError, lambda: shm.Counter("", ""), "name of Counter: found ''"),
            (ValueError, lambda: shm.Counter("_total", ""), "name of Counter: found '_total'"),
            (ValueError, lambda: shm.Gauge("", ""), "name of Gauge: found ''")):
        ok(check.raises(kind, call, *words), words)


class Model:
    """What the segment must have: the sums that a plain program keeps."""

    def __init__(self):
        self.values, self.kept = {}, []
        self.counter = shm.Counter(name("model_counter"), "", ["id"], max_children=20_000)
        self.gauge = shm.Gauge(name("model_gauge"), "", ["id"], max_children=20_000)
        self.histogram = shm.Histogram(name("model_histogram"), "", ["id"], buckets=(1, 10), max_children=20_000)
        self.summary = shm.Summary(name("model_summary"), "", ["id"], max_children=20_000)

    def metrics(self):
        return self.counter, self.gauge, self.histogram, self.summary

    def act(self, random):
        metric, label = random.choice(self.metrics()), str(random.randrange(2000))
        key = f'{metric._family.name}{{id="{label}"}}'
        if random.random() < .45:
            self.kept.append(metric.labels(label))
            self.values.pop(key, None)
            metric.remove(label)
            return
        if random.random() < .2 and self.kept:                  # a removed child: its updates go nowhere
            child = random.choice(self.kept)
            child.observe(1e6) if hasattr(child, "observe") else child.inc(1e6)
        child, value = metric.labels(label), random.choice((.5, 1, 5, 100))
        if metric is self.counter:
            child.inc(value)
            self.values[key] = self.values.get(key, 0) + value
        elif metric is self.gauge:
            child.set(value)
            self.values[key] = value
        else:
            child.observe(value)
            if metric is self.histogram:
                counts, total = self.values.get(key, ([0, 0, 0], 0))
                counts[bisect_left((1, 10), value)] += 1
                self.values[key] = counts, total + value
            else:
                count, total = self.values.get(key, (0, 0))
                self.values[key] = count + 1, total + value


def model():
    """Adds and removes more than 10,000 children, and compares all values with those of a model."""
    seed = random.randrange(1 << 32)
    generator = random.Random(seed)
    m = Model()
    with published("model"):
        for step in range(23_000):
            m.act(generator)
            if step % 11_500 == 11_499:
                shown = {key: value for key, value in values_of(path("model")).items() if key.startswith("model_")}
                ok(shown == m.values, f"the values of the model, seed {seed}")
        ok(len(m.kept) > 10_000, "children were removed")
        for metric in m.metrics():
            metric.clear()
        ok(not any(key.startswith("model_") for key in values_of(path("model"))), "nothing after clear()")


def threads():
    """Threads add and remove children, and keep others.  No update is lost or lands elsewhere."""
    requests, passing = shm.Counter(name("thread_requests"), "", ["code"]), shm.Gauge(name("passing"), "", ["id"])
    delay = shm.Histogram(name("thread_delay"), "", buckets=(1,))
    rounds, count, errors = 800, 4, []
    before = sys.getswitchinterval()

    def run(number):
        try:
            kept = requests.labels("200")
            for each in range(rounds):
                kept.inc()
                requests.labels("500").inc(2)
                delay.observe(each % 2 * 2)
                passing.labels(f"{number}-{each}").set(1)
                late = passing.labels(f"{number}-{each}")
                passing.remove(f"{number}-{each}")
                late.inc(1e9)
        except BaseException as error:
            errors.append(error)
    with published("threads"):
        sys.setswitchinterval(1e-6)
        try:
            all_threads = [threading.Thread(target=run, args=(n,)) for n in range(count)]
            for each in all_threads:
                each.start()
            for each in all_threads:
                each.join()
        finally:
            sys.setswitchinterval(before)
        ok(not errors, f"no error: {errors}")
        values, n = values_of(path("threads")), rounds * count
        ok(values[f'{requests._family.name}{{code="200"}}'] == n, "no increment is lost")
        ok(values[f'{requests._family.name}{{code="500"}}'] == 2 * n, "no increment of a looked-up child is lost")
        ok(values[delay._family.name] == ([n // 2, n // 2], n), "no observation is lost")
        ok(not any(key.startswith(passing._family.name) for key in values), "all removed")


def too_many():
    """Further label sets are not published, but counted and told once."""
    metric = shm.Counter(name("many"), "", ["id"], max_children=3)
    with published("many"):
        said = stderr_of(lambda: [metric.labels(each).inc() for each in range(6)])
        g = Seg(path("many"))
        ok(sum(v["name"].startswith(metric._family.name) for v in g.vars.values()) == 3, "three children")
        ok(g.dropped == (0, 3), "three are counted")
        ok(said.count("\n") == 1 and metric._family.name in said and "max_children" in said and "3 label sets" in said, said)
        metric.remove(0)
        metric.labels("new").inc()
        ok(values_of(path("many"))[f'{metric._family.name}{{id="new"}}'] == 1, "a removal makes room")
    full = shm.Histogram(name("full"), "", ["id"])
    with published("full", frames=1024):
        said = stderr_of(lambda: [full.labels(each).observe(1) for each in range(20)])
        g = Seg(path("full"))
        ok(said.count(full._family.name) == 1 and "the segment is full" in said and g.dropped[1] > 5, said)
    for metric in full, :
        metric.clear()


def invalid_label_sets():
    """Label sets that cannot be published are counted, with one line for each rule that they break."""
    metric = shm.Counter(name("invalid"), "", ["id"])
    with published("invalid"):
        said = stderr_of(lambda: [metric.labels(each).inc() for each in ("\udc80", "x" * 100_000, "\udc81", "y" * 100_000, "a")])
        shown, lines = values_of(path("invalid")), said.splitlines()
        ok([shown[each] for each in shown if each.startswith(metric._family.name)] == [1], "the others are published")
        ok(Seg(path("invalid")).dropped == (0, 4), "all are counted")
        start = f"shm_publisher: one label set of metric {metric._family.name} is not published: "
        ok(len(lines) == 2 and all(each.startswith(start) for each in lines), said)
        ok("lone surrogates" in lines[0] and "at most 4096 bytes" in lines[1], said)
    metric.clear()


def blocks():
    """Timers, trackers and counters of exceptions, as blocks and as decorators."""
    delay, active, last = shm.Summary(name("delay"), ""), shm.Gauge(name("active"), ""), shm.Gauge(name("last"), "")
    failures = shm.Counter(name("failures"), "")

    @delay.time()
    @active.track_inprogress()
    @failures.count_exceptions((ValueError, KeyError))
    def work(error=None):
        """Works."""
        ok(values_of(path("blocks"))[active._family.name] == 1, "in progress")
        if error:
            raise error
        return 5
    with published("blocks"):
        ok(work() == 5 and work.__name__ == "work" and work.__doc__ == "Works.", "a decorated function")
        raises(KeyError, work, KeyError())
        raises(OSError, work, OSError())
        with last.time(), delay.time(), failures.count_exceptions():
            pass
        last.set_to_current_time()
        values = values_of(path("blocks"))
        ok(values[delay._family.name][0] == 4 and values[delay._family.name][1] > 0, "each call is timed")
        ok(values[active._family.name] == 0 and values[failures._family.name] == 1, "counted")
        ok(abs(values[last._family.name] - time.time()) < 600, "the time")


def coroutines():
    """A decorated coroutine function counts until its coroutine ends, and its exceptions."""
    delay, active, failures = shm.Histogram(name("delay"), ""), shm.Gauge(name("active"), ""), shm.Counter(name("failures"), "")

    @delay.time()
    @active.track_inprogress()
    @failures.count_exceptions()
    async def work(go):
        await go.wait()
        raise KeyError

    async def run():
        go = asyncio.Event()
        tasks = [asyncio.ensure_future(work(go)) for _ in range(2)]
        await asyncio.sleep(0)
        ok(values_of(path("coroutines"))[active._family.name] == 2, "two in progress")
        go.set()
        ok([type(each) for each in await asyncio.gather(*tasks, return_exceptions=True)] == [KeyError] * 2, "both fail")
    with published("coroutines"):
        asyncio.run(run())
        values = values_of(path("coroutines"))
        ok((values[active._family.name], values[failures._family.name], sum(values[delay._family.name][0])) == (0, 2, 2), "ended")


def blocks_without_labels():
    """Blocks of a metric with labels need label values, and never hide the exception of the block."""
    delay, active, failures = (kind(name("labelled"), "", ["a"]) for kind in (shm.Histogram, shm.Gauge, shm.Counter))
    for call in failures.count_exceptions, active.track_inprogress, lambda: delay.time()(len), lambda: active.time()(len):
        ok(check.raises(ValueError, call, "labels a", "call labels() first"), "refused")
    with published("unlabelled"):
        def work(label, error=None):
            with delay.time() as timer:
                if error:
                    raise error
                if label:
                    timer.labels(a=label)
        work("late")
        ok(values_of(path("unlabelled"))[f'{delay._family.name}{{a="late"}}'][0][-1] == 0, "the child of Timer.labels()")
        raises(KeyError, work, "", KeyError())
        ok(check.raises(ValueError, lambda: work(""), "time of Histogram", "labels a"), "no label values")


def clashes():
    """Two metrics may not have samples of the same name."""
    histogram, summary = shm.Histogram(stem := name("clash"), ""), shm.Summary(other := name("clash"), "")
    for kind, full in (shm.Gauge, f"{stem}_count"), (shm.Gauge, f"{stem}_bucket"), (shm.Gauge, f"{other}_sum"):
        ok(check.raises(ValueError, lambda: kind(full, ""), full, "is a sample of"), "refused")
    for kind in shm.Gauge, shm.Histogram:
        ok(check.raises(ValueError, lambda: kind(stem, ""), f"name of {kind.__name__}", f"Histogram {stem} is declared already"),
           "refused")
    third = name("clash")
    shm.Gauge(f"{third}_sum", "")
    raises(ValueError, shm.Histogram, third, "")
    shm.Gauge(third, "")                                # the refused histogram has no names


def labels_of_other_types():
    """Label values become strings, and equal numbers of different types are different values."""
    metric = shm.Counter(name("typed"), "", ["a", "b"])
    ok(metric.labels(1, 2) is metric.labels("1", 2) is metric.labels(b="2", a=1), "integers")
    ok(len({metric.labels(each, 0)._labels["a"] for each in (1, True, 1.0)}) == 3, "not the same text")


def dead_workers():
    """A worker removes what killed workers left, and no other segment whose key looks like that of a worker."""
    text = ("import os, signal, sys, shm_publisher as shm\n"
            "shm.publish(sys.argv[1], 'checked', context_id=sys.argv[2])\nos.kill(os.getpid(), signal.SIGKILL)")

    def killed(key):
        process = subprocess.Popen([sys.executable, "-c", text, key, CTX])
        process.wait()
        return path(key.replace("{pid}", str(process.pid)))
    others = [killed("dead-7.v1"), killed("dead-{pid}.v2")]
    left = killed("dead-{pid}")
    with shm.Publisher("dead-{pid}", CTX) as publisher:     # also without metrics
        ok(publisher.path == path(f"dead-{os.getpid()}"), "the pid")
        publisher.publish()
        ok(not os.path.exists(left) and all(map(os.path.exists, others)), "only that of a process with such a key")
    gone = killed("dead-{pid}.v1")
    ok(os.path.exists(gone), "left behind")
    with published("dead-{pid}.v1"):
        ok(not os.path.exists(gone) and all(map(os.path.exists, others)), "only that of a worker")
    for other in others:
        os.unlink(other)
    # The segment of a pid that a process has again stays, and so does a file that is no segment.
    gone, used, empty = killed("dead-{pid}.v1"), path(f"dead-{os.getppid()}.v1"), path("dead-0.v1")
    with open(gone, "r+b") as file:
        file.seek(64)
        file.write(struct.pack("<Q", os.getppid()))
    os.rename(gone, used)
    open(empty, "x").close()
    with published("dead-{pid}.v1"):
        pass
    for each in used, empty:
        os.unlink(each)
    # A process that is killed while it replaces a segment leaves a temporary file.
    left = killed("dead-{pid}.v1")
    draft = left.replace(CTX, f".{CTX}") + ".4711.0123abcd.tmp"
    os.rename(left, draft)
    with published("dead-{pid}.v1"):
        ok(not os.path.exists(draft), "removed, too")


def functions():
    """The results of functions, also of those that fail."""
    gauge, failing, calls = shm.Gauge(name("function"), ""), shm.Gauge(name("failing"), "", ["a"]), []
    gauge.set_function(lambda: calls.append(1) or len(calls))
    with published("functions", interval=.02):
        first = values_of(path("functions"))[gauge._family.name]
        until(lambda: values_of(path("functions"))[gauge._family.name] > first, "in time")
        failing.labels("b").set(3)
        said = stderr_of(lambda: [failing.labels("b").set_function(lambda: 1 // 0) for _ in range(2)])
        ok(said.count("ZeroDivisionError") == 1 and failing._family.name in said, said)
        ok(values_of(path("functions"))[f'{failing._family.name}{{a="b"}}'] == 3, "the last value stays")
        removed = failing.labels("b")
        failing.remove("b")
        removed.set_function(lambda: ok(False, "called"))
        ok(removed._series not in store.STORE._functions, "not called once it is removed")
    failing.clear()


def infos():
    build, parts = shm.Info("shop_build", "Build."), shm.Info(name("part"), "", ["id"])
    with published("infos"):
        ok("shop_build_info" not in values_of(path("infos")), "no series without texts")
        build.info({"version": "1"})
        build.info({"version": "2", "revision": "a"})
        parts.labels("7").info({"color": "red"})
        raises(ValueError, parts.labels("7").info, {"id": "8"})
        raises(ValueError, parts.info, {"color": "red"})
        values = values_of(path("infos"))
        ok(values['shop_build_info{version="2",revision="a"}'] == 1, "the last texts")
        ok(sum("shop_build" in key for key in values) == 1, "only the last texts")
        removed = parts.labels("7")
        parts.remove("7")
        removed.info({"color": "blue"})
        ok(not any("part" in key for key in values_of(path("infos"))), "removed")


CHILD = """
import os, signal, sys, time
import shm_publisher as shm
requests = shm.Counter("fork_requests", "", ["code"])
kept, open_ = requests.labels("200"), shm.Gauge("fork_open", "")
delay = shm.Histogram("fork_delay", "", buckets=[1])
kept.inc(5); delay.observe(3)
key, context, action = sys.argv[1:]
shm.publish(key, "checked", context_id=context)
def say(*words): os.write(1, (" ".join(map(str, words)) + "\\n").encode())
if action == "unused":
    if os.fork() == 0:
        say("child", os.getpid()); time.sleep(60)
    signal.pause()
pid = os.fork()
if pid == 0:
    kept.inc(); delay.observe(0.5); requests.labels("500").inc(2)
    say("child", os.getpid())
    if action == "grandchild" and os.fork() == 0:
        requests.labels("200").inc(7)
        say("grandchild", os.getpid())
        signal.pause()
    if action == "killed":
        os.kill(os.getpid(), signal.SIGKILL)
    if action == "exit":
        sys.exit(0)
    signal.pause()
if action in ("killed", "exit"):
    os.waitpid(pid, 0); say("ended")
    sys.stdin.readline()
    if os.fork() == 0:
        kept.inc(); say("next", os.getpid()); signal.pause()
kept.inc()
say("parent", os.getpid())
signal.pause()
"""


class Forking:
    """The program above, and the pids that its processes state."""

    def __init__(self, key, action):
        self.key, words = key, [sys.executable, "-c", CHILD, key, CTX, action]
        self.process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.pids = {}

    def until(self, *names):
        while not all(each in self.pids for each in names):
            word, *pid = self.process.stdout.readline().split()
            self.pids[word] = int(pid[0]) if pid else 0
        return [self.pids[each] for each in names]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for word, pid in self.pids.items():
            if word not in ("parent", "ended"):
                try:
                    os.kill(pid, signal.SIGKILL)
                except ProcessLookupError:
                    pass
        self.process.kill()
        self.process.wait()
        for word, pid in self.pids.items():
            until(lambda: not os.path.exists(f"/proc/{pid}") or word == "ended", "its processes end")
        self.process.stdin.close(), self.process.stdout.close()
        for left in glob.glob(path(f"{self.key.partition('{')[0][:50]}*")):
            os.unlink(left)


def forks():
    """A forked child has a segment of its own from its first update on, whose values begin at 0."""
    with Forking("forks", "grandchild") as f:
        child, grandchild, _ = f.until("child", "grandchild", "parent")
        of = [values_of(path(key)) for key in ("forks", f"forks-{child}", f"forks-{grandchild}")]
        ok([each['fork_requests_total{code="200"}'] for each in of] == [6, 1, 7], "the requests of each process")
        ok([each["fork_delay"] for each in of] == [([0, 1], 3.0), ([1, 0], .5), ([0, 0], 0)], "its observations")
        ok([each.get('fork_requests_total{code="500"}') for each in of] == [None, 2, 0], "its children")
        ok(next(iter(Seg(path(f"forks-{child}")).objects.values()))["name"].endswith(f".{child}.checked"), "its root")
        beat = Seg(path(f"forks-{child}")).heartbeat
        until(lambda: Seg(path(f"forks-{child}")).heartbeat > beat, "in time")
    with Forking("unused", "unused") as f:
        f.until("child")
        time.sleep(.1)
        ok(glob.glob(path("unused*")) == [path("unused")], "a child without updates has no segment")
    long = "k" * 64
    with Forking(long, "stay") as f:
        child, = f.until("child")
        ok(os.path.exists(path(f"{long[:63 - len(str(child))]}-{child}")), "the key has 64 characters")
    with Forking("pid-{pid}.x", "killed") as f:
        child, _ = f.until("child", "ended")
        ok(os.path.exists(path(f"pid-{child}.x")), "a killed child leaves its segment")
        f.process.stdin.write("\n"), f.process.stdin.flush()
        following, _ = f.until("next", "parent")
        ok(sorted(glob.glob(path("pid-*"))) == sorted(path(f"pid-{pid}.x") for pid in (f.process.pid, following)),
           "the next child removes it, and leaves the segments of live processes")
    with Forking("exits", "exit") as f:
        child, _ = f.until("child", "ended")
        ok(not os.path.exists(path(f"exits-{child}")), "a child that ends closes its segment")


def without_handlers(files):
    """Returns the lines at which no signal handler runs: the start of a block, and between the last call of a block and
    the release of its lock, or the end of the work."""
    lines = set()
    for file in files:
        with open(file) as source:
            lines |= {(file, line) for line, text in enumerate(source, 1) if file not in FILES and text.lstrip()
                      .startswith(("with ", "try:", "self._is_working = False", "self._is_beginning = False"))}
    return lines


def handlers():
    """A signal handler updates, adds and removes children in the middle of a change."""
    metric, other = shm.Counter(name("handled"), "", ["id"], max_children=10_000), shm.Counter(name("other"), "")
    files = store.__file__, metrics.__file__, publication.__file__, *FILES
    where = {"files": files, "skips": without_handlers(files)}
    calls, added = 0, 0

    def handle():
        nonlocal calls
        calls += 1
        other.inc()
        metric.labels("handler").inc()
        metric.labels("passing").inc()
        metric.remove("passing")

    def add():
        nonlocal added
        added += 1
        metric.labels(added).inc()

    def add_and_remove():
        metric.labels("x").inc()
        metric.remove("x")
    with published("handlers"):
        for call in add, add_and_remove, other.inc:
            for came in at_every_line(call, handle, **where):
                pass
        metric.labels("last")                   # does what a handler has left
        values, stem = values_of(path("handlers")), metric._family.name
        ok(values[f'{stem}{{id="handler"}}'] == calls > 100, "no increment of a handler is lost")
        ok(all(values[f'{stem}{{id="{each}"}}'] == 1 for each in range(1, added + 1)), "all children are there")
        ok(f'{stem}{{id="passing"}}' not in values and f'{stem}{{id="x"}}' not in values, "removed children are gone")

    def interrupt():
        raise KeyboardInterrupt
    with published("interrupted"):
        for call in add, add_and_remove:
            for came in at_every_line(call, interrupt, **where):
                thread = threading.Thread(target=other.inc, daemon=True)
                thread.start(), thread.join(60)
                ok(not thread.is_alive(), "other threads go on")
        metric.labels("last")
        values_of(path("interrupted"))          # each series once, and all with values


def names_taken_away():
    """The segment gets its name again, and no update is lost meanwhile."""
    metric = shm.Counter(name("away"), "")
    with published("away"):
        os.unlink(path("away"))
        n = 0
        end = time.monotonic() + 60
        while not os.path.exists(path("away")) and time.monotonic() < end:
            metric.inc()
            n += 1
        ok(values_of(path("away"))[metric._family.name] == n, "all increments")


def refused():
    """A publish() that fails leaves the values in the process, and a wrong observation no frame half written."""
    counter, delay = shm.Counter(name("refused"), ""), shm.Summary(name("refused_delay"), "")
    counter.inc(3)
    with shm.Publisher("refused", CTX) as holder:
        holder.publish()
        raises(shm.AnotherPublisherLives, lambda: published("refused", fail_if_busy=True))
    counter.inc()
    delay.observe(1)
    with published("refused"):
        raises(ValueError, delay.observe, timedelta(seconds=1))
        values = values_of(path("refused"))
        ok(values[counter._family.name] == 4, "the values before and after")
        ok(values[delay._family.name] == (1, 1), "one observation")


def mirrored():
    """A family with invalid values costs only itself."""
    from shm_publisher.registry import publish_registry

    def sample(name, value, **labels):
        return SimpleNamespace(name=name, value=value, labels=labels)
    nan = float("nan")
    families = [
        SimpleNamespace(name="wrong", type="histogram", documentation="", samples=[sample("wrong_bucket", nan, le="+Inf")]),
        SimpleNamespace(name="right", type="gauge", documentation="", samples=[sample("right", 7)])]
    registry = SimpleNamespace(collect=lambda: families)
    said = stderr_of(lambda: publish_registry("mirrored", "checked", registry, context_id=CTX).close())
    ok(said.count("wrong of the registry is left out") == 1, said)
    families[:] = [SimpleNamespace(name="partly", type="gauge", documentation="", samples=[
        sample("partly", 1, id=each) for each in ("a", "\udc80", "x" * 100_000, "\udc81")])]
    mirror = publish_registry("mirrored", "checked", registry, interval=3600, context_id=CTX)
    try:
        mirror.update()
        g = Seg(path("mirrored"))
        ok(list(values_of(path("mirrored"))) == ['partly{id="a"}'] and g.dropped == (0, 3), "each is counted once")
        families.clear()
        said = stderr_of(mirror.update)
        ok(not mirror._refused and not said, "forgotten")
    finally:
        mirror.close()


ENDING = '''
import sys, threading
sys.path.insert(0, sys.argv[1])
import shm_publisher as shm
c, h = shm.Counter("c", "C."), shm.Histogram("h", "H.")
shm.publish("ending", app="checked", context_id=sys.argv[2])
class Late:
    def __del__(self):
        c.inc()
sys.modules["late"] = Late()
def work():
    while True:
        h.observe(1); c.inc()
for _ in range(4):
    threading.Thread(target=work, daemon=True).start()
'''


def daemons():
    """A fork before publish() keeps all values, and a fork after it those of infos."""
    counter, info = shm.Counter(name("daemon"), ""), shm.Info(name("daemon"), "")
    counter.inc(3)
    info.info({"version": "1"})

    def forked(work):
        child = os.fork()
        if child == 0:
            code = 1
            try:
                work()
                code = 0
            finally:
                os._exit(code)
        ok(os.waitpid(child, 0)[1] == 0, "the child")

    def shown(key):
        values = values_of(path(key))
        return values[counter._family.name], values[f'{info._family.name}{{version="1"}}']

    def publishes():
        with published("daemon"):
            ok(shown("daemon") == (3, 1), "the values before the fork")

    def counts():
        counter.inc()
        ok(shown(f"daemon-{os.getpid()}") == (1, 1), "the info, and what the child counts")
        store.STORE.close()
    forked(publishes)
    with published("daemon"):
        forked(counts)


def endings():
    """A process ends although its threads are stopped inside an update, and __del__ updates afterwards."""
    for _ in range(4):
        ended = subprocess.run([sys.executable, "-c", ENDING, HERE, CTX], timeout=60)
        ok(ended.returncode == 0, "it ends")


REGISTRY = """
import os, signal, sys
from types import SimpleNamespace
import shm_publisher as shm
from shm_publisher.registry import publish_registry
families = [SimpleNamespace(name="g", type="gauge", documentation="", samples=[SimpleNamespace(name="g", value=1, labels={})])]
published = publish_registry("registry", "checked", SimpleNamespace(collect=lambda: families), context_id=sys.argv[1])
metrics = shm.publish("metrics", "checked", context_id=sys.argv[1])
if os.fork() == 0:
    published.__class__.close(published) if sys.argv[2] == "close" else None
    sys.exit(0)
assert os.wait()[1] == 0 and os.path.exists(metrics.path) and os.path.exists(metrics.path.replace("metrics", "registry"))
if sys.argv[2] == "raise":
    raise KeyError
if sys.argv[2] == "exit":
    sys.exit(3)
"""
WORKERS = """
import multiprocessing, sys, glob
import shm_publisher as shm
counter = shm.Counter("worked", "")
def work(context):
    if multiprocessing.get_start_method() != "fork":
        shm.publish("workers-{pid}", "checked", context_id=context)
    counter.inc()
    assert len(glob.glob(f"/dev/shm/{context}.pool.workers-*")) == 1
if __name__ == "__main__":
    multiprocessing.set_start_method(sys.argv[2])
    shm.publish("workers", "checked", context_id=sys.argv[1])
    for _ in range(2):
        worker = multiprocessing.Process(target=work, args=(sys.argv[1],))
        worker.start(), worker.join()
        assert worker.exitcode == 0 and glob.glob(f"/dev/shm/{sys.argv[1]}.pool.*") == [f"/dev/shm/{sys.argv[1]}.pool.workers"]
"""
IMPORTED = """
import glob, multiprocessing, sys
import shm_publisher as shm
counter = shm.Counter("imported", "")
of_process = shm.publish("imported-{pid}", "checked", context_id=sys.argv[1])
def work():
    counter.inc()
    assert len(glob.glob(f"/dev/shm/{sys.argv[1]}.pool.*")) > 1
if __name__ == "__main__":
    multiprocessing.set_start_method(sys.argv[2])
    for _ in range(2):
        worker = multiprocessing.Process(target=work)
        worker.start(), worker.join()
        assert worker.exitcode == 0 and glob.glob(f"/dev/shm/{sys.argv[1]}.pool.*") == [of_process.path]
"""
SIGNALS = """
import glob, os, signal, sys
import shm_publisher as shm
shm.Gauge("called", "").set_function(lambda: 1)
shm.publish("signals", "checked", interval=.01, context_id=sys.argv[1])
def taken():
    states = [open(file).read() for file in glob.glob("/proc/self/task/*/status")]
    blocked = [int(state.split("SigBlk:")[1].split()[0], 16) for state in states]
    return len(blocked), sum(not mask >> signal.SIGTERM - 1 & 1 for mask in blocked)
while taken() != (3, 1):
    pass
signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
os.kill(os.getpid(), signal.SIGTERM)
assert signal.sigwait({signal.SIGTERM}) == signal.SIGTERM
"""


# uWSGI forks its workers in C, without Python's hooks.
UWSGI = """
import ctypes, glob, os, struct, sys, threading
from types import SimpleNamespace
worker = 0
sys.modules["uwsgi"] = SimpleNamespace(has_threads=1, worker_id=lambda: worker)
import shm_publisher as shm
from shm_publisher.store import STORE
from check import Seg
def refused(text):
    try:
        shm.publish("second", "checked", context_id=sys.argv[1])
    except ValueError as error:
        assert text in str(error), error
    else:
        raise AssertionError("a second call")
def by_environment():
    STORE.publish_later("later", "checked", 5.0, {"context_id": sys.argv[1]}, None)
by_environment()
shm.publish("uwsgi", "checked", context_id=sys.argv[1]).close()    # before the first series, publish() counts
plain, labelled = shm.Counter("plain", ""), shm.Counter("labelled", "", ["a"])
plain.inc(3)
by_environment()
refused("since the metrics have the server key later already")
STORE.close()
with shm.publish("uwsgi", "checked", context_id=sys.argv[1]) as first:
    pass
if ctypes.PyDLL(None).fork() == 0:
    plain.inc()
    assert not glob.glob(f"/dev/shm/{sys.argv[1]}*"), "a closed publication"
    sys.exit(0)
assert os.wait()[1] == 0
published = shm.publish("uwsgi", "checked", context_id=sys.argv[1])
labelled.labels("0").inc()
segment = f"/dev/shm/{sys.argv[1]}.pool.uwsgi"
def values(path):
    return {v["name"]: struct.unpack("<d", struct.pack("<Q", v["value"]))[0] for v in Seg(path).vars.values()}
refused("since the metrics have the server key uwsgi already")
first.close()                                           # once more, which must not end the second publication
assert published.path == "" and not published.holds_key and threading.active_count() == 1 and not glob.glob(segment + "*")
for number in 1, 2:
    if ctypes.PyDLL(None).fork() == 0:
        worker = number
        plain.inc(), labelled.labels("1").inc(number)
        assert glob.glob(segment + "*") == [f"{segment}-{os.getpid()}"], glob.glob(segment + "*")
        published.close()                                   # that of the master, which has no segment
        assert values(f"{segment}-{os.getpid()}") == {'plain_total': 1, 'labelled_total{a="0"}': 0, 'labelled_total{a="1"}': number}
        sys.exit(0)
    assert os.wait()[1] == 0 and not glob.glob(segment + "*")
worker = 1                                              # a server with one process
plain.inc()
assert values(segment) == {'plain_total': 4, 'labelled_total{a="0"}': 1}
refused(f"since the metrics are in {segment} already")
published.close()
assert not glob.glob(segment + "*")
"""


def program(text, *words, code=0):
    """Runs a program to its end, which leaves nothing in /dev/shm."""
    script = f"/tmp/{CTX}.py"                           # multiprocessing imports it
    with open(script, "w") as file:
        file.write(text)
    try:
        ended = subprocess.run([sys.executable, script, CTX, *words], timeout=60, capture_output=True, text=True)
    finally:
        os.unlink(script)
    ok(ended.returncode == code, f"{words}: {ended.stderr}")
    ok(not glob.glob(f"/dev/shm/*{CTX}*"), f"{words} leaves nothing")


def ends():
    """Every program that ends by itself closes its segments, and a forked child only its own."""
    for word, code in ("return", 0), ("close", 0), ("exit", 3), ("raise", 1):
        program(REGISTRY, word, code=code)
    for method in "fork", "forkserver", "spawn":
        program(WORKERS, method)
        program(IMPORTED, method)
    program(SIGNALS)
    program(UWSGI)


def in_child(work):
    ok(check.in_child(work), "the child")


def again():
    """A second publish() adds each series at once, without a look at the others."""
    metric = shm.Counter(name("again"), "", ["id"])
    for each in range(10):
        metric.labels(each)
    looks = []
    with published("again"):
        pass
    store.STORE._added_before = lambda *_: looks.append(1)
    try:
        with published("again"):
            ok(not looks and sum(key.startswith(metric._family.name) for key in values_of(path("again"))) == 10, "all of them")
    finally:
        del store.STORE._added_before
    metric.clear()


def blocks_of_parents():
    """A child that leaves the block of its parent makes no segment, and one that publishes has the key that it states."""
    counter = shm.Counter(name("forked"), "")
    with published("block") as of_parent:
        counter.inc(5)

        def leave():
            of_parent.__exit__(None, None, None)
            ok(glob.glob(path("*")) == [path("block")], "only that of the parent")

        def publish():
            with published("own"):
                ok(sorted(glob.glob(path("*"))) == [path("block"), path("own")], "its own")
                counter.inc()
                ok(values_of(path("own"))[counter._family.name] == 1, "its own value")
        in_child(leave), in_child(publish)
        ok(values_of(path("block"))[counter._family.name] == 5, "that of the parent")


def first_updates():
    """An exception of a signal handler in the first update of a child is repaired by the next update."""
    metric = shm.Counter(name("first"), "")

    def interrupt():
        raise KeyboardInterrupt

    def first():                                    # as if the process had been forked
        store.STORE.lock = locks.pop()
        metric.inc()
    files, locks = (store.__file__, forks_module.__file__, metrics.__file__, publication.__file__), [forks_module.FirstUse(store.STORE)]

    def run():
        count = 0
        for came in at_every_line(first, interrupt, files=files, skips=without_handlers(files)):
            thread = threading.Thread(target=metric.inc, daemon=True)
            thread.start(), thread.join(60)
            ok(not thread.is_alive(), "other threads go on")
            ok(values_of(path(f"first-{os.getpid()}"))[metric._family.name] in (1, 2), "what came after")
            settings = store.STORE._settings
            store.STORE.close()
            store.STORE._settings = settings            # as in a child that has just been forked
            count += 1
            locks.append(forks_module.FirstUse(store.STORE))
        ok(count > 50, "at every line")
    with published("first", **SMALL):
        in_child(run)


def forks_in_changes():
    """A fork waits until no other thread is in the middle of a removal: otherwise the child would have half of it."""
    metric, key = shm.Counter(name("passing"), "", ["id"]), []

    def child():
        metric.labels("other").inc()
        ok(not any("gone" in each for each in values_of(path(f"changes-{os.getpid()}"))), "removed in the child, too")
        store.STORE.close()
    with published("changes", **SMALL):
        for line in range(1, 30):
            metric.labels("gone").inc()
            reached, forked = threading.Event(), threading.Event()

            def pause():
                reached.set()
                forked.wait(.02)                        # unless the fork waits for this thread

            def remove():
                sys.settrace(check.Interrupter(line, pause, (store.__file__,)))
                metric.remove("gone")
                sys.settrace(None)
                reached.set()
            thread = threading.Thread(target=remove)
            thread.start()
            reached.wait(60)
            in_child(child)
            forked.set()
            thread.join()


if __name__ == "__main__":
    try:
        for test in refused, mirrored, daemons, endings, ends, again, blocks_of_parents, first_updates, \
                forks_in_changes, declared, messages, model, threads, too_many, invalid_label_sets, blocks, coroutines, \
                blocks_without_labels, clashes, labels_of_other_types, dead_workers, functions, infos, forks, handlers, names_taken_away:
            test(); print("ok", test.__name__, flush=True)
        ok(not (left := glob.glob(f"/dev/shm/*{CTX}*") + glob.glob(f"/dev/shm/.*{CTX}*")), f"nothing left in /dev/shm: {left}")
        print(f"{check.passed} checks passed")
    finally:
        for left in glob.glob(f"/dev/shm/*{CTX}*") + glob.glob(f"/dev/shm/.*{CTX}*"):
            os.unlink(left)
