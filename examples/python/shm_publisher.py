"""A publisher of shared-memory segments, format 1.0 (docs/segment-format.md).

    with Publisher("server1") as pub:
        root = pub.add_root("host.1.app", "Application")
        hits = pub.add_variable(root, "hits", U64, kind=COUNTER, value=0)
        pub.publish()                     # from here on readers can see it
        hits.set(17); pub.heartbeat(); pub.notify()

Nothing but the standard library; Linux, little-endian.  Plain stores in program order are all that
Python has: that is the order that the page demands on x86-64, but not on weakly ordered machines.
"""
import ctypes
import errno
import fcntl
import mmap
import os
import platform
import re
import secrets
import struct
import sys
import threading
import time
import zlib
from bisect import bisect_left
from collections import deque
from math import isfinite, isnan, nan

U64, I64, F64, BOOL, STRING, HISTOGRAM, SUMMARY = range(1, 8)                   # types
UNKNOWN, COUNTER, GAUGE = range(3)                                              # kinds
INIT, NORMAL, MANUAL_RECOVERY, AUTO_RECOVERY, DEAD, INVALID = range(6)          # states of an object

SHM = "/dev/shm"
PAGE, STEP, RECORD_SIZE = 4096, 65536, 64
BUILDING, LIVE, CLOSED, SUPERSEDED = range(4)                                   # states of a segment
STATE, HEARTBEAT, TICK, DIRECTORY = 1024, 1088, 1152, 1216                      # mutable words
STRING_BYTES = (1280, 1344)                                                     # of A, of B
OBJECTS_DROPPED, VARIABLES_DROPPED = 1408, 1472
OBJECT_RECORD, VARIABLE_RECORD, TOMBSTONE = 1, 2, 3
NO_SLOT = 0xFFFFFFFF
MAX_INCARNATION = 2**31 - 1
MAX_DEPTH, MAX_TEXT, MAX_SCHEMA = 64, 65528, 512
HEADER = struct.Struct("<8sIHHIIQQQQQQQQQQQQQQQQQQQ76x")                        # bytes 0 to 251
RECORD = struct.Struct("<IBBBBIQQI7I")                                          # bytes 4 to 63
FORMATS = {U64: "Q", I64: "q", F64: "d", BOOL: "Q"}
RANGES = {U64: (0, 2**64 - 1), I64: (-2**63, 2**63 - 1)}
USUAL = object()                                                                # a histogram or summary begins empty
FUTEX_WAKE, SYS_FUTEX = 1, {"x86_64": 202, "aarch64": 98, "riscv64": 98}.get(platform.machine())


class AnotherPublisherLives(Exception):
    """The name belongs to a process that still holds its lock."""


class NoRoom(Exception):
    """Records, strings, slots, frames or memory are used up; never leaves this module."""


def _page_up(n):
    return -(-n // PAGE) * PAGE


def _string(text, most, what):
    data = text.encode("utf-8")
    if len(data) > most:
        raise ValueError(f"{what} has {len(data)} bytes, at most {most} are allowed")
    return data


def _number(type_, value, what):
    """A scalar as it is stored; checked before anything is, for half an update would stay."""
    if type_ == BOOL:
        return int(bool(value))
    if type_ == F64:
        return float(value)
    least, most = RANGES[type_]
    if value != int(value) or not least <= value <= most:
        raise ValueError(f"{what} cannot be {value}: integers from {least} to {most} are allowed")
    return int(value)


def _lock(fd):
    """A write lock on the whole file that belongs to the open file description, not to the process."""
    # struct flock: l_type, l_whence, (padding), l_start, l_len, l_pid (0, or the kernel refuses), (padding)
    fcntl.fcntl(fd, fcntl.F_OFD_SETLK, struct.pack("@hhqqi4x", fcntl.F_WRLCK, os.SEEK_SET, 0, 0, 0))


class _Node:
    """What an object and a variable have in common: an id, a slot, strings and a record."""

    def __init__(self, publisher, parent, strings):
        self._pub, self._parent, self._strings = publisher, parent, strings
        self.id = self.slot = self.incarnation = None
        self.frame, self.frame_length = 0, 0
        self.as_of_slot, self.as_of_incarnation = NO_SLOT, 0
        self.alive = False                  # False: dropped for lack of room, or removed; stores are ignored

    @property
    def name(self):
        return self._strings[0].decode("utf-8")

    def set_synced(self, synced):
        with self._pub._lock:
            if self.alive:
                self._pub._u32[self._pub._words // 4 + self.slot] = self.incarnation << 1 | bool(synced)

    def remove(self):
        self._pub.remove(self)

    def _store(self, value, fmt="Q"):
        self._pub._view(fmt)[self._pub._slots // 8 + self.slot] = value


class Object(_Node):
    def __init__(self, publisher, parent, strings):
        super().__init__(publisher, parent, strings)
        self.depth = parent.depth + 1 if parent else 1
        self._children = {}

    def set_state(self, state):
        if not INIT <= state <= INVALID:
            raise ValueError(f"no such state: {state}")
        with self._pub._lock:
            if self.alive:
                self._store(state)

    def set_as_of(self, ns):
        """The moment (CLOCK_REALTIME in ns) that the root's values stand for; None: no such moment."""
        with self._pub._lock:
            if self.alive and self.as_of_slot != NO_SLOT:
                if ns is not None:
                    self._pub._u64[self._pub._slots // 8 + self.as_of_slot] = ns            # value, ...
                self._pub._u32[self._pub._words // 4 + self.as_of_slot] = (                 # ... then bit
                    self.as_of_incarnation << 1 | (ns is not None))

    def _record(self, index, offsets):
        return RECORD.pack(index, OBJECT_RECORD, 0, 0, 0, self.slot, self.id, self._parent.id if self._parent else 0,
                           self.incarnation, *offsets, 0 if self._parent else self.as_of_slot, self.as_of_incarnation)


class Variable(_Node):
    def __init__(self, publisher, parent, strings, type_, kind, schema, capacity):
        super().__init__(publisher, parent, strings)
        self.type, self.kind, self._schema, self._capacity = type_, kind, schema, capacity
        self.frame_length = {STRING: 3 + capacity // 8, HISTOGRAM: 4 + len(schema),
                             SUMMARY: 4 + len(schema)}.get(type_, 0)

    # -- scalars and texts ---------------------------------------------------------------------------------

    def set(self, value):
        """Gives a scalar or a text a value, and syncs it."""
        if self.type in (HISTOGRAM, SUMMARY):
            raise TypeError("a histogram has observe(), a summary set_summary()")
        value = self._cut(value) if self.type == STRING else _number(self.type, value, "a value")
        with self._pub._lock:
            if self.alive:
                if self.type == STRING:
                    self._update(lambda: self._text_payload(value))
                else:
                    self._store(value, FORMATS[self.type])      # one 8-byte store, nothing else
                self._sync()

    def _cut(self, text):
        data = text.encode("utf-8")
        if len(data) > self._capacity:                          # cut at a character's start
            cut = self._capacity
            while cut and data[cut] & 0xC0 == 0x80:
                cut -= 1
            data = data[:cut]
        return data

    def _text_payload(self, data):
        at = self._unit + 1
        self._pub._u64[at] = len(data)
        padded = memoryview(data.ljust(self._capacity, b"\0")).cast("Q")
        for i, word in enumerate(padded):
            self._pub._u64[at + 1 + i] = word

    # -- histograms and summaries --------------------------------------------------------------------------

    def observe(self, value):
        if self.type != HISTOGRAM:
            raise TypeError("not a histogram")
        value = float(value)
        if isnan(value):
            raise ValueError("NaN cannot be observed")          # the page names no bucket for it

        def payload():
            bucket = self._unit + 2 + bisect_left(self._schema, value)      # first bound not exceeded, or +Inf
            self._pub._u64[bucket] += 1
            self._pub._f64[self._unit + 1] += value
        with self._pub._lock:
            if self.alive:
                self._update(payload)
                self._sync()

    def set_summary(self, count, total, values):
        if self.type != SUMMARY or len(values) != len(self._schema):
            raise TypeError("not a summary, or not one value a quantile")
        count, total, values = _number(U64, count, "a count"), float(total), [float(value) for value in values]

        def payload():
            self._pub._u64[self._unit + 1] = count
            self._pub._f64[self._unit + 2] = total
            for i, value in enumerate(values):
                self._pub._f64[self._unit + 3 + i] = value
        with self._pub._lock:
            if self.alive:
                self._update(payload)
                self._sync()

    # -- frames --------------------------------------------------------------------------------------------

    @property
    def _unit(self):
        """Where the frame starts, in units of 8 bytes from the start of the file."""
        return self._pub._frames // 8 + self.frame

    def _update(self, payload):
        """Section 6: begin (the LAST unit), the payload, end (the FIRST unit), the slot; in this order."""
        u64, end = self._pub._u64, self._unit
        n = u64[end] + 1
        u64[end + self.frame_length - 1] = n        # 1. begin
        payload()                                   # 2.
        u64[end] = n                                # 3. end
        self._store(n)                              # 4. slot

    def _sync(self):
        """After the value: the bit.  A variable that is synced already costs no store."""
        word = self.incarnation << 1 | 1
        if self._pub._u32[self._pub._words // 4 + self.slot] != word:
            self._pub._u32[self._pub._words // 4 + self.slot] = word

    def _record(self, index, offsets):
        return RECORD.pack(index, VARIABLE_RECORD, self.type, self.kind, 0, self.slot, self.id, self._parent.id,
                           self.incarnation, *offsets, self.frame, self.frame_length, 0)


class Publisher:
    """One segment.  Threads may share it; a forked child must not touch it."""

    def __init__(self, server_key, context_id="shmApp", pool_name="pool", *, records=4096, strings=1 << 18,
                 slots=4096, frames=1 << 18, heartbeat_period=1.0, mode=0o644):
        name = f"{context_id}.{pool_name}.{server_key}"
        if not all(re.fullmatch(r"[A-Za-z0-9_.-]+", p) for p in (context_id, pool_name, server_key)) \
                or name.startswith(".") or len(name) > 200:
            raise ValueError(f"not a segment's name: {name!r}")
        if not (1 <= records <= 8388608 and 2 <= strings <= 134217728 and 1 <= slots <= 16777216
                and 0 <= frames <= 2147483648 and frames % 8 == 0):
            raise ValueError("a capacity is out of its range")
        if sys.byteorder != "little":
            raise OSError("this publisher stores native words, so it needs a little-endian machine")
        self.path = f"{SHM}/{name}"
        self._temporary = f"{SHM}/.{name}.{os.getpid()}.{secrets.token_hex(4)}.tmp"
        self._named = self._closed = False
        self._lock = threading.RLock()
        self._record_capacity, self._string_capacity = records, strings
        self._slot_capacity = slots

        at, offsets = PAGE, []
        for size in (records * 64, strings, records * 64, strings, slots * 4, slots * 8, frames):
            offsets.append(at)
            at += _page_up(size)
        dir_a, str_a, dir_b, str_b, self._words, self._slots, self._frames = offsets
        self._directories, self._string_regions, self.file_size = (dir_a, dir_b), (str_a, str_b), at

        # What lives: by id, and so in ascending order, for a dict keeps the order of insertion.
        self._live, self._next_id = {}, 1
        self._free_slots, self._fresh_slot = deque(), 0
        self._free_frames = [(0, frames // 8)] if frames else []        # (first unit, units), ascending
        self._epoch, self._records = 0, 0
        self._string_end, self._string_offsets = 2, {b"": 0}

        # Start (1): a temporary name that starts with a dot.  fchmod, for the umask would take from the mode.
        self._fd = os.open(self._temporary, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        self._map = None
        try:
            os.fchmod(self._fd, mode)
            os.ftruncate(self._fd, self.file_size)                      # (2) full size, sparse
            self._real_steps = set()
            self._make_real(0, PAGE)
            _lock(self._fd)                                             # (3) before anybody can find the file
            self._map = mmap.mmap(self._fd, self.file_size)
            self._bytes = memoryview(self._map)
            # Item stores of these views are single aligned stores; "<Q" of struct.pack_into need not be.
            self._u64, self._i64 = self._bytes.cast("Q"), self._bytes.cast("q")
            self._f64, self._u32 = self._bytes.cast("d"), self._bytes.cast("I")
            head = HEADER.pack(                                         # (4) the header, ...
                b"SHMEXP\r\n", 0x01020304, 1, 0, PAGE, RECORD_SIZE, 0, 0, secrets.randbelow(2**64 - 1) + 1,
                time.clock_gettime_ns(time.CLOCK_REALTIME), time.clock_gettime_ns(time.CLOCK_MONOTONIC), os.getpid(),
                int(heartbeat_period * 1e9), self.file_size, dir_a, dir_b, records, str_a, str_b, strings,
                self._words, self._slots, slots, self._frames, frames)
            self._bytes[0:256] = head + struct.pack("<I", zlib.crc32(head))
            self._u64[STRING_BYTES[0] // 8] = 2                         # ... string bytes A, ...
            self.heartbeat()                                            # ... heartbeat; objects: add_root() and so on
        except BaseException:
            self.close()
            raise

    def publish(self):
        """Ends the start: state = 1, then the name.  Until here nobody has seen the segment."""
        with self._lock:
            self.heartbeat()
            self._u64[STATE // 8] = LIVE                                # (5)
            try:
                self._take_name()                                       # (6)
            except BaseException:
                self.close()
                raise
            self._named = True

    def _take_name(self):
        for _ in range(3):
            try:
                os.link(self._temporary, self.path)
            except FileExistsError:
                pass
            else:
                os.unlink(self._temporary)
                return
            try:
                old = os.open(self.path, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
            except FileNotFoundError:                                   # closed between link and open
                continue
            try:
                try:
                    _lock(old)
                except OSError as e:
                    if e.errno in (errno.EAGAIN, errno.EACCES):
                        raise AnotherPublisherLives(self.path) from None
                    raise
                # We hold the lock: whoever else comes is refused, so the name is ours if it still is this file's.
                mine = os.fstat(old)
                try:
                    there = os.stat(self.path, follow_symlinks=False)
                except FileNotFoundError:
                    continue
                if (mine.st_dev, mine.st_ino) != (there.st_dev, there.st_ino):
                    continue                                            # somebody was faster
                os.rename(self._temporary, self.path)
                if mine.st_size >= PAGE and os.pread(old, 8, 0) == b"SHMEXP\r\n":
                    os.pwrite(old, struct.pack("<Q", SUPERSEDED), STATE)
                return
            finally:
                os.close(old)
        raise AnotherPublisherLives(f"{self.path}: others were faster three times")

    # -- adding --------------------------------------------------------------------------------------------

    def add_root(self, object_id, class_name="", *, host="", instance="", application="", state=NORMAL,
                 synced=True, as_of=False):
        return self._add_object(None, object_id, class_name, host, instance, application, state, synced, as_of)

    def add_object(self, parent, object_id, class_name="", *, state=NORMAL, synced=True):
        return self._add_object(parent, object_id, class_name, "", "", "", state, synced, False)

    def _add_object(self, parent, object_id, class_name, host, instance, application, state, synced, as_of):
        if not INIT <= state <= INVALID:
            raise ValueError(f"no such state: {state}")
        if parent and parent.depth >= MAX_DEPTH:
            raise ValueError(f"more than {MAX_DEPTH} objects on a path")
        if parent and (not object_id.startswith(parent.name + ".") or len(object_id) < len(parent.name) + 2):
            raise ValueError(f"the id of what is below {parent.name} begins with it and a dot, found {object_id!r}")
        node = Object(self, parent, [_string(text, 1024, what) for text, what in (
            (object_id, "object id"), (class_name, "class"), (host, "host"), (instance, "instance"),
            (application, "application"))])

        def value():
            node._store(state)
            return synced
        self._add(node, value, OBJECTS_DROPPED, as_of)
        return node

    def add_variable(self, parent, name, type_, *, kind=UNKNOWN, unit="", help="", value=USUAL, schema=(),
                     capacity=256):
        """`value`: the first value; None: unsynced, as all but histograms and summaries are without it.  A histogram's
        is an iterable of observations, by default none; a summary's is (count, sum, values), by default (0, 0, NaN).
        `capacity`: bytes that a text may have."""
        if not U64 <= type_ <= SUMMARY or not UNKNOWN <= kind <= GAUGE:
            raise ValueError("no such type or kind")
        if kind and type_ in (STRING, HISTOGRAM, SUMMARY):
            raise ValueError("texts, histograms and summaries are of kind 0")
        schema = [float(x) for x in schema]
        if schema and (type_ not in (HISTOGRAM, SUMMARY) or len(schema) > MAX_SCHEMA or not all(map(isfinite, schema))
                       or any(a >= b for a, b in zip(schema, schema[1:]))
                       or type_ == SUMMARY and not 0 <= schema[0] <= schema[-1] <= 1):
            raise ValueError("not a schema")
        if not 0 <= capacity <= MAX_TEXT:
            raise ValueError(f"a text has at most {MAX_TEXT} bytes")
        if value is USUAL:
            value = {HISTOGRAM: (), SUMMARY: (0, 0.0, [nan] * len(schema))}.get(type_)
        if value is not None and type_ < STRING:
            value = _number(type_, value, name)
        elif value is not None and type_ == HISTOGRAM:
            value = [float(v) for v in value]
            if any(map(isnan, value)):
                raise ValueError("NaN cannot be observed")
        elif value is not None and type_ == SUMMARY:
            if len(value[2]) != len(schema):
                raise ValueError("not one value a quantile")
            value = _number(U64, value[0], name), float(value[1]), [float(v) for v in value[2]]
        node = Variable(self, parent, [
            _string(name, 1024, "name"), _string(unit, 64, "unit"), _string(help, 4096, "help"),
            struct.pack(f"<{len(schema)}d", *schema)], type_, kind, schema, -(-capacity // 8) * 8)

        def first():
            # The slot and the frame may hold what their last owner left: clear both.  No reader looks at them yet.
            node._store(0)
            for i in range(node.frame_length):
                self._u64[node._unit + i] = 0
            if value is None:
                return False
            if type_ == STRING:
                node._update(lambda: node._text_payload(node._cut(value)))
            elif type_ == HISTOGRAM:
                def observations():
                    for v in value:
                        self._u64[node._unit + 2 + bisect_left(schema, v)] += 1
                        self._f64[node._unit + 1] += v
                node._update(observations)
            elif type_ == SUMMARY:
                count, total, values = value

                def numbers():
                    self._u64[node._unit + 1], self._f64[node._unit + 2] = count, total
                    for i in range(len(schema)):
                        self._f64[node._unit + 3 + i] = values[i]
                node._update(numbers)
            else:
                node._store(value, FORMATS[type_])
            return True
        self._add(node, first, VARIABLES_DROPPED, False)
        return node

    def _add(self, node, store_value, dropped, as_of):
        with self._lock:
            if self._closed:
                return
            slots, frame = [], None
            try:                                                        # room for all of it, before any store
                if node._parent and not node._parent.alive:
                    raise NoRoom                                        # its object was dropped or removed
                for _ in range(1 + as_of):
                    slots.append(self._take_slot())
                frame = self._take_frame(node.frame_length)
                self._make_room(node._strings)
            except NoRoom:
                self._free_slots.extendleft(reversed(slots))
                if frame is not None:
                    self._give_frame(frame, node.frame_length)
                self._u64[dropped // 8] += 1
                return
            word = self._words // 4
            node.slot, node.incarnation = slots[0], self._u32[word + slots[0]] >> 1 or 1
            node.frame = frame or 0
            # The order: value, word, strings, string bytes, record, directory.
            synced = bool(store_value())
            self._u32[word + node.slot] = node.incarnation << 1 | synced
            if as_of:
                node.as_of_slot, node.as_of_incarnation = slots[1], self._u32[word + slots[1]] >> 1 or 1
                self._u64[self._slots // 8 + slots[1]] = 0
                self._u32[word + slots[1]] = node.as_of_incarnation << 1
            node.id, self._next_id = self._next_id, self._next_id + 1
            side = self._epoch & 1
            offsets = [self._append_string(side, s) for s in node._strings]
            self._u64[STRING_BYTES[side] // 8] = self._string_end
            self._write_record(side, self._records, node._record(self._records, offsets))
            self._set_directory(self._epoch, self._records + 1)
            node.alive = True
            self._live[node.id] = node
            if node._parent:
                node._parent._children[node.id] = node

    # -- removing ------------------------------------------------------------------------------------------

    def remove(self, node):
        """Removes a variable, or an object with everything below it."""
        with self._lock:
            if self._closed or not node.alive:
                return
            gone = list(self._subtree(node))
            # First the removal is published: by a tombstone, or, where there is no room for one, by a directory
            # that does without what is gone, which says the same.
            tombstone = self._records < self._record_capacity
            if tombstone:
                try:
                    self._make_real(self._directories[self._epoch & 1] + RECORD_SIZE * self._records, RECORD_SIZE)
                except NoRoom:
                    tombstone = False
            for n in gone:
                del self._live[n.id]
                n.alive = False
            if node._parent:
                del node._parent._children[node.id]
            if tombstone:
                self._write_record(self._epoch & 1, self._records, RECORD.pack(
                    self._records, TOMBSTONE, 0, 0, 0, 0, 0, node.id, 0, *[0] * 7))
                self._set_directory(self._epoch, self._records + 1)
            else:
                self._change_directory()
            # Then the words change, and only then may slots and frames be used again.
            for n in gone:
                for slot in (n.slot, n.as_of_slot):
                    if slot == NO_SLOT:
                        continue
                    old = self._u32[self._words // 4 + slot] >> 1
                    self._u32[self._words // 4 + slot] = (1 if old == MAX_INCARNATION else old + 1) << 1
                    self._free_slots.append(slot)
            for n in gone:
                if n.frame_length:
                    self._give_frame(n.frame, n.frame_length)

    def _subtree(self, node):
        yield node
        for child in getattr(node, "_children", {}).values():
            yield from self._subtree(child)

    # -- wakes, life and death -----------------------------------------------------------------------------

    def heartbeat(self):
        """To be called at least once a period."""
        with self._lock:
            if not self._closed:
                self._u64[HEARTBEAT // 8] = time.clock_gettime_ns(time.CLOCK_MONOTONIC)

    def notify(self):
        """Adds 1 to the tick and wakes the readers that wait for it."""
        with self._lock:
            if self._closed:
                return
            self._u64[TICK // 8] = (self._u64[TICK // 8] + 1) % 2**64
            if SYS_FUTEX is not None:           # without it readers poll
                word = ctypes.c_uint32.from_buffer(self._map, TICK)
                ctypes.CDLL(None, use_errno=True).syscall(
                    ctypes.c_long(SYS_FUTEX), ctypes.byref(word), ctypes.c_int(FUTEX_WAKE),
                    ctypes.c_int(2**31 - 1), None, None, ctypes.c_int(0))
                del word                        # it exports the map, which could not be closed

    def close(self):
        with self._lock:
            if self._closed:
                return
            if self._named:
                self._u64[STATE // 8] = CLOSED
                self.notify()
            self._closed = True
            for node in self._live.values():
                node.alive = False
            # The name goes while we still hold the lock: afterwards it could be a successor's, between look and unlink.
            if self._named:
                try:
                    mine, there = os.fstat(self._fd), os.stat(self.path, follow_symlinks=False)
                    if (mine.st_dev, mine.st_ino) == (there.st_dev, there.st_ino):
                        os.unlink(self.path)
                except FileNotFoundError:
                    pass
            else:
                try:
                    os.unlink(self._temporary)
                except FileNotFoundError:
                    pass
            # The map refers to the open file as well, so the lock goes only with both.
            if self._map is not None:
                for view in ("_u64", "_i64", "_f64", "_u32", "_bytes"):
                    getattr(self, view).release()
                self._map.close()
            os.close(self._fd)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    # -- the directory and its strings ---------------------------------------------------------------------

    def _set_directory(self, epoch, records):
        """The one store that makes records valid, and that changes directories."""
        self._epoch, self._records = epoch, records
        self._u64[DIRECTORY // 8] = epoch << 32 | records

    def _write_record(self, side, index, body):
        at = self._directories[side] + RECORD_SIZE * index
        self._bytes[at:at + RECORD_SIZE] = struct.pack("<I", zlib.crc32(body)) + body

    def _append_string(self, side, data):
        offset = self._string_offsets.get(data)
        if offset is None:
            offset = self._string_offsets[data] = self._string_end
            at = self._string_regions[side] + offset
            self._bytes[at:at + 2 + len(data)] = struct.pack("<H", len(data)) + data
            self._string_end += 2 + len(data)
        return offset

    def _make_room(self, strings):
        """Room for one more record and these strings in the active directory, or NoRoom."""
        for attempt in range(2):
            need = sum(2 + len(s) for s in set(strings) if s not in self._string_offsets)
            if self._records < self._record_capacity and self._string_end + need <= self._string_capacity:
                side = self._epoch & 1
                self._make_real(self._directories[side] + RECORD_SIZE * self._records, RECORD_SIZE)
                self._make_real(self._string_regions[side] + self._string_end, need)
                return
            live = sum(2 + len(s) for s in {s for n in self._live.values() for s in n._strings if s}) + 2
            if attempt or 4 * len(self._live) > 3 * self._record_capacity or 4 * live > 3 * self._string_capacity:
                raise NoRoom
            self._change_directory()

    def _change_directory(self):
        """Section 8: the live records go to the other region, and one store makes that the active one."""
        other = self._epoch + 1 & 1
        size = sum(2 + len(s) for s in {s for n in self._live.values() for s in n._strings if s}) + 2
        self._make_real(self._directories[other], RECORD_SIZE * len(self._live))
        self._make_real(self._string_regions[other], size)
        self._u64[STRING_BYTES[other] // 8] = 2
        self._string_end, self._string_offsets = 2, {b"": 0}
        for index, node in enumerate(self._live.values()):
            offsets = [self._append_string(other, s) for s in node._strings]
            self._write_record(other, index, node._record(index, offsets))
        self._u64[STRING_BYTES[other] // 8] = self._string_end
        self._set_directory(self._epoch + 1, len(self._live))

    # -- memory, slots and frames --------------------------------------------------------------------------

    def _make_real(self, start, length):
        """Before the first store to a page: posix_fallocate.  Never past the end, for that would make the file grow."""
        if length:
            for step in range(start // STEP, (start + length - 1) // STEP + 1):
                if step not in self._real_steps:
                    try:
                        os.posix_fallocate(self._fd, step * STEP, min(STEP, self.file_size - step * STEP))
                    except OSError as e:
                        if self._map is None or e.errno != errno.ENOSPC:
                            raise
                        raise NoRoom from e
                    self._real_steps.add(step)

    def _take_slot(self):
        if self._free_slots:
            return self._free_slots.popleft()               # the one that has been free longest
        if self._fresh_slot == self._slot_capacity:
            raise NoRoom
        slot = self._fresh_slot
        self._make_real(self._words + 4 * slot, 4)
        self._make_real(self._slots + 8 * slot, 8)
        self._fresh_slot += 1
        return slot

    def _take_frame(self, length):
        if not length:
            return None
        for i, (start, free) in enumerate(self._free_frames):
            if free >= length:
                self._make_real(self._frames + 8 * start, 8 * length)
                self._free_frames[i:i + 1] = [(start + length, free - length)] if free > length else []
                return start
        raise NoRoom

    def _give_frame(self, start, length):
        merged = []
        for a, n in sorted(self._free_frames + [(start, length)]):
            if merged and merged[-1][0] + merged[-1][1] == a:
                merged[-1] = (merged[-1][0], merged[-1][1] + n)
            else:
                merged.append((a, n))
        self._free_frames = merged

    def _view(self, fmt):
        return {"Q": self._u64, "q": self._i64, "d": self._f64}[fmt]
