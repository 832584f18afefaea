"""Checks the bytes of segments with a reader that follows docs/segment-format.md and shares no constants with the
publisher."""
import copy, ctypes, decimal, errno, fcntl, gc, glob, io, math, mmap, os, pickle, random, resource, signal, struct, subprocess, sys, threading, time, zlib
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
os.environ["PYTHONPATH"] = HERE                               # for the programs that the checks start
import shm_publisher as shm
from shm_publisher import calls, nodes, publisher, system
from shm_publisher.layout import STATE

FILES = tuple(module.__file__ for module in (publisher, nodes, calls, system))          # in which handlers may interrupt
CTX = f"strangercheck{os.getpid()}x{random.randrange(1 << 32):x}"
passed = 0


def ok(condition, what):
    global passed
    if not condition:
        raise AssertionError(what)
    passed += 1


def u(data, at, size=8):
    return int.from_bytes(data[at:at + size], "little")


def path(key):
    return f"/dev/shm/{CTX}.pool.{key}"


def lock_held(fd):
    answer = fcntl.fcntl(fd, fcntl.F_OFD_GETLK, struct.pack("hhqqi4x", fcntl.F_RDLCK, 0, 0, 0, 0))
    return struct.unpack("hhqqi4x", answer)[0] != fcntl.F_UNLCK


def copy_of(fd):
    """Returns a copy of a file, in which only the data are copied: most of a segment is holes."""
    data, at = mmap.mmap(-1, os.fstat(fd).st_size), 0
    while True:
        try:
            at = os.lseek(fd, at, os.SEEK_DATA)
        except OSError:  # There is no more data.
            return data
        end = os.lseek(fd, at, os.SEEK_HOLE)
        with memoryview(data) as all_data, all_data[at:end] as part:
            os.preadv(fd, [part], at)
        at = end


class Seg:
    """A copy of a segment.  The constructor reads the whole file, and checks it."""

    @staticmethod
    def bytes_of(name):
        with open(name, "rb") as f:
            return f.read()

    def __init__(self, name, fd=None):
        own = fd is None
        fd = os.open(name, os.O_RDONLY) if own else fd
        self.d = d = copy_of(fd)
        self.held = lock_held(fd)
        if own:
            os.close(fd)
        ok(d[:8] == bytes.fromhex("53484d455850 0d0a"), "magic")
        ok(d[8:16] == bytes.fromhex("0403020101000100"), "byte order, version")
        ok(d[16:24] == bytes.fromhex("0010000040000000"), "header and record size")
        ok(u(d, 24) in (0, 1) and u(d, 32) == 0 and u(d, 40) != 0, "features, generation")
        ok(zlib.crc32(d[:252]) == u(d, 252, 4), "header crc")
        ok(not any(d[176:252]), "reserved")
        ok(u(d, 80) == len(d), "file size")
        page = bytearray(d[:4096])
        for word in 1024, 1088, 1152, 1216, 1280, 1344, 1408, 1472:
            page[word:word + 8] = bytes(8)
        ok(not any(page[256:]), "rest of the page is zero")
        self.cap, self.scap, self.nslots, self.fcap = u(d, 104), u(d, 128), u(d, 152), u(d, 168)
        regions = sorted([(u(d, 88), self.cap * 64), (u(d, 96), self.cap * 64), (u(d, 112), self.scap),
                          (u(d, 120), self.scap), (u(d, 136), self.nslots * 4), (u(d, 144), self.nslots * 8),
                          (u(d, 160), self.fcap)])
        end = 4096
        for at, size in regions:
            ok(at % 4096 == 0 and at >= end, "aligned, no overlap")
            end = at + size
        ok(end <= len(d), "within the file")
        self.state, self.heartbeat, self.tick = u(d, 1024), u(d, 1088), u(d, 1152)
        self.dropped = u(d, 1408), u(d, 1472)
        self.epoch, self.n = u(d, 1216) >> 32, u(d, 1216) & 0xFFFFFFFF
        self.odd = self.epoch & 1
        self.sbytes = u(d, 1344 if self.odd else 1280)
        ok(2 <= self.sbytes <= self.scap and self.n <= self.cap, "limits")
        self.sreg = u(d, 120 if self.odd else 112)
        ok(u(d, self.sreg, 2) == 0, "empty string")
        self.read_directory()

    def raw(self, off):
        length = u(self.d, self.sreg + off, 2)
        ok(off == 0 or 2 <= off and off + 2 + length <= self.sbytes, "string lies in the valid bytes")
        return self.d[self.sreg + off + 2:self.sreg + off + 2 + length]

    def read_directory(self):
        d, base, last = self.d, u(self.d, 96 if self.odd else 88), 0
        self.objects, self.vars, self.tombs = {}, {}, 0
        for i in range(self.n):
            r = d[base + 64 * i:base + 64 * i + 64]
            ok(zlib.crc32(r[4:]) == u(r, 0, 4) and u(r, 4, 4) == i, "record crc and index")
            ok(r[11] == 0 or r[11] == 1 == u(d, 24) and r[8] == 2, "flags")
            if r[8] == 3:
                self.tombs += 1
                ok(not any(r[9:24]) and not any(r[32:]), "tombstone's zeros")
                if self.vars.pop(u(r, 24), None):
                    continue
                gone = {u(r, 24)}
                ok(u(r, 24) in self.objects, "tombstone of something")
                for k, o in self.objects.items():
                    if o["parent"] in gone:
                        gone.add(k)
                gone |= {k for k, v in self.vars.items() if v["parent"] in gone}
                for k in gone:
                    self.objects.pop(k, None), self.vars.pop(k, None)
                continue
            x = dict(slot=u(r, 12, 4), id=u(r, 16), parent=u(r, 24), inc=u(r, 32, 4))
            ok(x["id"] > last and x["slot"] < self.nslots and 1 <= x["inc"] < 2**31, "id, slot, incarnation")
            last = x["id"]
            x["word"] = u(d, u(d, 136) + 4 * x["slot"], 4)
            x["value"] = u(d, u(d, 144) + 8 * x["slot"])
            x["synced"] = x["word"] == x["inc"] << 1 | 1
            if r[8] == 1:
                ok(r[9] == r[10] == 0, "object's zeros")
                x.update(name=self.raw(u(r, 36, 4)).decode(), cls=self.raw(u(r, 40, 4)).decode(),
                         asof=u(r, 56, 4), asof_inc=u(r, 60, 4),
                         hia=[self.raw(u(r, o, 4)).decode() for o in (44, 48, 52)])
                ok(x["parent"] == 0 or x["parent"] in self.objects, "parent exists")
                self.objects[x["id"]] = x
            else:
                ok(r[8] == 2 and 1 <= r[9] <= 7 and r[10] <= 2 and u(r, 60, 4) == 0, "variable")
                ok(x["parent"] in self.objects, "object exists")
                schema = self.raw(u(r, 48, 4))
                x.update(type=r[9], kind=r[10], flags=r[11], name=self.raw(u(r, 36, 4)).decode(),
                         unit=self.raw(u(r, 40, 4)).decode(), help=self.raw(u(r, 44, 4)).decode(),
                         schema=list(struct.unpack(f"<{len(schema) // 8}d", schema)),
                         foff=u(r, 52, 4) * 8, flen=u(r, 56, 4) * 8)
                ok(x["foff"] + x["flen"] <= self.fcap and (x["flen"] > 0) == (x["type"] > 4), "frame")
                if x["type"] in (6, 7):
                    ok(x["flen"] == 8 * (4 + len(x["schema"])), "frame's length")
                if x["flen"]:
                    start = u(d, 160) + x["foff"]
                    f = d[start:start + x["flen"]]
                    x["frame"] = f
                self.vars[x["id"]] = x
        # Slots and frames are checked after all tombstones, since a removed variable's slot or frame may have another
        # owner by now.
        spans = []
        for x in self.vars.values():
            if x["flen"]:
                f = x["frame"]
                ok(u(f, 0) == u(f, len(f) - 8) == x["value"], "end = begin = slot")
                spans.append((x["foff"], x["foff"] + x["flen"]))
        spans.sort()
        ok(all(p[1] <= q[0] for p, q in zip(spans, spans[1:])), "frames do not overlap")
        taken = [x["slot"] for x in (*self.objects.values(), *self.vars.values())]
        taken += [o["asof"] for o in self.objects.values() if o["parent"] == 0 and o["asof"] != 0xFFFFFFFF]
        ok(len(set(taken)) == len(taken), "no slot has two owners")
        ok(all(x["word"] >> 1 == x["inc"] for x in (*self.objects.values(), *self.vars.values())), "words agree")

    def var(self, name):
        return next(v for v in self.vars.values() if v["name"] == name)


def scalars_and_frames():
    os.umask(0o077)                                      # the mode must survive it
    p = shm.Publisher("all", CTX)
    root = p.add_root("h.1.a", "Root", host="h", instance="1", application="a", as_of=True, state=shm.INIT, synced=False)
    mk = lambda n, t, **k: p.add_variable(root, n, t, **k)
    a = mk("u", 1, kind=1, value=2**64 - 1, unit="bytes", help="né")
    b, c, e = mk("i", 2, kind=2, value=-5), mk("f", 3, value=-0.5), mk("b", 4, value=True)
    s = mk("s", 5, value="x" * 15 + "é", capacity=16)      # must be cut before the é
    h = mk("h", 6, schema=[1, 2.5]); mk("late", 6, schema=[1], value=None)
    q = mk("q", 7, schema=[0, .5, 1])
    mk("long", 5, capacity=65528, value="€" * 30000)
    ok(not os.path.exists(p.path), "no name before publish()")
    p.publish()
    ok(os.stat(p.path).st_mode & 0o777 == 0o644, "mode")
    ok(not glob.glob(f"/dev/shm/.{CTX}*"), "temporary name gone")
    g = Seg(p.path)
    ok(g.held and g.state == 1 and g.epoch == 0 and g.n == 10, "live")
    ok(0 <= time.clock_gettime_ns(time.CLOCK_MONOTONIC) - g.heartbeat < 10**9, "heartbeat")
    r = g.objects[1]
    ok(r["hia"] == ["h", "1", "a"] and r["cls"] == "Root" and not r["synced"] and r["asof"] == 1, "root")
    ok(g.var("u")["value"] == 2**64 - 1 and g.var("u")["unit"] == "bytes" and g.var("u")["help"] == "né", "u64")
    ok(g.var("i")["value"] == 2**64 - 5 and g.var("b")["value"] == 1, "i64, bool")
    ok(struct.pack("<Q", g.var("f")["value"]) == struct.pack("<d", -0.5), "f64")
    f = g.var("s")["frame"]
    ok(u(f, 8) == 15 and f[16:31] == b"x" * 15 and f[31] == 0 and len(f) == 40, "cut text, padded")
    f = g.var("long")["frame"]
    ok(u(f, 8) == 65526 and f[16:16 + 65526].decode() == "€" * 21842, "longest text")
    f = g.var("q")["frame"]
    ok(g.var("q")["synced"] and g.var("q")["value"] == 1 and u(f, 0) == 1 and u(f, len(f) - 8) == 1, "empty summary")
    ok(f[8:24] == bytes(16) and all(math.isnan(x) for x in struct.unpack("<3d", f[24:48])), "nothing observed, no quantiles")
    ok(g.var("h")["synced"] and not any(g.var("h")["frame"][8:-8]), "empty histogram")
    ok(not g.var("late")["synced"] and not any(g.var("late")["frame"]), "unsynced histogram")
    for x in (1, 1.5, 2.5, 99):
        h.observe(x)
    q.set_summary(3, 6.0, [1, 2, 3])
    s.set("ü")
    root.set_as_of(123); root.set_state(shm.NORMAL); root.set_synced(True)
    a.set(7); b.set(-2**63); e.set(False); c.set_synced(False)
    g = Seg(p.path)
    f = g.var("h")["frame"]
    ok(g.var("h")["value"] == 5 and struct.unpack("<d3Q", f[8:40]) == (104.0, 1, 2, 1), "histogram")
    ok(struct.unpack("<Q4d", g.var("q")["frame"][8:48]) == (3, 6.0, 1, 2, 3) and g.var("q")["synced"], "summary")
    f = g.var("s")["frame"]
    ok(u(f, 8) == 2 and f[16:32] == "ü".encode() + bytes(14), "the rest of the old text is zeros")
    ok(u(g.d, u(g.d, 144) + 8) == 123 and u(g.d, u(g.d, 136) + 4, 4) == 3, "as-of")
    ok(g.objects[1]["synced"] and g.objects[1]["value"] == 1, "object's state")
    ok(g.var("i")["value"] == 2**63 and not g.var("f")["synced"], "i64 min, unsynced")
    t = g.tick
    p.notify()
    fd = os.open(p.path, os.O_RDONLY)
    ok(Seg(None, fd).tick == t + 1, "tick")
    before = bytes(g.d[4096:])
    g = Seg(None, fd)
    refusals(p, root, (a, b, c, e, s, h, q))
    g = Seg(None, fd)
    ok(g.d[4096:] == before and g.n == 10 and g.dropped == (0, 0), "nothing stored of what was refused")
    p.close()
    g = Seg(None, fd)
    ok(g.state == 2 and g.tick == t + 2 and not g.held and not os.path.exists(p.path), "closed, lock and name gone")
    os.close(fd)
    a.set(9); p.notify(); p.close()                        # ignored, since it is closed


def additions():
    with shm.Publisher("add", CTX) as p:
        root = p.add_root("r")
        a, b, c = (p.add_variable(root, name, type_) for name, type_ in (("u", 1), ("i", 2), ("f", 3)))
        p.publish()
        ok(not Seg(p.path).var("u")["synced"], "no value yet")
        for v, amounts in ((a, (2**64 - 1, -3)), (b, (-2**63, 2**64 - 1, -5)), (c, (1, .25, -2))):
            for amount in amounts:
                v.add(amount)
        g = Seg(p.path)
        ok(g.var("u")["synced"] and g.var("u")["value"] == 2**64 - 4, "u64")
        ok(g.var("i")["value"] == 2**63 - 6 and g.var("f")["value"] == u(struct.pack("<d", -.75), 0), "i64, f64")
        for v, amount in ((a, 4), (a, 1.5), (a, "1"), (a, math.inf), (b, 6), (b, None), (c, "1")):
            ok(raises(ValueError, lambda: v.add(amount), f'"{v.name}"'), "refused")
        ok(Seg(p.path).d[:] == g.d[:], "nothing stored of what was refused")
        for v in (p.add_variable(root, "b", 4), p.add_variable(root, "s", 5), p.add_variable(root, "h", 6)):
            ok(raises(TypeError, lambda: v.add(1), f'"{v.name}" has no add'), "no number")
        counters = [p.add_variable(root, f"counter {t}", t, kind=1, value=5) for t in (1, 2, 3)]
        for v, amount in (*((v, amount) for v in counters for amount in (-1, math.nan, math.inf, -math.inf)), (counters[2], -.5)):
            ok(raises(ValueError, lambda: v.add(amount), "the amount added to", f'"{v.name}": found {amount}', ', allowed: '), "a counter")
        g = Seg(p.path)
        ok([g.var(v.name)["value"] for v in counters] == [5, 5, u(struct.pack("<d", 5), 0)], "nothing stored")
        for v in counters:
            v.add(0), v.set(3)                                 # a copied counter may restart
        a.set(0)
        threads = [threading.Thread(target=lambda: [a.add(1) for _ in range(5000)]) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        ok(Seg(p.path).var("u")["value"] == 20000, "no addition of a thread is lost")
        a.remove()
        a.add(1)


def refusals(p, root, variables):
    """Values that the format forbids raise a ValueError that names the variable, the value, and what is allowed."""
    a, b, c, e, s, h, q = variables
    o, mk = (lambda *x, **k: p.add_object(root, *x, **k)), lambda *x, **k: p.add_variable(root, *x, **k)
    for refused, *words in (
            *((lambda v=v: a.set(v), '"u"', found, 2**64 - 1) for v, found in (
                (-1, -1), (2**64, 2**64), (1.5, 1.5), (math.inf, "inf"), (-math.inf, "-inf"), (math.nan, "nan"), ("5", "'5'"),
                (None, None), ([1], "[1]"), (1j, "1j"), (10**5000, "int"), (object(), "object"))),
            (lambda: b.set(2**63), '"i"', 2**63, -2**63), (lambda: b.set(math.inf), '"i"', "inf"),
            (lambda: c.set("1.5"), '"f"', "'1.5'", "numbers"), (lambda: c.set(10**400), '"f"', "numbers"),
            (lambda: e.set("no"), '"b"', "'no'", "False"), (lambda: e.set(2), '"b"', 2), (lambda: e.set(decimal.Decimal("sNaN")), '"b"'), (lambda: e.set(None), '"b"', None),
            (lambda: s.set(5), '"s"', 5, "text"), (lambda: s.set(b"x"), '"s"', "b'x'"), (lambda: s.set(None), '"s"'),
            (lambda: s.set("a\udcff"), '"s"', "'a\\udcff'", "surrogate"),
            (lambda: h.observe(math.nan), '"h"', "NaN"), (lambda: h.observe("1"), '"h"', "'1'"),
            (lambda: q.set_summary(-1, 0, [1, 2, 3]), '"q"', -1), (lambda: q.set_summary(1, "0", [1, 2, 3]), '"q"', "'0'"),
            (lambda: q.set_summary(1, 0, [1, 2]), '"q"', 2, 3), (lambda: q.set_summary(1, 0, 5), '"q"', 5),
            (lambda: q.set_summary(1, 0, [1, 2, None]), '"q"', None),
            (lambda: root.set_state(6), '"h.1.a"', 6), (lambda: root.set_state("dead"), '"h.1.a"', "dead"),
            (lambda: root.set_as_of(-1), '"h.1.a"', -1), (lambda: root.set_as_of(2**64), '"h.1.a"', 2**64),
            (lambda: root.set_as_of(1.5), '"h.1.a"', 1.5),
            (lambda: o("o"), "'o'", "h.1.a"), (lambda: o("h.1.a."), "h.1.a."), (lambda: o("h.1.ab.c"), "h.1.ab.c"),
            (lambda: o(5), 5), (lambda: o("h.1.a.x", 5), "class", "h.1.a.x", 5), (lambda: o("h.1.a.x", state=7), "h.1.a.x", 7),
            (lambda: o("h.1.a." + "x" * 1024), 1030, 1024), (lambda: o("h.1.a.\ud800"), "surrogate"),
            (lambda: p.add_object(p, "h.1.a.x"), "parent", "h.1.a.x"), (lambda: p.add_object(None, "x"), "parent", None),
            (lambda: p.add_root("x", host=5), "host", 5), (lambda: p.add_variable(a, "w", 1), "parent", "'w'"),
            (lambda: mk("w", "u64"), "type", "'w'", "'u64'", "U64"), (lambda: mk("w", 8), "type", 8), (lambda: mk("w", 1.0), 1.0),
            (lambda: mk("w", 1, kind=3), "kind", "'w'", 3), (lambda: mk("w", 5, kind=1), "kind", "'w'", 1),
            (lambda: mk("w", 1, kind="counter"), "kind", "counter"), (lambda: mk(5, 1), "name", 5),
            (lambda: mk("w", 1, unit=5), "unit", "'w'", 5), (lambda: mk("w", 1, help="x" * 4097), "help", "'w'", 4097),
            (lambda: mk("w", 1, value=-1), '"w"', -1), (lambda: mk("w", 5, value=1), '"w"', 1),
            (lambda: mk("w", 6, value=1), '"w"', 1), (lambda: mk("w", 6, value=[math.nan]), '"w"', "NaN"),
            (lambda: mk("w", 7, value=(1, 2)), '"w"', "(1, 2)"), (lambda: mk("w", 7, value=(1, 2, [3])), '"w"', 1, 0),
            (lambda: mk("w", 6, schema=[math.inf]), "schema", "'w'", "[inf]"), (lambda: mk("w", 6, schema=[2, 1]), "[2.0, 1.0]"),
            (lambda: mk("w", 7, schema=[.5, 2]), "'w'", "[0.5, 2.0]", "from 0 to 1"), (lambda: mk("w", 6, schema=5), "'w'", 5),
            (lambda: mk("w", 6, schema=["a"]), "'w'", "'a'"), (lambda: mk("w", 1, schema=[1]), "'w'", "[1.0]", "histograms"),
            (lambda: mk("w", 6, schema=range(513)), "'w'", 512), (lambda: mk("w", 5, capacity=65529), "'w'", 65529, 65528),
            (lambda: shm.Publisher("a/b", CTX), "a/b"), (lambda: shm.Publisher("", CTX), "server_key", "1 to 64"),
            (lambda: shm.Publisher("k" * 65, CTX), "server_key", "1 to 64"), (lambda: shm.Publisher(".k", CTX), "server_key", "'.k'"),
            (lambda: shm.Publisher("k\n", CTX), "server_key"), (lambda: shm.Publisher(None, CTX), "server_key", None),
            (lambda: shm.Publisher(82, CTX), "server_key", 82), (lambda: shm.Publisher("k", ""), "context_id", "''"),
            (lambda: shm.Publisher("k", CTX, "p/q"), "pool_name", "'p/q'"),
            (lambda: shm.Publisher("x", CTX, records=0), "records", 0), (lambda: shm.Publisher("x", CTX, frames=9), "frames", 9),
            (lambda: shm.Publisher("x", CTX, slots="9"), "slots", "'9'"),
            (lambda: shm.Publisher("x", CTX, heartbeat_period=-1), "heartbeat_period", -1)):
        ok(raises(ValueError, refused, *words), f"refused: {words}")
    for wrong in (lambda: h.set(1), lambda: a.observe(1), lambda: s.set_summary(1, 1, [])):
        ok(raises(TypeError, wrong, "has no"), "a method of another type")


def labels():
    with shm.Publisher("lb", CTX, series=True, heartbeat_period=0) as p:
        root = p.add_root("h.1.lb", "R")
        for name, given, text in (
                ("up", {}, "up"), ("a:b_total", {"code": "200", "method": "get"}, 'a:b_total{code="200",method="get"}'),
                ("c", {"d": 'e"f\\g\nh', "i": ""}, 'c{d="e\\"f\\\\g\\nh",i=""}'), ("j", {"k": "ü"}, 'j{k="ü"}')):
            node = p.add_variable(root, name, shm.U64, value=1, labels=given)
            ok(node.name == text, "name as text")
        p.add_variable(root, "plain", shm.U64, value=1)
        p.publish()
        g = Seg(path("lb"))
        ok(u(g.d, 24) == 1, "the segment requires the feature")
        ok([v["flags"] for v in g.vars.values()] == [1, 1, 1, 1, 0], "flags")
        for args, words in (
                (("a b", shm.U64, {}), "allowed as a metric's name: letters, digits, _ and :"),
                (("1a", shm.U64, {}), "allowed as a metric's name"), (("shm_exporter_a", shm.U64, {}), "allowed as a metric's name"),
                (("a\n", shm.U64, {}), "allowed as a metric's name"), (("ä", shm.U64, {}), "allowed as a metric's name"),
                (("a", shm.STRING, {}), "allowed only for numbers"), (("a", shm.U64, ["b"]), "allowed: a dict"),
                (("a", shm.U64, {f"b{i}": "" for i in range(65)}), "allowed: a dict with at most 64 labels"),
                (("a", shm.U64, {"b-c": ""}), "found 'b-c'"), (("a", shm.U64, {"__b": ""}), "found '__b'"),
                (("a", shm.U64, {1: ""}), "found 1"), (("a", shm.U64, {"b": 1}), "label b of variable 'a': found 1"),
                (("a", shm.HISTOGRAM, {"le": "1"}), "and not le"), (("a", shm.SUMMARY, {"quantile": "1"}), "and not quantile"),
                (("a", shm.U64, {"b": "x" * 4090}), "allowed: at most 4096 bytes")):
            ok(raises(ValueError, lambda: p.add_variable(root, args[0], args[1], labels=args[2]), words), words)
        ok(len(Seg(path("lb")).vars) == 5, "nothing refused is published")
    with shm.Publisher("lc", CTX, heartbeat_period=0) as p:
        root = p.add_root("h.1.lc", "R")
        ok(raises(ValueError, lambda: p.add_variable(root, "a", shm.U64, labels={}),
                  "only if the publisher has series=True"), "labels without the option")
        p.publish()
        ok(u(Seg(path("lc")).d, 24) == 0, "no feature")


def whole_histograms():
    with shm.Publisher("wh", CTX, heartbeat_period=0) as p:
        root = p.add_root("h.1.wh", "R")
        h = p.add_variable(root, "h", shm.HISTOGRAM, schema=[1, 2])
        h.set_histogram([3, 0, 2**64 - 1], 1.5)
        p.publish()
        ok(struct.unpack("<dQQQ", Seg(path("wh")).var("h")["frame"][8:40]) == (1.5, 3, 0, 2**64 - 1), "sum and counts")
        for args, words in (([1, 2], 0), "found 2 counts, allowed: 3"), (([1, 2, -1], 0), "a count of"), (([1, 2, 3], "x"), "the sum of"):
            ok(raises(ValueError, lambda: h.set_histogram(*args), words), words)
        number = p.add_variable(root, "n", shm.U64, value=1)
        ok(raises(TypeError, lambda: number.set_histogram([1], 0), "only a histogram has"), "of a number")
        ok(Seg(path("wh")).var("h")["value"] == 2, "nothing refused is stored")


def removal_and_reuse():
    with shm.Publisher("rm", CTX, slots=8, frames=64) as p:
        root = p.add_root("r")
        p.publish()
        o = p.add_object(root, "r.o"); o2 = p.add_object(o, "r.o.o2")
        v = p.add_variable(o2, "v", 1, value=5); s = p.add_variable(o2, "s", 5, value="abc", capacity=8)
        slots = [n.slot for n in (o, o2, v, s)]
        o.remove()
        g = Seg(p.path)
        ok(len(g.objects) == 1 and not g.vars and g.tombs == 1, "removed with all below")
        ok([u(g.d, u(g.d, 136) + 4 * i, 4) for i in slots] == [4] * 4, "words of incarnation 2, unsynced")
        v.set(1); s.set("q"); o2.set_state(4)
        ok(Seg(p.path).d[4096:] == g.d[4096:], "stale handles store nothing")
        n = p.add_variable(root, "n", 1)
        g = Seg(p.path)
        x = g.var("n")
        ok(n.slot == slots[0] and x["inc"] == 2 and x["word"] == 4 and x["value"] == 0 and x["id"] == 6, "reused")
        for _ in range(20):
            w = p.add_variable(root, "w", 5, value="zz", capacity=40); w.remove()
        many = [p.add_variable(root, f"m{i}", 1, value=i) for i in range(10)]
        g = Seg(p.path)
        ok(g.dropped == (0, 4) and sum(m.alive for m in many) == 6, "slots used up: 4 variables dropped")
        p._u32[p._words // 4 + many[0].slot] = (2**31 - 1) << 1      # wrap
        many[0].incarnation = 2**31 - 1
        many[0].remove()
        ok(u(Seg(p.path).d, p._words + 4 * many[0].slot, 4) == 2, "incarnation wraps to 1")


def directory_change():
    with shm.Publisher("dir", CTX, records=16, strings=400) as p:
        root = p.add_root("r", "Class")
        keep = p.add_variable(root, "keep", 1, value=42)
        p.publish()
        before, epochs = Seg(p.path).var("keep"), set()
        for i in range(60):
            x = p.add_variable(root, f"name{i}", 6, value=(1,), schema=[i, i + 1]); g = Seg(p.path); epochs.add(g.epoch)
            ok(g.var(f"name{i}")["synced"] and g.var(f"name{i}")["schema"] == [i, i + 1], "added")
            x.remove(); g = Seg(p.path); epochs.add(g.epoch)
            y = g.var("keep")
            ok(all(y[k] == before[k] for k in ("id", "slot", "inc", "value", "word")) and len(g.vars) == 1, "kept")
        ok(len(epochs) > 4 and g.dropped == (0, 0), "several changes, nothing dropped")
        full = [p.add_variable(root, "f", 1, value=i) for i in range(40)]
        g = Seg(p.path)
        alive = [f for f in full if f.alive]
        ok(g.dropped[1] == 40 - len(alive) > 0, "full: counted and lived on")
        while g.n < 16:                                         # fill the directory, so that no tombstone fits
            alive.append(p.add_variable(root, "f", 1)); g = Seg(p.path)
        alive.pop().remove()
        g = Seg(p.path)
        ok(len(g.vars) + 1 == sum(1 for _ in p._live), "removed although the directory was full")


def names_and_locks():
    a = shm.Publisher("n", CTX); a.add_root("a"); a.publish()
    b = shm.Publisher("n", CTX, fail_if_busy=True)
    ok(raises(shm.AnotherPublisherLives, b.publish, f"another publisher holds {a.path} (process {os.getpid()})"), "refused")
    ok(Seg(a.path).state == 1 and a.holds_key and not b.holds_key, "first one is untouched")
    ok(not glob.glob(f"/dev/shm/.{CTX}*"), "no temporary left")
    a.close()
    cmd = [sys.executable, os.path.join(HERE, "examples", "example.py"), "--server-key", "n", "--context-id", CTX]
    child = subprocess.Popen(cmd + ["--seconds", "300"], stderr=subprocess.PIPE)
    ok(child.stderr.readline() == b"ready\n", "ready")
    fd = os.open(path("n"), os.O_RDONLY)
    ok(lock_held(fd), "child holds its lock")
    waits = subprocess.run(cmd + ["--seconds", "1"], capture_output=True, text=True)
    ok(waits.returncode == 0 and waits.stderr == f"{waiting(path('n'), child.pid)}ready\n", "the example waits")
    ok(lock_held(fd) and Seg(None, fd).state == 1, "and gives up without a trace")
    child.send_signal(signal.SIGKILL); child.wait(); child.stderr.close()
    g = Seg(None, fd)
    ok(g.state == 1 and not g.held, "dead")
    c = shm.Publisher("n", CTX); c.add_root("c"); c.publish()
    ok(Seg(None, fd).state == 3 and os.fstat(fd).st_ino != os.stat(c.path).st_ino, "superseded")
    os.unlink(c.path); open(c.path, "wb").close()             # another program's file under the name
    c.close()
    ok(os.path.exists(c.path), "close leaves a foreign file alone")
    d = shm.Publisher("n", CTX); d.publish(); d.close()       # an unlocked file that is not a segment is replaced
    ok(not os.path.exists(d.path), "gone")
    os.close(fd)


def example_runs():
    cmd = [sys.executable, os.path.join(HERE, "examples", "example.py"), "--server-key", "ex", "--context-id", CTX]
    child = subprocess.Popen(cmd, stderr=subprocess.PIPE); child.stderr.readline()
    def records():
        with open(path("ex"), "rb") as f:
            return u(os.pread(f.fileno(), 8, 1216), 0) & 0xFFFFFFFF
    until(lambda: records() == 10, "object added after 1 s"); g = Seg(path("ex"))
    ok(len(g.objects) == 2 and len(g.vars) == 8 and all(v["synced"] for v in g.vars.values()), "with its value")
    until(lambda: records() == 11, "removed after 3 s"); g = Seg(path("ex"))
    ok(len(g.objects) == 1 and len(g.vars) == 7 and g.tombs == 1, "with its variable")
    until(lambda: Seg(path("ex")).var("requests_done")["value"] > 10, "updated")
    child.send_signal(signal.SIGTERM)
    ok(child.wait(60) == 0 and not os.path.exists(path("ex")), "closed cleanly"); child.stderr.close()
    out = subprocess.run(cmd + ["--hexdump"], capture_output=True, text=True).stdout.splitlines()
    ok(out[0].startswith("00000000  53 48 4d 45 58 50 0d 0a  04 03 02 01 01 00 01 00") and len(out) == 8, "hexdump")


def frames_under_load():
    """Reads a frame during updates, as section 6 of the format says.  Each text must be from one update."""
    p = shm.Publisher("load", CTX); root = p.add_root("r")
    s = p.add_variable(root, "s", 5, value="0" * 512, capacity=512)
    p.publish()
    stop = threading.Event()
    code = ("import os,sys\nfd=os.open(sys.argv[1],0);at,n=int(sys.argv[2]),int(sys.argv[3])\nok=bad=0\n"
            "for _ in range(60000):\n a=os.pread(fd,n,at);b=os.pread(fd,n,at)\n"
            " if a==b and a[:8]==b[-8:]:\n  ok+=1;bad+=len(set(a[16:-8]))!=1\nprint(ok,bad)")
    child = subprocess.Popen([sys.executable, "-c", code, p.path, str(p._frames + 8 * s.frame), str(8 * s.frame_length)],
                             stdout=subprocess.PIPE, text=True)
    i = 0
    while child.poll() is None:
        i += 1
        s.set("0123456789"[i % 10] * 512)
    good, bad = map(int, child.stdout.read().split()); child.stdout.close()
    ok(bad == 0 and good > 0, f"torn frames: {bad} of {good}")
    print(f"  frames under load: {i} updates, {good} of 60000 copies whole, {bad} torn")
    p.close()


class Refusing:
    """Replaces os.posix_fallocate: the first `calls` calls succeed, and all later calls fail with `error`."""

    def __init__(self, error, calls):
        self.error, self.left, self.allocate = error, calls, os.posix_fallocate

    def __call__(self, *args):
        if self.left == 0:
            raise OSError(self.error, os.strerror(self.error))
        self.left -= 1
        self.allocate(*args)

    def __enter__(self):
        os.posix_fallocate = self
        return self

    def __exit__(self, *_):
        os.posix_fallocate = self.allocate


def no_memory():
    for error in (errno.ENOSPC, errno.EDQUOT, errno.ENOMEM, errno.EFBIG, errno.EIO):
        for calls in range(6):
            with shm.Publisher("memory", CTX) as p:
                with Refusing(error, calls):
                    root = p.add_root("r", as_of=True)
                    s = p.add_variable(root, "s", 5, value="abc")
                g = Seg(f"/proc/self/fd/{p._fd}")
                ok(g.dropped == (not root.alive, not s.alive) and len(g.objects) == root.alive, "dropped and counted")
                ok(len(g.vars) == s.alive and (s.alive or calls < 5), "added as a whole or not at all")
                again = p.add_root("r2", as_of=True)
                p.add_variable(again, "s", 5, value="abc")
                ok(again.slot == 2 * root.alive + s.alive, "no slot is lost")
                ok(len(Seg(f"/proc/self/fd/{p._fd}").vars) == 1 + s.alive, "added when there is room")
        with shm.Publisher("tombstone", CTX) as p:
            root = p.add_root("r")
            full = [p.add_variable(root, "v", 1, value=i) for i in range(959)]     # the next record is on a new page
            p.publish()
            with Refusing(error, 0):
                for v in full[:3]:
                    v.remove()
                    ok(u(Seg.bytes_of(p.path), p._words + 4 * v.slot, 4) & 1 == 0, "a removed variable has no value")
                full[3].set(5)
                p.heartbeat()
                ok(not p.add_variable(root, "dropped", 1).alive, "dropped while the removals are not published")
            p.heartbeat()
            g = Seg(p.path)
            ok(len(g.vars) == 956 and g.var("v")["value"] == 5 and g.dropped == (0, 1), "removed as soon as there is room")


class Interrupter:
    """A trace function that runs `action` before the n-th executed line of the modules. A signal handler could run
    there."""

    def __init__(self, n, action, files=FILES, skips=frozenset()):
        self.left, self.action, self.came, self.files, self.skips = n, action, False, files, skips

    def __call__(self, frame, event, _):
        code = frame.f_code
        if code.co_filename not in self.files:
            return None
        if event == "line" and not self.came and (code.co_filename, frame.f_lineno) not in self.skips:
            self.left -= 1
            if self.left == 0:
                self.came = True
                self.action()
        return self


def at_every_line(call, action, **where):
    """Repeats a call, and interrupts it before its first line, then before its second, and so on.  Yields after each
    call."""
    n, came = 0, True
    while came:
        n += 1
        interrupter = Interrupter(n, action, **where)
        sys.settrace(interrupter)
        try:
            call()
        except KeyboardInterrupt:
            pass
        finally:
            sys.settrace(None)
        came = interrupter.came
        yield came


class Churn:
    """A small segment, with calls that change every part of it."""

    def __init__(self, key):
        self.p = shm.Publisher(key, CTX, records=32, slots=24, frames=1024, strings=1024)
        self.root = self.p.add_root("r")
        self.text = self.p.add_variable(self.root, "text", 5, value="A" * 100, capacity=104)
        self.histogram = self.p.add_variable(self.root, "histogram", 6, schema=[1, 2])
        self.summary = self.p.add_variable(self.root, "summary", 7, schema=[.5], value=(3, 3.0, [3.0]))
        self.number = self.p.add_variable(self.root, "number", 1, value=0)
        self.p.publish()

    def set_text(self):
        self.text.set("A" * 100)

    def observe(self):
        self.histogram.observe(2)

    def add(self):
        self.number.add(2)

    def set_summary(self):
        for n in (4, 5):
            self.summary.set_summary(n, float(n), [float(n)])

    def add_and_remove(self):
        o = self.p.add_object(self.root, "r.o")
        self.p.add_variable(self.p.add_object(o, "r.o.o"), "passing", 5, value="zz", capacity=16)
        o.remove()

    def calls(self):
        return self.set_text, self.observe, self.add, self.set_summary, self.add_and_remove

    def check(self, objects=1):
        """Checks that each frame has one whole update.  Returns how many observations of 1 and of 2 there were."""
        g = Seg(self.p.path)
        text = g.var("text")["frame"]
        ok(len(set(text[16:16 + u(text, 8)])) == 1, "the text of one update")
        total, ones, twos, rest = struct.unpack("<d3Q", g.var("histogram")["frame"][8:40])
        ok(total == ones + 2 * twos and rest == 0, "sum and counts agree")
        ok(len(set(struct.unpack("<Qdd", g.var("summary")["frame"][8:32]))) == 1, "the summary of one update")
        ok(len(g.objects) == objects, f"{objects} objects")
        return ones, twos

    def nothing_lost(self):
        """Checks that all slots and frames can be used again."""
        more = [self.p.add_variable(self.root, "", 1) for _ in range(24)]
        ok(sum(m.alive for m in more) == 19, "free slots")
        for m in more:
            m.remove()
        ok(sum(units for _, units in self.p._free_frames) == 128 - 16 - 6 - 5, "free frames")


def signal_handlers():
    c = Churn("handlers")
    calls, refused, added = 0, 0, 0

    def handle():
        nonlocal calls, refused
        calls += 1
        c.text.set("B" * 90)
        c.histogram.observe(1)
        c.number.add(1)
        c.p.notify()
        try:
            c.p.add_object(c.root, "r.handler").remove()
        except RuntimeError:
            refused += 1
    for call in c.calls():
        for came in at_every_line(call, handle):
            added += call == c.add
            c.check()
    ones, _ = c.check()
    ok(ones == calls > refused > 100, "no observation of a handler is lost")
    ok(Seg(c.p.path).var("number")["value"] == calls + 2 * added, "no addition is lost")
    c.nothing_lost()
    kept = []
    for came in at_every_line(lambda: kept.append(c.p.add_object(c.root, "r.kept")), lambda: kept and kept.pop().remove()):
        c.check(1 + len(kept))
    sys.settrace(Interrupter(20, c.p.close))
    c.set_text()
    sys.settrace(None)
    ok(not os.path.exists(c.p.path), "a handler's close() takes effect after the call that it interrupts")


def exceptions_of_handlers():
    c = Churn("exceptions")

    def interrupt():
        raise KeyboardInterrupt
    for call in c.calls():
        for came in at_every_line(call, interrupt):
            c.p.heartbeat()
            if came:
                thread = threading.Thread(target=c.add, daemon=True)
                thread.start()
                thread.join(60)
                ok(not thread.is_alive(), "other threads go on")
            objects = Seg(c.p.path).objects.values()
            ok([o["name"] for o in objects if o["name"] not in ("r.o", "r.o.o")] == ["r"], "no object that was not added")
            for n in [n for n in c.p._live.values() if n.name == "r.o"]:
                n.remove()
            c.check()
    c.nothing_lost()
    for came in at_every_line(c.p.close, interrupt):
        pass
    ok(not os.path.exists(c.p.path) and c.p._fd is None, "closed by the next call")


def collected_objects():
    with shm.Publisher("collected", CTX) as p:
        root = p.add_root("r")
        p.publish()

        class Session:
            def __init__(self):
                self.itself, self.node = self, p.add_object(root, "r.session")
                p.add_variable(self.node, "n", 1, value=1)

            def __del__(self):
                self.node.remove()
        threshold = gc.get_threshold()
        gc.set_threshold(7)
        for i in range(500):
            Session()
            if i % 50 == 0:
                Seg(p.path)
        gc.set_threshold(*threshold)
        gc.collect()
        ok(len(Seg(p.path).objects) == 1, "objects that the garbage collector removes are gone")


def in_child(call):
    """Returns whether `call` raises no exception in a forked child.  The child ends with os._exit."""
    pid = os.fork()
    if pid == 0:
        status = 1
        try:
            call()
            status = 0
        finally:
            os._exit(status)
    return os.waitpid(pid, 0)[1] == 0


def raises(kind, call, *words):
    """Returns whether `call` raises an exception of exactly this kind, and checks that its message contains all
    `words`."""
    try:
        call()
    except kind as e:
        ok(type(e) is kind and all(str(word) in str(e) for word in words), f"{e!r} has {words}")
        return True
    return False


POOL = """
import multiprocessing, sys
sys.path.insert(0, sys.argv[1])
import shm_publisher as shm

def work(n):
    with shm.Publisher(f"worker{n}", sys.argv[2]) as p:
        p.add_root("r")
        p.publish()
    return n

if __name__ == "__main__":
    with shm.Publisher("pool", sys.argv[2]) as p:
        v = p.add_variable(p.add_root("r"), "v", shm.U64, value=0)
        p.publish()
        with multiprocessing.get_context(sys.argv[3]).Pool(2) as pool:
            v.set(sum(pool.map(work, range(5))))
        open(p.path, "rb").close()
        print(p._u64[p._slots // 8 + v.slot])
"""
DAEMON = """
import os, sys, time
sys.path.insert(0, sys.argv[1])
import shm_publisher as shm

p = shm.Publisher("stay", sys.argv[2])
p.add_root("r")
p.publish()
if os.fork():
    time.sleep(60)
if os.fork():
    os._exit(0)
os.setsid()
print(os.getpid(), flush=True)
time.sleep(60)
"""


def forked_children():
    with shm.Publisher("fork", CTX) as p:
        root = p.add_root("r", as_of=True)
        v = p.add_variable(root, "v", 1, value=1)
        text = p.add_variable(root, "text", 5, value="parent")
        h = p.add_variable(root, "h", 6)
        q = p.add_variable(root, "q", 7)
        unpublished = shm.Publisher("fork2", CTX)
        unpublished.add_root("r")
        p.publish()
        before, owner = Seg(p.path).d[:], os.getpid()

        def use():
            ok(stderr_of(p.close) == "" and not p.holds_key, "silent")
            for call in (lambda: v.set(2), lambda: v.add(2), lambda: text.set("child"), lambda: h.observe(1),
                         lambda: q.set_summary(1, 1, []), lambda: root.set_state(4), lambda: root.set_synced(False), lambda: root.set_as_of(1),
                         p.heartbeat, p.notify, v.remove, root.remove,
                         lambda: ok(not p.add_object(p.add_root("c"), "c.c").alive and not p.add_variable(root, "c", 1).alive, "inert")):
                said.append(stderr_of(call))
            ok("".join(said) in (once, ""), f"one line: {said}")
            ok(raises(RuntimeError, unpublished.publish, "after the fork", owner), "refused in a child")
            unpublished.close()
        said, once = [], (f"shm_publisher: {p.path} belongs to process {owner}, which forked this one: make a Publisher with a "
                          "server key of its own after the fork. The calls of this process do nothing\n")
        ok(in_child(lambda: (use(), ok(said[0] == once, "the first call says it"))), "a child's calls do nothing")
        ok(in_child(lambda: p.__exit__(None, None, None)), "a child that leaves the block")
        ok(Seg(p.path).d[:] == before and Seg(p.path).held, "the parent's segment is as it was")

        def write_past_the_checks():
            p._u64[STATE // 8] = 9
        ok(in_child(write_past_the_checks) and Seg(p.path).state == 1, "the pages of a child are its own")
        ok(in_child(lambda: ok(in_child(use), "refused")), "the same for a child's child")
        ok(Seg(p.path).d[:] == before, "as it was")
        unknown = system.LIBC.fork()                              # Python does not notice it, and runs no after_in_child
        if unknown == 0:
            p.close()
            os._exit(not raises(RuntimeError, unpublished.publish, owner))
        ok(os.waitpid(unknown, 0)[1] == 0 and Seg(p.path).d[:] == before, "a fork that Python does not know of")
        ok(in_child(lambda: own_publisher("fork3")), "a child may have its own publisher")
        for method in ("fork", "forkserver", "spawn"):
            script = f"/tmp/{CTX}.py"
            with open(script, "w") as f:
                f.write(POOL)
            try:
                run = subprocess.run([sys.executable, script, HERE, CTX, method], capture_output=True, text=True)
            finally:
                os.unlink(script)
            ok(run.stdout == "10\n" and run.stderr == "", f"multiprocessing by {method}: {run.stderr}")
        stop = threading.Event()
        busy = threading.Thread(target=lambda: [text.set("parent") for _ in iter(stop.is_set, True)])
        busy.start()
        for _ in range(20):                                    # some children are forked while the thread is in a call
            ok(in_child(use), "forked while a thread uses it")
        stop.set()
        busy.join()
        v.set(3)
        ok(Seg(p.path).var("v")["value"] == 3, "the parent goes on")
        unpublished.publish()
        ok(Seg(unpublished.path).state == 1, "the parent publishes after the fork")
        unpublished.close()


def own_publisher(key):
    with shm.Publisher(key, CTX) as p:
        p.add_root("r")
        p.publish()
        ok(Seg(p.path).held, "live")


def children_that_stay():
    """A child that outlives its parent keeps no lock.  A daemon that forked twice needs its own publisher."""
    parent = subprocess.Popen([sys.executable, "-c", DAEMON, HERE, CTX], stdout=subprocess.PIPE, text=True)
    daemon = int(parent.stdout.readline())
    try:
        ok(Seg(path("stay")).held, "held by the parent")
        parent.kill()
        parent.wait()
        ok(not Seg(path("stay")).held, "not held by the daemon")
        own_publisher("stay")
    finally:
        os.kill(daemon, signal.SIGKILL)
        parent.stdout.close()


def until(condition, what):
    end = time.monotonic() + 60
    while not condition():
        ok(time.monotonic() < end, what)
        time.sleep(.05)


def stderr_of(call):
    """Returns what a call writes to stderr."""
    read, write = os.pipe2(os.O_NONBLOCK)
    saved = os.dup(2)
    os.dup2(write, 2)
    os.close(write)
    try:
        call()
    finally:
        os.dup2(saved, 2)
        os.close(saved)
    try:
        return os.read(read, 1 << 16).decode()
    except BlockingIOError:
        return ""
    finally:
        os.close(read)


def waiting(name, pid=None):
    """Returns the line that a publisher writes when it begins to wait for its key."""
    return (f"shm_publisher: another publisher holds {name} (process {pid or os.getpid()}); this publisher takes the key once it is "
            "free (set fail_if_busy to get an error instead; give each worker process a key with {pid}, and "
            'all of them one target with format = "workers")\n')


def taken(name):
    """Returns the line that a publisher writes when it gets the key for which it has waited."""
    return f"shm_publisher: this publisher now holds {name}\n"


def later(p):
    """Notifies as if a second had passed."""
    p._next_name_check = 0
    p.notify()


def waiting_publishers():
    """A program that starts before its predecessor ends loses no value, and reports once why readers do not see it."""
    first, p, third = (shm.Publisher("wait", CTX) for _ in range(3))
    first.publish()
    root = p.add_root("r")
    v = p.add_variable(root, "v", 1, value=1)
    tries = []

    def wait():
        p.publish()
        v.set(2)
        later(p)
        link, p._link = p._link, lambda name: tries.append(name) or link(name)
        for _ in range(100):
            p.notify()
        third.publish()
    lines = stderr_of(wait)
    ok(lines == 2 * waiting(p.path) and tries == [], "one line for each; no try within a second")
    ok(not p.holds_key and not third.holds_key and Seg(p.path).d[40:48] == bytes(first._bytes[40:48]), "the first holds the key")
    added = p.add_variable(root, "added", 5, value="while it waits")
    first.close()
    ok(not os.path.exists(p.path), "free")
    with Refusing(errno.ENOSPC, 0):
        ok(stderr_of(lambda: (later(p), later(p))) == taken(p.path) and p.holds_key, "takes the key, also if /dev/shm is full")
    g = Seg(p.path)
    ok(g.state == 1 and g.held and g.var("v")["value"] == 2 and g.var("added")["synced"], "all values are there")
    ok(stderr_of(lambda: (later(third), third.publish())) == "" and not third.holds_key, "the other one goes on waiting")
    third.close()
    ok(Seg(p.path).held and os.path.exists(p.path), "and leaves the holder alone when it is closed")
    added.remove()
    with shm.Publisher("wait", CTX, heartbeat_period=0) as silent:
        stderr_of(silent.publish)
        p.close()
        ok(stderr_of(silent.publish) == taken(p.path), "and says so")
        ok(silent.holds_key and Seg(p.path).held, "without heartbeats, publish() tries again")
    ok(not os.path.exists(p.path), "closed")


def waiting_for_a_killed_publisher():
    """SIGKILL frees the key.  Without /proc, the file of a waiting publisher has a temporary name, which close()
    removes."""
    code = ("import sys, time; sys.path.insert(0, sys.argv[1]); import shm_publisher as shm\n"
            "p = shm.Publisher('killed', sys.argv[2]); p.publish(); print('placed', flush=True); time.sleep(60)")
    child = subprocess.Popen([sys.executable, "-c", code, HERE, CTX], stdout=subprocess.PIPE)
    child.stdout.readline()
    access, os.access = os.access, lambda *_: False
    try:
        for ends in (False, True):
            p = shm.Publisher("killed", CTX)
            ok(stderr_of(p.publish) == waiting(p.path, child.pid), "waits")
            stderr_of(lambda: later(p))
            ok(len(glob.glob(f"/dev/shm/.{CTX}*")) == 1, "with a temporary name")
            if ends:
                child.kill()
                child.wait()
                ok(stderr_of(lambda: later(p)) == taken(p.path), "says so")
                ok(p.holds_key and Seg(p.path).held, "takes the key")
            p.close()
            ok(not glob.glob(f"/dev/shm/.{CTX}*") and os.path.exists(p.path) != ends, "no trace")
    finally:
        os.access = access
        child.stdout.close()


def interrupted_publish():
    """If a signal handler raises an exception while a publisher takes its key, the publisher never waits for a key
    that it already holds."""
    first = shm.Publisher("interrupted", CTX)
    first.publish()
    p = shm.Publisher("interrupted", CTX)
    stderr_of(p.publish)
    first.close()
    interrupted = at_every_line(lambda: later(p), lambda: (_ for _ in ()).throw(KeyboardInterrupt))
    stderr_of(lambda: list(interrupted))
    ok(stderr_of(lambda: later(p)) == "" and p.holds_key and Seg(p.path).held, "it has the key")
    p.close()


def other_stderr():
    """A publisher can wait with any stderr: a full pipe, a broken pipe, none, or an object that is not a file."""
    def wait():
        p = shm.Publisher("stderr", CTX)
        p.publish()
        p.close()

    def full():
        read, write = os.pipe()
        os.set_blocking(write, False)
        try:
            while os.write(write, b"x" * 1000):
                pass
        except BlockingIOError:
            os.set_blocking(write, True)
        os.dup2(write, 2)
        wait()

    def broken():
        read, write = os.pipe()
        os.close(read)
        os.dup2(write, 2)
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
        wait()

    def without():
        os.close(2)
        wait()
        sys.stderr = None
        wait()

    def no_file():
        sys.stderr = io.StringIO()
        wait()
        ok(sys.stderr.getvalue().startswith("shm_publisher: another publisher"), "written to it")
    with shm.Publisher("stderr", CTX) as first:
        first.publish()
        for case in (full, broken, without, no_file):
            ok(in_child(case), case.__name__)


def keys_of_other_users():
    """If a dead publisher of user root has the key, the error names the remedy.  If that publisher lives, the program
    waits."""
    code = ("import os, sys; sys.path.insert(0, sys.argv[1])\nimport shm_publisher as shm\nos.setgid(65534); os.setuid(65534)\n"
            "shm.Publisher('foreign', sys.argv[2]).publish()")

    def publish():
        return subprocess.run([sys.executable, "-c", code, HERE, CTX], capture_output=True, text=True)
    if os.getuid():
        return
    for mode, why in ((0o644, "and its publisher has ended"), (0o666, "and its publisher has ended"),
                      (0o600, "and this program may not read it")):
        p = shm.Publisher("foreign", CTX, mode=mode)
        p.publish()
        if mode != 0o600:
            done = publish()
            ok(done.returncode == 0 and done.stderr == waiting(p.path), f"waits: {done.stderr}")
        p._leave()                                              # as if it had been killed
        done = publish()
        ok(done.returncode == 1 and f"the file belongs to user root, {why}: remove it as that user: '{p.path}'" in done.stderr,
           done.stderr)
        os.unlink(p.path)


def names_taken_away():
    """A heartbeat restores a name that was removed, for example by logind at the last logout of a user."""
    with shm.Publisher("name", CTX, mode=0o640) as p:
        root = p.add_root("r")
        v, text = p.add_variable(root, "v", 1, value=1), p.add_variable(root, "text", 5, value="kept")
        full = [p.add_variable(root, "full", 1, value=i) for i in range(2000)]      # on several pages
        p.heartbeat()
        ok(not os.path.exists(p.path), "none before publish()")
        p.publish()
        for beat in (p.heartbeat, p.notify):
            before = Seg(p.path)
            fd = os.open(p.path, os.O_RDONLY)
            os.unlink(p.path)
            until(lambda: beat() or os.path.exists(p.path), "placed again")
            old, g = Seg(None, fd), Seg(p.path)
            os.close(fd)
            ok(old.state == 3 and not old.held, "the old file is superseded, and its lock is gone")
            ok(g.state == 1 and g.held and g.d[40:48] == before.d[40:48], "live, with the same generation")
            ok(os.stat(p.path).st_mode & 0o777 == 0o640, "the same mode")
            ok(g.vars == before.vars and g.objects == before.objects, "the same objects and values")
            v.add(1)
            text.set("moved")
            full.pop().remove()
            p.add_object(root, f"r.{beat.__name__}")
            g = Seg(p.path)
            ok(g.var("v")["value"] == before.var("v")["value"] + 1 and g.var("text")["frame"][16:21] == b"moved", "written to")
            ok(len(g.objects) == len(before.objects) + 1 and len(g.vars) == len(before.vars) - 1, "changed")
        ok(not glob.glob(f"/dev/shm/.{CTX}*"), "no temporary left")

        os.unlink(p.path)
        with Refusing(errno.ENOSPC, 1):
            said = stderr_of(lambda: [later(p) for _ in range(2)])
            ok(said == f"shm_publisher: {p.path} cannot be taken: No space left on device; the publisher tries again every second\n",
               "says once why")
            ok(not glob.glob(f"/dev/shm/*{CTX}*") and not glob.glob(f"/dev/shm/.{CTX}*"), "no room: nothing is left")
        with shm.Publisher("name", CTX) as other:
            other.publish()
            said = stderr_of(lambda: [later(p) for _ in range(3)])
            ok(said == waiting(p.path) and not p.holds_key and other.holds_key, "says once that another one has the name")
            ok(Seg(p.path).d[40:48] == bytes(other._bytes[40:48]) and Seg(p.path).held, "another one keeps the name")
        said = stderr_of(lambda: until(lambda: p.notify() or os.path.exists(p.path), "placed again after the other one has closed"))
        ok(said == taken(p.path), "says that it has the name again")
        v.set(99)
        ok(Seg(p.path).var("v")["value"] == 99, "written to")
        open(f"{p.path}.new", "wb").close()
        os.rename(f"{p.path}.new", p.path)
        until(lambda: p.notify() or os.path.getsize(p.path) > 0, "a file that is no segment is replaced")
        for came in at_every_line(lambda: (os.path.exists(p.path) and os.unlink(p.path), setattr(p, "_next_name_check", 0),
                                           p.notify()), lambda: (_ for _ in ()).throw(KeyboardInterrupt)):
            v.add(1)
        p._next_name_check = 0
        p.notify()
        ok(Seg(p.path).var("v")["value"] > 150, "placed after any exception of a handler")
        ok(not glob.glob(f"/dev/shm/.{CTX}*"), "no temporary left")
    ok(not glob.glob(f"/dev/shm/*{CTX}*"), "the close removes the new name")


def closed_descriptors():
    """If a program closes all descriptors and opens other files, the publisher does not change these files."""
    def run():
        p = shm.Publisher("closed", CTX, records=1 << 14, slots=1 << 14)
        root = p.add_root("r")
        p.publish()
        mine = os.memfd_create("mine")
        os.write(mine, b"mine" * 2048)
        first = p._fd
        os.dup2(mine, first)
        ok(all(p.add_variable(root, f"v{i}", shm.U64, value=i).alive for i in range(2000)), "added")
        ok(len(Seg(p.path).vars) == 2000 and p._fd != first, "the file is opened again")
        for publishes_again in (False, True):
            os.dup2(mine, p._fd)
            if publishes_again:
                os.unlink(p.path)
            said = stderr_of(lambda: later(p) if publishes_again else p.notify())
        ok("cannot be taken: No such file" in said and not os.path.exists(p.path), "without name and descriptor there is no way back")
        p.close()
        ok(os.pread(mine, 9000, 0) == os.pread(first, 9000, 0) == b"mine" * 2048, "untouched")
    ok(in_child(run), "the descriptors of the program")


def publishers_let_go():
    """The garbage collector closes a publisher without references.  The end of the program does not."""
    for _ in range(3):
        p = shm.Publisher("gone", CTX)
        v = p.add_variable(p.add_root("r"), "v", shm.U64, value=1)
        p.publish()
        for copied in (copy.copy, copy.deepcopy, pickle.dumps):
            ok(all(raises(TypeError, lambda: copied(each), "cannot be copied") for each in (p, v)), "one of each")
        del p, v
        gc.collect()
        ok(not os.path.exists(path("gone")), "closed")
    code = ("import sys; sys.path.insert(0, sys.argv[1]); import shm_publisher as shm\n"
            "p = shm.Publisher('gone', sys.argv[2]); p.publish()")
    subprocess.run([sys.executable, "-c", code, HERE, CTX], check=True)
    ok(Seg(path("gone")).state == 1, "a program that ends leaves its segment")
    os.unlink(path("gone"))


def names_out_of_sight():
    """The publisher does not copy a file whose name it cannot see, as after chroot() or, here, after a rename."""
    with shm.Publisher("sight", CTX) as p:
        p.add_root("r")
        p.publish()
        elsewhere = f"{p.path}.elsewhere"
        os.rename(p.path, elsewhere)
        p._next_name_check = 0
        p.notify()
        ok(not os.path.exists(p.path) and Seg(elsewhere).state == 1, "neither copied nor superseded")
        os.rename(elsewhere, p.path)


def dropped_rights():
    """If the program may no longer remove the segment's name, close() raises no exception."""
    def run():
        with shm.Publisher("rights", CTX) as p:
            p.publish()
            os.setgid(65534)
            os.setuid(65534)
            p.notify()
        ok(Seg(p.path).state == 2, "closed, with its name")
    if os.getuid() == 0:
        ok(in_child(run), "close() raises nothing")
        os.unlink(path("rights"))


def refused_starts():
    code = ("import os, sys; sys.path.insert(0, sys.argv[1]); import shm_publisher as shm\n"
            "p = shm.Publisher('busy', sys.argv[2], fail_if_busy=True); p.add_root('r'); os.kill(os.getpid(), int(sys.argv[3])); p.publish()")
    with shm.Publisher("busy", CTX) as p:
        p.publish()
        before = Seg(p.path).d[:]
        for _ in range(10):
            run = subprocess.run([sys.executable, "-c", code, HERE, CTX, "0"], capture_output=True, text=True)
            ok(run.returncode == 1 and "AnotherPublisherLives" in run.stderr, "refused")
        ok(os.listdir("/dev/shm").count(os.path.basename(p.path)) == 1 and Seg(p.path).d[:] == before, "the first is untouched")
        subprocess.run([sys.executable, "-c", code, HERE, CTX, "9"])
        ok(not glob.glob(f"/dev/shm/.{CTX}*"), "refused starts, and one that is killed, leave nothing")
        access, os.access = os.access, lambda *_: False               # as if there were no /proc
        try:
            ok(raises(shm.AnotherPublisherLives, shm.Publisher("busy", CTX, fail_if_busy=True).publish), "refused")
            p.close()
            os.close(os.open(p.path, os.O_CREAT))                     # an unlocked file, which is replaced
            for _ in range(2):
                with shm.Publisher("busy", CTX) as q:
                    ok(len(glob.glob(f"/dev/shm/.{CTX}*")) == 1, "a temporary name")
                    q.publish()
                    ok(Seg(q.path).held and not glob.glob(f"/dev/shm/.{CTX}*"), "placed, without a temporary name")
        finally:
            os.access = access
        ok(not glob.glob(f"/dev/shm/.{CTX}*"), "nothing is left without /proc")


def limits_of_the_process():
    def below_file_limit():
        signal.signal(signal.SIGXFSZ, signal.SIG_DFL)                  # Python ignores it from its start
        resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 17, 1 << 17))
        ok(raises(OSError, lambda: check_errno(errno.EFBIG, lambda: shm.Publisher("limit", CTX)), "ulimit -f"), "refused")
        with shm.Publisher("limit", CTX, records=16, strings=256, slots=16, frames=256) as p:
            p.publish()

    def check_errno(number, call):
        try:
            call()
        except OSError as e:
            ok(e.errno == number and CTX in e.filename, f"{number}, and the file")
            raise OSError(str(e)) from None

    def in_locked_memory():
        ok(system.LIBC.mlockall(2) == 0, "mlockall(MCL_FUTURE)")
        try:
            with shm.Publisher("locked", CTX, records=1 << 20) as p:
                p.publish()
                os.unlink(p.path)
                until(lambda: p.notify() or os.path.exists(p.path), "placed again")
                facts = os.fstat(p._fd)
                ok(facts.st_blocks * 512 < facts.st_size / 10, "only what is used takes memory")
        except OSError as e:                                           # not root
            ok(e.errno == errno.EAGAIN and "ulimit -l" in str(e), "larger than ulimit -l")
    ok(in_child(below_file_limit), "below ulimit -f")
    ok(in_child(in_locked_memory), "in locked memory")
    ok(not glob.glob(f"/dev/shm/.{CTX}*"), "nothing is left")


def full_shared_memory():
    """With a small private /dev/shm, variables without room are dropped.  After a removal, there is room again."""
    private = ["unshare", "--mount", "--map-root-user"] if os.getuid() else ["unshare", "--mount"]
    code = f"""
import sys; sys.path.insert(0, {HERE!r}); import shm_publisher as shm
try:
    p = shm.Publisher("full", {CTX!r}, records=65536, slots=65536)
except OSError as e:
    sys.exit(f"{{e}}")
root = p.add_root("r")
nodes = [p.add_variable(root, f"name {{n}}", shm.U64, value=n) for n in range(20000)]
p.publish()
alive = [n for n in nodes if n.alive]
for n in alive[:100]:
    n.remove()
p.notify()
again = [p.add_variable(root, f"name {{n}}", shm.U64, value=n) for n in range(100)]
print(len(alive), sum(n.alive for n in again), len(p._live))
p.close()
"""
    def run(size, *command):
        mount = f'mount -t tmpfs -o size={size} tmpfs /dev/shm && exec "$@"'
        return subprocess.run([*private, "sh", "-c", mount, "sh", *command], capture_output=True, text=True)
    if run("4k", "true").returncode:
        print("  no namespaces here: a full /dev/shm is not tried")
        return
    done = run("600k", sys.executable, "-c", code)
    alive, again, live = map(int, done.stdout.split())
    ok(done.returncode == 0 and 100 < alive < 20000 and again == 100 and live == alive + 1, done.stdout + done.stderr)
    done = run("4k", sys.executable, "-c", code)
    ok(done.returncode == 1 and "/dev/shm has no room" in done.stderr and f"{CTX}.pool.full" in done.stderr, done.stderr)


def threads():
    """Threads add, remove and set at the same time, while a reader checks the bytes."""
    with shm.Publisher("threads", CTX, records=256, slots=128, frames=4096, strings=4096) as p:
        root = p.add_root("r")
        text = p.add_variable(root, "text", 5, value="0" * 64, capacity=64)
        h = p.add_variable(root, "h", 6, schema=[1])
        p.publish()

        def work(n):
            for i in range(300):
                o = p.add_object(root, f"r.{n}")
                v = p.add_variable(o, "v", 5, value=str(n), capacity=8)
                text.set(str(n) * 64)
                h.observe(n)
                v.set(str(i % 10))
                o.remove()
                p.notify()
        workers = [threading.Thread(target=work, args=(n,)) for n in range(4)]
        for worker in workers:
            worker.start()
        while any(worker.is_alive() for worker in workers):
            with p._lock:
                frame = Seg(p.path).var("text")["frame"]
            ok(len(set(frame[16:80])) == 1, "the text of one thread")
            time.sleep(.01)                                         # without the lock, which the workers need
        g = Seg(p.path)
        ok(len(g.objects) == 1 and g.dropped == (0, 0), "all removed, none dropped")
        ok(struct.unpack("<dQQ", g.var("h")["frame"][8:32]) == (1800.0, 600, 600), "no observation is lost")


def futex_wakes():
    p = shm.Publisher("fx", CTX); p.publish()
    code = ("import ctypes,mmap,os,sys\nfd=os.open(sys.argv[1],os.O_RDWR);m=mmap.mmap(fd,4096)\n"
            "w=ctypes.c_uint32.from_buffer(m,1152);print('w',flush=True)\n"
            "t=(ctypes.c_long*2)(60,0)\n"
            "while ctypes.CDLL(None).syscall(202,ctypes.byref(w),0,w.value,t,None,0): pass\n"   # unless it changes before the wait
            "print('woken')")
    child = subprocess.Popen([sys.executable, "-c", code, p.path], stdout=subprocess.PIPE, text=True)
    child.stdout.readline()
    until(lambda: (p.notify(), child.poll() is not None)[1], "woken")
    ok(child.stdout.read().strip() == "woken" and child.returncode == 0, "woken"); child.stdout.close()
    p.close()


if __name__ == "__main__":
    ok(zlib.crc32(b"123456789") == 0xCBF43926, "crc32")
    try:
        for test in (scalars_and_frames, additions, labels, whole_histograms, removal_and_reuse, directory_change, names_and_locks, example_runs,
                     frames_under_load, futex_wakes, signal_handlers, exceptions_of_handlers,
                     collected_objects, forked_children, children_that_stay, no_memory,
                     waiting_publishers, waiting_for_a_killed_publisher, interrupted_publish, other_stderr, keys_of_other_users,
                     names_taken_away, closed_descriptors, names_out_of_sight, publishers_let_go, dropped_rights, refused_starts,
                     limits_of_the_process, full_shared_memory, threads):
            test(); print("ok", test.__name__, flush=True)
        ok(not glob.glob(f"/dev/shm/*{CTX}*") and not glob.glob(f"/dev/shm/.*{CTX}*"), "nothing left in /dev/shm")
        print(f"{passed} checks passed")
    finally:
        for left in glob.glob(f"/dev/shm/*{CTX}*") + glob.glob(f"/dev/shm/.*{CTX}*"):
            os.unlink(left)
