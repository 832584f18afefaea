"""A publisher of shared-memory segments, format 1.1 (docs/segment-format.md).

    with Publisher("server1") as pub:
        root = pub.add_root("host.1.app", "Application")
        hits = pub.add_variable(root, "hits", U64, kind=COUNTER, value=0)
        pub.publish()                     # visible now, or once a predecessor ends
        hits.add(1)
        pub.notify()                      # at least once a second: a heartbeat that also wakes readers

The module needs only the standard library, on Linux and a little-endian machine.  Python has no memory barriers.
This module stores in program order.  On x86-64, readers see the stores in that order, as the format requires.
Machines with weakly ordered memory do not guarantee this order.
"""
import ctypes
import errno
import fcntl
import functools
import mmap
import os
import platform
import pwd
import re
import reprlib
import resource
import secrets
import select
import struct
import sys
import threading
import time
import weakref
import zlib
from bisect import bisect_left
from collections import deque
from math import inf, isfinite, isnan, nan

U64, I64, F64, BOOL, STRING, HISTOGRAM, SUMMARY = range(1, 8)                   # types
UNKNOWN, COUNTER, GAUGE = range(3)                                              # kinds
INIT, NORMAL, MANUAL_RECOVERY, AUTO_RECOVERY, DEAD, INVALID = range(6)          # states of an object

SHM = "/dev/shm"
PAGE, STEP, RECORD_SIZE = 4096, 65536, 64
BUILDING, LIVE, CLOSED, SUPERSEDED = range(4)                                   # states of a segment
STATE, HEARTBEAT, TICK, DIRECTORY = 1024, 1088, 1152, 1216                      # mutable words
STRING_BYTES = (1280, 1344)                                                     # of strings A and B
OBJECTS_DROPPED, VARIABLES_DROPPED = 1408, 1472
OBJECT_RECORD, VARIABLE_RECORD, TOMBSTONE = 1, 2, 3
NO_SLOT = 0xFFFFFFFF
MAX_INCARNATION = 2**31 - 1
MAX_DEPTH, MAX_TEXT, MAX_SCHEMA, MAX_LABELS = 64, 65528, 512, 64
FEATURE_SERIES = FLAG_SERIES = 1                                                # of the header, of a variable
NAME_CHECK_SECONDS = 1                                                          # between checks of the name
MAX_DEAD = 1024                                     # segments of killed processes that one publish() tries to remove
HEADER = struct.Struct("<8sIHHIIQQQQQQQQQQQQQQQQQQQ76x")                        # bytes 0 to 251
RECORD = struct.Struct("<IBBBBIQQI7I")                                          # bytes 4 to 63
FORMATS = {U64: "Q", I64: "q", F64: "d", BOOL: "Q"}
AMOUNT = 0                                                                      # the "type" of an amount for add()
RANGES = {U64: (0, 2**64 - 1), I64: (-2**63, 2**63 - 1), AMOUNT: (1 - 2**64, 2**64 - 1)}
ALLOWED = {F64: "numbers", BOOL: "True and False",
           **{t: f"integers from {least} to {most}" for t, (least, most) in RANGES.items()}}
MAP_FIXED, MAP_NORESERVE, MREMAP_MAYMOVE, MREMAP_FIXED = 0x10, 0x4000, 1, 2
FAILED = ctypes.c_void_p(-1).value
LIBC = ctypes.CDLL(None, use_errno=True)
LIBC.mmap.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_int64)
LIBC.mremap.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_size_t, ctypes.c_int, ctypes.c_void_p)
LIBC.mmap.restype = LIBC.mremap.restype = ctypes.c_void_p
LIBC.munmap.argtypes = LIBC.munlock.argtypes = (ctypes.c_void_p, ctypes.c_size_t)
LIBC.mprotect.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)
NOT_GIVEN = object()                                                            # default of an argument
FUTEX_WAKE, SYS_FUTEX = 1, {"x86_64": 202, "aarch64": 98, "riscv64": 98}.get(platform.machine())


class AnotherPublisherLives(Exception):
    """Another live publisher holds the server key.  Only a publisher with fail_if_busy raises it."""


class NoRoom(Exception):
    """Records, strings, slots, frames or memory are used up.  This module always catches it."""


def _say(line):
    """Writes a line to stderr.  Drops it if the write fails or could block, since the program must go on."""
    try:
        data, fd = f"shm_publisher: {line}\n", None
        try:
            fd = sys.stderr.fileno()
        except OSError:                                     # the program has set sys.stderr to an object without a file
            sys.stderr.write(data)
            return
        ready = select.poll()
        ready.register(fd, select.POLLOUT)
        if ready.poll(0) == [(fd, select.POLLOUT)]:
            os.write(fd, data.encode("utf-8", "replace"))
    except Exception:                                       # sys.stderr is None, closed, full, ...
        pass


def _text_for_child(pub):
    return (f"{pub.path} belongs to process {pub._pid}, which forked this one: make a Publisher with a server key of "
            "its own after the fork")


def _ignore_in_child(pub):
    """Reports once on stderr that the calls of a child do nothing.  Raises no exception, since that could make the
    child's work fail."""
    if not pub._told_child:
        pub._told_child = True
        _say(f"{_text_for_child(pub)}. The calls of this process do nothing")


def _refuse_in_child(pub):
    raise RuntimeError(_text_for_child(pub))


def _exclusive(can_defer, in_child=_ignore_in_child):
    """Decorates a method of a publisher or of a handle: runs it while no other call changes the segment.

    A signal handler, or a `__del__` that the garbage collector runs, may call the method in the middle of another
    call of the same thread.  With `can_defer`, the method then runs when that call ends; this suits methods that
    return nothing.  Without `can_defer`, the method raises RuntimeError.  In a forked child, `in_child` runs instead,
    since the segment belongs to the parent; if the publisher is closed, nothing runs."""
    def decorate(call):
        @functools.wraps(call)
        def exclusive(self, *args):
            pub = self._pub
            if os.getpid() != pub._pid:
                return None if pub._closed else in_child(pub)
            while pub._lock._is_owned():
                if not _is_in_call(pub, sys._getframe().f_back):
                    pub._lock.release()
                    continue
                if not can_defer:
                    raise RuntimeError("a signal handler or __del__ may not add or publish in the middle of another "
                                       "call of its thread")
                pub._deferred.append((call, self, args))
                return None
            try:
                with pub._lock:
                    pub._complete_frame()
                    return call(self, *args)
            finally:
                while pub._deferred:
                    with pub._lock:
                        pub._complete_frame()
                        if pub._deferred:
                            deferred, owner, rest = pub._deferred.popleft()
                            deferred(owner, *rest)
        return exclusive
    return decorate


def _is_in_call(pub, frame):
    """Returns whether this thread is in the middle of a call.  A thread may hold the lock outside of calls: before
    Python 3.11, a signal handler can raise an exception between the end of a call and the release of the lock."""
    while frame is not None:
        code = frame.f_code
        is_call = code.co_name == "exclusive" and code.co_filename == _exclusive.__code__.co_filename
        if is_call and frame.f_locals.get("pub") is pub:
            return True
        frame = frame.f_back
    return False


class _Mapping:
    """A memory mapping of the segment's file.  Its pages can be replaced at the same address."""

    def __init__(self, fd, size):
        self._size = size
        self.address = self._map_file(fd)
        self.bytes = memoryview((ctypes.c_ubyte * size).from_address(self.address)).cast("B")

    def _map(self, address, rights, flags, fd):
        mapped = LIBC.mmap(address, self._size, rights, flags, fd, 0)
        if mapped == FAILED:
            raise self._error()
        return mapped

    def _map_file(self, fd):
        # After mlockall(MCL_FUTURE) the kernel allocates all pages of an accessible mapping at once.  So this
        # mapping gets its access rights only once it is unlocked.
        address, rights = self._map(None, 0, mmap.MAP_SHARED, fd), mmap.PROT_READ | mmap.PROT_WRITE
        if LIBC.munlock(address, self._size) or LIBC.mprotect(address, self._size, rights):
            error = self._error()
            LIBC.munmap(address, self._size)
            raise error
        return address

    def remap(self, fd):
        """Maps another file in place of the current one."""
        address = self._map_file(fd)
        # A single call, since an exception of a signal handler must not leave the mapping without access rights.
        if LIBC.mremap(address, self._size, self._size, MREMAP_MAYMOVE | MREMAP_FIXED, self.address) == FAILED:
            error = self._error()
            LIBC.munmap(address, self._size)
            raise error

    def _error(self):
        number = ctypes.get_errno()
        why = ", since it locks its memory and the segment is larger than ulimit -l" if number == errno.EAGAIN else ""
        return OSError(number, f"the process cannot map {self._size} bytes{why}: {os.strerror(number)}")

    def leave_file(self):
        """Replaces the file with private pages, so that this process holds no lock on it and cannot write to it."""
        self._map(self.address, mmap.PROT_READ | mmap.PROT_WRITE,
                  mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1)

    def close(self):
        """Unmaps the pages; all views must have been released."""
        address, self.address = self.address, None
        if address is not None:
            LIBC.munmap(address, self._size)


_publishers: "weakref.WeakSet[Publisher]" = weakref.WeakSet()


def _leave_segments():
    """Drops the parent's segments in a forked child.  Otherwise the child would keep their locks when the parent
    ends."""
    for pub in list(_publishers):
        pub._leave()


os.register_at_fork(after_in_child=_leave_segments)


def _bits(value):
    """Returns the 8 bytes of a float as an integer."""
    return struct.unpack("<Q", struct.pack("<d", value))[0]


def _page_up(n):
    return -(-n // PAGE) * PAGE


def _shown(value):
    """Returns a shortened text of a value, for messages."""
    try:
        return reprlib.repr(value)
    except ValueError:                                      # an integer with thousands of digits
        return f"{type(value).__name__} with too many digits"


def _utf8(text, what):
    try:
        if isinstance(text, str):
            return text.encode("utf-8")
    except UnicodeEncodeError:
        raise ValueError(f"{what}: found {_shown(text)}, allowed: text without lone surrogates; "
                         'os.fsencode(name).decode(errors="replace") makes one of a file name') from None
    raise ValueError(f"{what}: found {_shown(text)}, allowed: text")


def _string(text, most, what):
    data = _utf8(text, what)
    if len(data) > most:
        raise ValueError(f"{what}: found {_shown(text)} with {len(data)} bytes, allowed: at most {most} bytes")
    return data


def _number(type_, value, what):
    """Returns a scalar as it is stored.  Raises ValueError if the type cannot hold it.  All values of an update are
    checked before the first store, so no update is stored in part."""
    try:
        if type_ == F64 and not isinstance(value, (str, bytes, bytearray)):
            return float(value)
        if type_ == BOOL and value in (0, 1):
            return int(value)
        if type_ in RANGES and value == int(value) and RANGES[type_][0] <= value <= RANGES[type_][1]:
            return int(value)
    except (TypeError, ValueError, ArithmeticError):         # infinity, and Decimal("sNaN")
        pass
    raise ValueError(f"{what}: found {_shown(value)}, allowed: {ALLOWED[type_]}")


def _observation(value, what):
    if isnan(value := _number(F64, value, what)):
        raise ValueError(f"{what}: found NaN, allowed: numbers, since no bucket counts NaN")
    return value


def _numbers(values, what):
    try:
        return [_number(F64, value, what) for value in values]
    except TypeError:
        raise ValueError(f"{what}: found {_shown(values)}, allowed: a sequence of numbers") from None


def _within(value, least, most, what):
    """Returns `value` if it is an integer from `least` to `most`, else raises ValueError."""
    if not isinstance(value, int) or not least <= value <= most:
        raise ValueError(f"{what}: found {_shown(value)}, allowed: integers from {least} to {most}")
    return value


def _schema(type_, values, what):
    schema = _numbers(values, what)
    ascends = (len(schema) <= MAX_SCHEMA and all(map(isfinite, schema))
               and all(a < b for a, b in zip(schema, schema[1:])))
    if type_ == HISTOGRAM:
        is_right, allowed = ascends, f"at most {MAX_SCHEMA} finite upper bounds, ascending"
    elif type_ == SUMMARY:
        is_right = ascends and (not schema or 0 <= schema[0] <= schema[-1] <= 1)
        allowed = f"at most {MAX_SCHEMA} quantiles from 0 to 1, ascending"
    else:
        is_right, allowed = not schema, "none, since only histograms and summaries have one"
    if not is_right:
        raise ValueError(f"{what}: found {_shown(schema)}, allowed: {allowed}")
    return schema


def _series(type_, name, labels, what):
    """Returns the name of a variable that states its metric and labels, as the text formats write it."""
    if not re.fullmatch(r"(?!shm_exporter_)[a-zA-Z_:][a-zA-Z0-9_:]*", name, re.ASCII):
        raise ValueError(f"name of {what}: found {_shown(name)}, allowed as a metric's name: letters, digits, _ "
                         "and :, not starting with a digit or shm_exporter_")
    if type_ == STRING:
        raise ValueError(f"labels of {what}: allowed only for numbers, histograms and summaries")
    if not isinstance(labels, dict) or len(labels) > MAX_LABELS:
        raise ValueError(f"labels of {what}: found {_shown(labels)}, allowed: a dict with at most {MAX_LABELS} labels")
    own = {HISTOGRAM: "le", SUMMARY: "quantile"}.get(type_)
    for label in labels:
        if not isinstance(label, str) or not re.fullmatch(r"(?!__)[a-zA-Z_][a-zA-Z0-9_]*", label) or label == own:
            raise ValueError(f"labels of {what}: found {_shown(label)}, allowed: letters, digits and _, not "
                             f"starting with a digit or __{f', and not {own}' if own else ''}")
    pairs = []
    for label, value in labels.items():
        _utf8(value, f"label {label} of {what}")
        value = value.replace("\\", r"\\").replace('"', r'\"').replace("\n", r"\n")
        pairs.append(f'{label}="{value}"')
    return f"{name}{{{','.join(pairs)}}}" if pairs else name


def _ask_lock(fd, command):
    """Takes or queries a write lock on the whole file, and returns the type of the lock.  The lock belongs to the open
    file description, not to the process."""
    # struct flock: l_type, l_whence, (padding), l_start, l_len, l_pid (0, or the kernel refuses), (padding)
    flock = "@hhqqi4x"
    return struct.unpack(flock, fcntl.fcntl(fd, command, struct.pack(flock, fcntl.F_WRLCK, os.SEEK_SET, 0, 0, 0)))[0]


def _lock(fd):
    _ask_lock(fd, fcntl.F_OFD_SETLK)


def _identity(file):
    """Returns device and inode of a path or descriptor, or None if there is no such file."""
    try:
        facts = os.stat(file, follow_symlinks=isinstance(file, int))
    except OSError:
        return None
    return facts.st_dev, facts.st_ino


def _supersede(fd):
    """Tells the readers of a segment that a newer segment has taken its name. Readers also check the name, so a
    failure does no harm."""
    try:
        if os.fstat(fd).st_size >= PAGE and os.pread(fd, 8, 0) == b"SHMEXP\r\n":
            os.pwrite(fd, struct.pack("<Q", SUPERSEDED), STATE)
    except OSError:
        pass


def _pid_of(fd):
    """Returns the pid of the publisher of a segment, or 0 if the file is none."""
    head = os.pread(fd, 72, 0)
    return struct.unpack_from("<Q", head, 64)[0] if head[:8] == b"SHMEXP\r\n" and len(head) == 72 else 0


def _remove_dead(template, own):
    """Removes the segments of killed processes whose names differ from `own` only in the pid, which `template` has as
    `{pid}`.  The pid must be that of the publisher, and the lock must be free.  Readers keep such a segment open."""
    first, *rest = map(re.escape, template.split("{pid}"))
    if not rest:
        return
    pattern = re.compile(first + r"(\d+)" + r"\1".join(rest))
    try:
        names = os.listdir(SHM)
    except OSError:
        return
    matches = [match for match in map(pattern.fullmatch, names) if match and match[0] != own]
    for match in matches[:MAX_DEAD]:
        path = f"{SHM}/{match[0]}"
        try:
            fd = os.open(path, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
        except OSError:                                                 # of another user, or gone
            continue
        try:
            _lock(fd)
            if _identity(path) == _identity(fd) and _pid_of(fd) == int(match[1]):
                os.unlink(path)
        except OSError:                                                 # its process lives
            pass
        finally:
            os.close(fd)


def _refuse_copy(self, _protocol):
    raise TypeError(f"a {type(self).__name__} of shm_publisher cannot be copied or pickled: each process needs a "
                    "Publisher of its own")


class _Node:
    """The base of objects and variables: an id, a slot, strings and a record."""

    def __init__(self, publisher, parent, strings):
        self._pub, self._parent, self._strings = publisher, parent, strings
        self.id = self.slot = self.incarnation = None
        self.frame, self.frame_length = 0, 0
        self.as_of_slot, self.as_of_incarnation = NO_SLOT, 0
        self.alive = False                  # False if it was dropped for lack of room, or removed: nothing is stored

    __reduce_ex__ = _refuse_copy

    @property
    def name(self):
        return self._strings[0].decode("utf-8")

    @_exclusive(can_defer=True)
    def set_synced(self, synced):
        """Sets whether there is a value. False removes the series until the next value is set."""
        if self.alive:
            self._pub._u32[self._pub._words // 4 + self.slot] = self.incarnation << 1 | bool(synced)

    def remove(self):
        """Removes a variable, or an object with everything below it."""
        self._pub.remove(self)

    def _store(self, value, fmt="Q"):
        self._pub._view(fmt)[self._pub._slots // 8 + self.slot] = value


class Object(_Node):
    def __init__(self, publisher, parent, strings, has_as_of):
        super().__init__(publisher, parent, strings)
        self.has_as_of = has_as_of
        self.depth = parent.depth + 1 if parent else 1
        self._children = {}

    def set_state(self, state):
        """Sets the management state: INIT to INVALID."""
        self._set_state(_within(state, INIT, INVALID, f'state of object "{self.name}"'))

    @_exclusive(can_defer=True)
    def _set_state(self, state):
        if self.alive:
            self._store(state)

    def set_as_of(self, ns):
        """Sets the time at which the root's values were true, in ns of CLOCK_REALTIME.  None removes the time."""
        if not self.has_as_of:
            raise ValueError(f'object "{self.name}" has no as-of time: only a root added with as_of=True has one')
        self._set_as_of(None if ns is None else _number(U64, ns, f'as-of time of object "{self.name}"'))

    @_exclusive(can_defer=True)
    def _set_as_of(self, ns):
        if self.alive and self.as_of_slot != NO_SLOT:
            if ns is not None:
                self._pub._u64[self._pub._slots // 8 + self.as_of_slot] = ns                # first the value,
            self._pub._u32[self._pub._words // 4 + self.as_of_slot] = (                     # then the bit
                self.as_of_incarnation << 1 | (ns is not None))

    def _record(self, index, offsets):
        return RECORD.pack(index, OBJECT_RECORD, 0, 0, 0, self.slot, self.id, self._parent.id if self._parent else 0,
                           self.incarnation, *offsets, 0 if self._parent else self.as_of_slot, self.as_of_incarnation)


class Variable(_Node):
    def __init__(self, publisher, parent, strings, type_, kind, schema, capacity, flags):
        super().__init__(publisher, parent, strings)
        self._flags = flags
        self.type, self.kind, self._schema, self._capacity = type_, kind, schema, capacity
        self.frame_length = {STRING: 3 + capacity // 8, HISTOGRAM: 4 + len(schema),
                             SUMMARY: 4 + len(schema)}.get(type_, 0)

    # -- scalars and texts ---------------------------------------------------------------------------------

    def set(self, value):
        """Sets a scalar or a text, and marks it as synced."""
        if self.type in (HISTOGRAM, SUMMARY):
            raise TypeError(f"{self} has no set(): a histogram has observe(), a summary set_summary()")
        self._set(self._cut(value) if self.type == STRING else _number(self.type, value, str(self)))

    @_exclusive(can_defer=True)
    def _set(self, value):
        if self.alive:
            if self.type == STRING:
                self._update(self._text_units(value))
            else:
                self._store(value, FORMATS[self.type])          # one 8-byte store, nothing else
            self._sync()

    def add(self, amount):
        """Adds to a number.  Threads and signal handlers may add at the same time.  Raises ValueError, and stores
        nothing, if the type cannot hold the sum or a counter would fall."""
        if self.type not in (U64, I64, F64):
            raise TypeError(f"{self} has no add(): only integers and floats have")
        what = f"the amount added to {self}"
        amount = _number(F64 if self.type == F64 else AMOUNT, amount, what)
        if self.kind == COUNTER and not 0 <= amount < inf:
            raise ValueError(f"{what}: found {amount}, allowed: finite amounts from 0, since a counter does not fall")
        self._add(amount)

    @_exclusive(can_defer=True)
    def _add(self, amount):
        if self.alive:
            before = self._pub._view(FORMATS[self.type])[self._pub._slots // 8 + self.slot]
            self._store(_number(self.type, before + amount, str(self)), FORMATS[self.type])
            self._sync()

    def __str__(self):
        return f'variable "{self.name}"'

    def _cut(self, text):
        data = _utf8(text, str(self))
        if len(data) > self._capacity:                          # cut between two characters
            cut = self._capacity
            while cut and data[cut] & 0xC0 == 0x80:
                cut -= 1
            data = data[:cut]
        return data

    def _text_units(self, data):
        padded = memoryview(data.ljust(self._capacity, b"\0")).cast("Q")
        return [(1, len(data)), *enumerate(padded, 2)]

    # -- histograms and summaries --------------------------------------------------------------------------

    def observe(self, value):
        """Counts one observation of a histogram.  Raises ValueError for NaN, which no bucket counts."""
        if self.type != HISTOGRAM:
            raise TypeError(f"{self} has no observe(): only a histogram has")
        self._observe(_observation(value, str(self)))

    @_exclusive(can_defer=True)
    def _observe(self, value):
        if self.alive:
            bucket = 2 + bisect_left(self._schema, value)       # the first bound that is not exceeded, or +Inf
            self._update([(bucket, self._pub._u64[self._unit + bucket] + 1),
                          (1, _bits(self._pub._f64[self._unit + 1] + value))])
            self._sync()

    def set_histogram(self, counts, total):
        """Sets the observations of each bucket of a histogram, with the one above all bounds last, and their sum."""
        if self.type != HISTOGRAM:
            raise TypeError(f"{self} has no set_histogram(): only a histogram has")
        counts = [_number(U64, count, f"a count of {self}") for count in counts]
        if len(counts) != len(self._schema) + 1:
            raise ValueError(f"{self}: found {len(counts)} counts, allowed: {len(self._schema) + 1}, one more than bounds")
        self._set_histogram(counts, _number(F64, total, f"the sum of {self}"))

    @_exclusive(can_defer=True)
    def _set_histogram(self, counts, total):
        if self.alive:
            self._update([(1, _bits(total)), *enumerate(counts, 2)])
            self._sync()

    def set_summary(self, count, total, values):
        """Sets count and sum of a summary, and a value for each quantile."""
        if self.type != SUMMARY:
            raise TypeError(f"{self} has no set_summary(): only a summary has")
        self._set_summary(*self._checked_summary(count, total, values))

    def _checked_summary(self, count, total, values):
        values = _numbers(values, f"a value of {self}")
        if len(values) != len(self._schema):
            raise ValueError(f"{self}: found {len(values)} values, allowed: {len(self._schema)}, one for each quantile")
        return _number(U64, count, f"the count of {self}"), _number(F64, total, f"the sum of {self}"), values

    @_exclusive(can_defer=True)
    def _set_summary(self, count, total, values):
        if self.alive:
            self._update(self._summary_units(count, total, values))
            self._sync()

    def _summary_units(self, count, total, values):
        return [(1, count), (2, _bits(total)), *enumerate(map(_bits, values), 3)]

    def _checked_first(self, value):
        """Checks the first value of a variable, and returns it in the form in which it is stored."""
        if self.type == STRING:
            return self._cut(value)
        if self.type < STRING:
            return _number(self.type, value, str(self))
        if self.type == HISTOGRAM:
            return [_observation(v, str(self)) for v in _numbers(value, str(self))]
        if not isinstance(value, (tuple, list)) or len(value) != 3:
            raise ValueError(f"{self}: found {_shown(value)}, allowed: (count, sum, values)")
        return self._checked_summary(*value)

    # -- frames --------------------------------------------------------------------------------------------

    @property
    def _unit(self):
        """The offset of the frame in the file, in units of 8 bytes."""
        return self._pub._frames // 8 + self.frame

    def _update(self, units):
        """Updates the frame.  `units`: pairs of the index of a unit in the frame and its new content."""
        self._pub._update_in_progress = self, self._pub._u64[self._unit] + 1, units
        self._pub._complete_frame()

    def _views(self):
        """Returns views of the frame as integers and as floats, and of the slot as an integer and as a float.  They are
        for updates that hold a lock of their own; they must not be used once the variable or the publisher ends."""
        pub, slot = self._pub, self._pub._slots // 8 + self.slot
        frame = slice(self._unit, self._unit + self.frame_length)
        return pub._u64[frame], pub._f64[frame], pub._u64[slot:slot + 1], pub._f64[slot:slot + 1]

    def _sync(self):
        """Sets the synced bit, after the value.  Stores nothing if the variable is synced already."""
        word = self.incarnation << 1 | 1
        if self._pub._u32[self._pub._words // 4 + self.slot] != word:
            self._pub._u32[self._pub._words // 4 + self.slot] = word

    def _record(self, index, offsets):
        return RECORD.pack(index, VARIABLE_RECORD, self.type, self.kind, self._flags, self.slot, self.id,
                           self._parent.id, self.incarnation, *offsets, self.frame, self.frame_length, 0)


class Publisher:
    """The publisher of one segment.  Threads may share it; a forked child needs a publisher of its own.

    The pid replaces `{pid}` in the server key.  A publisher with such a key removes the segments that killed processes
    left behind.

    An exception that a signal handler raises may end any call in its middle.  So all stores of a frame's update are
    recorded before the first store, and the next call completes an interrupted update.  A change of structure takes
    effect with one assignment, and the next call cleans up after an interrupted change."""

    def __init__(self, server_key, context_id="shmApp", pool_name="pool", *, records=4096, strings=1 << 18,
                 slots=4096, frames=1 << 18, heartbeat_period=1.0, mode=0o644, fail_if_busy=False,
                 series=False):
        given = server_key
        if isinstance(server_key, str):
            server_key = server_key.replace("{pid}", str(os.getpid()))
        for what, key in ("context_id", context_id), ("pool_name", pool_name), ("server_key", server_key):
            # The exporter checks keys in its configuration by this rule, too.
            if not isinstance(key, str) or not re.fullmatch(r"(?!\.)[A-Za-z0-9_.-]{1,64}", key):
                raise ValueError(f"{what}: found {_shown(key)}, allowed: a string of 1 to 64 letters, digits, "
                                 '"_", "-" and ".", not starting with "."')
        for what, value, least, most in (("records", records, 1, 8388608), ("strings", strings, 2, 134217728),
                                         ("slots", slots, 1, 16777216), ("frames", frames, 0, 2147483648)):
            _within(value, least, most, what)
        if not isinstance(mode, int) or not 0 <= mode <= 0o777:
            raise ValueError(f"mode: found {_shown(mode)}, allowed: integers from 0 to 0o777, such as 0o600")
        if frames % 8:
            raise ValueError(f"frames: found {frames}, allowed: multiples of 8")
        if not 0 <= _number(F64, heartbeat_period, "heartbeat_period") <= 1e9:
            raise ValueError(f"heartbeat_period: found {heartbeat_period}, allowed: 0 to 1e9 seconds")
        if sys.byteorder != "little":
            raise OSError("this publisher stores native words, so it needs a little-endian machine")
        self._template = f"{context_id}.{pool_name}.{given}"            # with `{pid}` if the server key has it
        self.path = f"{SHM}/{context_id}.{pool_name}.{server_key}"
        self._closed = self._published = self._has_name = self._told_child = False
        self._next_name_check, self._told, self._fail_if_busy = 0, set(), fail_if_busy
        self._has_series = bool(series)         # readers before format 1.1 then refuse the segment
        self._pub, self._pid, self._lock, self._deferred = self, os.getpid(), threading.RLock(), deque()
        self._update_in_progress = None         # a variable, the number of its update, and what it stores
        self._is_disordered = False             # whether records, free slots and free frames may disagree with _live
        self._record_capacity, self._string_capacity = records, strings
        self._slot_capacity = slots

        at, offsets = PAGE, []
        for size in (records * 64, strings, records * 64, strings, slots * 4, slots * 8, frames):
            offsets.append(at)
            at += _page_up(size)
        dir_a, str_a, dir_b, str_b, self._words, self._slots, self._frames = offsets
        self._directories, self._string_regions, self.file_size = (dir_a, dir_b), (str_a, str_b), at

        # Live nodes by id, in ascending order: ids ascend, and a dict keeps the order of insertion.
        self._live, self._next_id = {}, 1
        self._free_slots, self._fresh_slot = deque(), 0
        self._frame_units = frames // 8
        self._free_frames = [(0, frames // 8)] if frames else []        # (first unit, units), ascending
        self._epoch, self._records = 0, 0
        self._string_end, self._string_offsets = 2, {b"": 0}

        self._mode, self._map, self._fd, self._file, self._real_steps = mode, None, None, None, set()
        _publishers.add(self)
        try:
            self._fd, self._file = self._make_file()
            self._make_real(0, PAGE)
            self._map = _Mapping(self._fd, self.file_size)
            self._bytes = self._map.bytes
            # A store to an item of these views is one aligned store.  struct.pack_into with "<Q" may use several.
            self._u64, self._i64 = self._bytes.cast("Q"), self._bytes.cast("q")
            self._f64, self._u32 = self._bytes.cast("d"), self._bytes.cast("I")
            head = HEADER.pack(                                         # step 4: the header,
                b"SHMEXP\r\n", 0x01020304, 1, 1, PAGE, RECORD_SIZE,
                FEATURE_SERIES if series else 0, 0, secrets.randbelow(2**64 - 1) + 1,
                time.clock_gettime_ns(time.CLOCK_REALTIME), time.clock_gettime_ns(time.CLOCK_MONOTONIC), os.getpid(),
                int(heartbeat_period * 1e9), self.file_size, dir_a, dir_b, records, str_a, str_b, strings,
                self._words, self._slots, slots, self._frames, frames)
            self._bytes[0:256] = head + struct.pack("<I", zlib.crc32(head))
            self._u64[STRING_BYTES[0] // 8] = 2                         # string bytes A,
            self._beat()                                                # the heartbeat; add_root() etc. add objects
        except BaseException:
            self.close()
            raise

    def _make_file(self):
        """Makes a locked, sparse file of the full size: steps 1 to 3 of "Start" in the segment format.  The file has no
        name, so a killed process leaves nothing behind.  Naming it later needs /proc; without /proc, it has a
        temporary name."""
        fd = self._temporary = None
        if os.access("/proc/self/fd", os.X_OK):
            try:
                fd = os.open(SHM, os.O_TMPFILE | os.O_RDWR | os.O_CLOEXEC, 0o600)
            except OSError:                                             # the file system has no O_TMPFILE
                pass
        if fd is None:
            self._temporary = self._temporary_name()
            fd = os.open(self._temporary, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        try:
            most = resource.getrlimit(resource.RLIMIT_FSIZE)[0]
            if most != resource.RLIM_INFINITY and most < self.file_size:        # SIGXFSZ could end the program
                raise OSError(errno.EFBIG, f"the segment has {self.file_size} bytes, ulimit -f allows {most}: choose "
                              "smaller capacities, or raise the limit", self.path)
            os.fchmod(fd, self._mode)                                   # the umask would restrict the mode
            os.ftruncate(fd, self.file_size)
            _lock(fd)                                                   # before another process can open the file
        except BaseException:
            self._remove_temporary()
            os.close(fd)
            raise
        return fd, _identity(fd)

    def _descriptor(self):
        """Returns the file's descriptor.  If the program has closed all descriptors, as daemons do, the number may belong
        to another file.  In that case, reopens the segment's file by its name.  The mapping keeps the lock meanwhile."""
        if _identity(self._fd) != self._file:
            self._fd = -1
            self._fd = os.open(self.path, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
            if _identity(self._fd) != self._file:
                fd, self._fd = self._fd, -1
                os.close(fd)
                raise OSError(errno.EBADF, "the program closed the segment's file, and the file's name no longer exists",
                              self.path)
        return self._fd

    def _close_descriptor(self):
        fd, self._fd = self._fd, None
        if _identity(fd) == self._file:
            os.close(fd)

    def _temporary_name(self):
        return f"{SHM}/.{os.path.basename(self.path)}.{self._pid}.{secrets.token_hex(4)}.tmp"

    def _link(self, name):
        if self._temporary is None:
            # os.link follows the symbolic link in /proc only if it is given a descriptor for relative paths.
            fd = self._descriptor()
            os.link(f"/proc/self/fd/{fd}", name, src_dir_fd=fd, follow_symlinks=True)
        else:
            os.link(self._temporary, name)

    def _remove_temporary(self):
        if self._temporary is not None:
            try:
                os.unlink(self._temporary)
            except OSError:                                             # gone, or the program dropped its rights
                pass
            self._temporary = None

    def _leave(self):
        if self._fd is not None:
            self._close_descriptor()
            if self._map is not None:
                self._map.leave_file()

    def publish(self):
        """Makes the segment visible: sets its state to LIVE, then gives the file its name.  If another publisher holds
        the server key, one line on stderr says so, and heartbeat() and notify() take the key when it is free, which
        another line says.  With fail_if_busy, publish() closes this publisher and raises AnotherPublisherLives instead."""
        try:
            self._publish()
        except BaseException:
            if os.getpid() == self._pid:
                self.close()
            raise

    @property
    def holds_key(self):
        """Whether readers could find the segment by its name at the last publish() or heartbeat."""
        return self._has_name and not self._closed and os.getpid() == self._pid

    @_exclusive(can_defer=False, in_child=_refuse_in_child)
    def _publish(self):
        if self._closed:
            raise ValueError(f"{self.path} is closed")
        self._beat()
        self._u64[STATE // 8] = LIVE                                    # step 5
        self._next_name_check = time.monotonic() + NAME_CHECK_SECONDS
        try:
            self._restore_name()                                        # step 6
        except AnotherPublisherLives as error:
            if self._fail_if_busy:
                raise
            self._tell(error)
        self._published = True
        if self._has_name:
            _remove_dead(self._template, os.path.basename(self.path))

    def _keep_name(self):
        """Takes the name if it is free, because a predecessor has ended or something has removed the name.  For
        example, logind with RemoveIPC=yes removes it at the last logout of a user.  Tries once a second at most."""
        now = time.monotonic()
        if not self._published or now < self._next_name_check:
            return
        self._next_name_check = now + NAME_CHECK_SECONDS
        try:
            self._restore_name()
        except (OSError, AnotherPublisherLives) as error:
            self._tell(error)

    def _tell(self, error):
        """Reports once on stderr why the segment has no name."""
        if type(error) not in self._told:
            self._told.add(type(error))
            _say(f"{self.path} cannot be taken: {error.strerror}; the publisher tries again every second"
                 if isinstance(error, OSError) else
                 f"{error}; this publisher takes the key once it is free (set fail_if_busy to get an error instead)")

    def _restore_name(self):
        if _identity(self.path) != self._file:
            if self._has_name:
                # After chroot() or in another mount namespace, the file still has its name, which os.stat() cannot see.
                if os.fstat(self._descriptor()).st_nlink > 0:
                    return
                self._move_to_new_file()
            self._take_name()
        self._has_name = True
        self._remove_temporary()
        if self._told:
            self._told.clear()
            _say(f"this publisher now holds {self.path}")

    def _move_to_new_file(self):
        """Replaces the file with a copy at the same address.  The kernel cannot link a file whose name was removed."""
        fd, file = self._make_file()
        try:
            for step in self._real_steps:
                start, end = step * STEP, min(step * STEP + STEP, self.file_size)
                os.posix_fallocate(fd, start, end - start)
                os.pwrite(fd, self._bytes[start:end], start)
            self._map.remap(fd)
            fd, self._fd, self._file, self._has_name = self._fd, fd, file, False
            _supersede(fd)
        finally:
            if self._has_name:                                          # the move failed, or was interrupted
                self._remove_temporary()
            os.close(fd)

    def _take_name(self):
        for _ in range(3):
            try:
                self._link(self.path)
                return
            except FileExistsError:
                pass
            try:
                if self._replace():
                    return
            except OSError as error:
                if self.path not in (error.filename, error.filename2):  # the error is about this publisher's own file
                    raise
                if isinstance(error, PermissionError):
                    raise self._why_refused(error) from None
                if not isinstance(error, FileNotFoundError):            # (which means: closed between link and open)
                    raise
        raise AnotherPublisherLives(f"other publishers took {self.path} at each of three attempts")

    def _replace(self):
        """Replaces the segment of a dead publisher.  Returns False if another publisher was faster."""
        old = os.open(self.path, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
        try:
            try:
                _lock(old)
            except OSError as e:
                if e.errno in (errno.EAGAIN, errno.EACCES):
                    raise self._busy(old) from None
                raise
            # While we hold this lock, no other publisher can replace the file.  So we may take the name if the name
            # still refers to the file.
            if _identity(self.path) != _identity(old):
                return False
            draft = self._temporary_name()
            try:
                self._link(draft)
                os.rename(draft, self.path)
            except BaseException:
                if _identity(draft) == self._file:
                    os.unlink(draft)
                raise
            _supersede(old)
            return True
        finally:
            os.close(old)

    def _busy(self, fd):
        pid = _pid_of(fd)
        return AnotherPublisherLives(f"another publisher holds {self.path}" + (f" (process {pid})" if pid else ""))

    def _why_refused(self, error):
        """Returns the error for a name whose file this user may not replace."""
        why = "and this program may not read it"
        try:
            fd = os.open(self.path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
        except OSError:
            pass
        else:
            try:
                if _ask_lock(fd, fcntl.F_OFD_GETLK) != fcntl.F_UNLCK:
                    return self._busy(fd)
            finally:
                os.close(fd)
            why = "and its publisher has ended"
        try:
            uid = os.lstat(self.path).st_uid
        except OSError:
            return error
        try:
            owner = pwd.getpwuid(uid).pw_name
        except KeyError:
            owner = uid
        return PermissionError(error.errno, f"the file belongs to user {owner}, {why}: remove it as that user",
                               self.path)

    # -- adding --------------------------------------------------------------------------------------------

    def add_root(self, object_id, class_name="", *, host="", instance="", application="", state=NORMAL,
                 synced=True, as_of=False):
        """Adds a root.  If host, instance or application is empty, readers take it from the root's id.  With `as_of`,
        set_as_of() can set the time of its values."""
        return self._add_object(None, object_id, class_name, host, instance, application, state, synced, as_of)

    def add_object(self, parent, object_id, class_name="", *, state=NORMAL, synced=True):
        """Adds an object below another.  Its id is the parent's id, a dot, and at least one more character."""
        self._check_parent(parent, f"object {_shown(object_id)}")
        return self._add_object(parent, object_id, class_name, "", "", "", state, synced, False)

    def _add_object(self, parent, object_id, class_name, host, instance, application, state, synced, as_of):
        what = f"object {_shown(object_id)}"
        state = _within(state, INIT, INVALID, f"state of {what}")
        strings = [_string(text, 1024, f"{part} of {what}") for text, part in (
            (object_id, "id"), (class_name, "class"), (host, "host"), (instance, "instance"),
            (application, "application"))]
        if parent is not None:
            if parent.depth >= MAX_DEPTH:
                raise ValueError(f"parent of {what}: found one with {MAX_DEPTH - 1} objects above it, allowed: at most "
                                 f"{MAX_DEPTH - 2}")
            if not object_id.startswith(parent.name + ".") or len(object_id) < len(parent.name) + 2:
                raise ValueError(f"id: found {_shown(object_id)} for an object of class {_shown(class_name)}, allowed: "
                                 f"the parent's id {_shown(parent.name)}, a dot and at least one more character")
        node = Object(self, parent, strings, bool(as_of))

        def value():
            node._store(state)
            return synced
        self._add(node, value, OBJECTS_DROPPED, node.has_as_of)
        return node

    def _check_parent(self, parent, what):
        if not isinstance(parent, Object) or parent._pub is not self:
            raise ValueError(f"parent of {what}: found {_shown(parent)}, allowed: objects of this publisher")

    def add_variable(self, parent, name, type_, *, kind=UNKNOWN, unit="", help="", value=NOT_GIVEN, schema=(),
                     capacity=256, labels=None):
        """Adds a variable to an object.  `value` is its first value: for a histogram an iterable of observations, for
        a summary (count, sum, values).  Without `value`, histograms and summaries start without observations (count
        and sum 0, quantiles NaN), and other variables without a value (unsynced).  With `value=None`, every variable
        starts without a value.  `capacity` is the maximum number of bytes of a string.  With `labels`, a dict that
        may be empty, the exporter shows `name` as the name of the metric, with these labels and no label `object`; the
        publisher needs `series=True`."""
        what = f"variable {_shown(name)}"
        self._check_parent(parent, what)
        if not isinstance(type_, int) or not U64 <= type_ <= SUMMARY:
            raise ValueError(f"type of {what}: found {_shown(type_)}, allowed: U64, I64, F64, BOOL, STRING, HISTOGRAM "
                             "and SUMMARY of this module")
        if not isinstance(kind, int) or not UNKNOWN <= kind <= (GAUGE if type_ < STRING else UNKNOWN):
            raise ValueError(f"kind of {what}: found {_shown(kind)}, allowed: UNKNOWN, and for numbers COUNTER and "
                             "GAUGE")
        schema = _schema(type_, schema, f"schema of {what}")
        _within(capacity, 0, MAX_TEXT, f"capacity of {what}")
        name_bytes = _string(name, 1024, f"name of {what}")
        if labels is not None:
            if not self._has_series:
                raise ValueError(f"labels of {what}: allowed only if the publisher has series=True")
            name_bytes = _string(_series(type_, name, labels, what), 4096, f"name and labels of {what}")
        node = Variable(self, parent, [
            name_bytes, _string(unit, 64, f"unit of {what}"),
            _string(help, 4096, f"help of {what}"), struct.pack(f"<{len(schema)}d", *schema)],
            type_, kind, schema, -(-capacity // 8) * 8, FLAG_SERIES if labels is not None else 0)
        if value is NOT_GIVEN:
            value = {HISTOGRAM: (), SUMMARY: (0, 0.0, [nan] * len(schema))}.get(type_)
        if value is not None:
            value = node._checked_first(value)

        def first():
            # Clear the old content of the slot and the frame.  No reader reads them yet.
            node._store(0)
            for i in range(node.frame_length):
                self._u64[node._unit + i] = 0
            if value is None:
                return False
            if type_ == STRING:
                node._update(node._text_units(value))
            elif type_ == HISTOGRAM:
                counts = [0] * (len(schema) + 1)
                for v in value:
                    counts[bisect_left(schema, v)] += 1
                node._update([(1, _bits(float(sum(value)))), *enumerate(counts, 2)])
            elif type_ == SUMMARY:
                node._update(node._summary_units(*value))
            else:
                node._store(value, FORMATS[type_])
            return True
        self._add(node, first, VARIABLES_DROPPED, False)
        return node

    @_exclusive(can_defer=False)
    def _add(self, node, store_value, dropped, as_of):
        if self._closed:
            return
        try:
            self._restore_order()
            self._is_disordered = True
            self._add_in_order(node, store_value, as_of)
        except NoRoom:
            self._u64[dropped // 8] += 1

    def _add_in_order(self, node, store_value, as_of):
        slots, frame = [], None
        try:                                                            # reserve everything before the first store
            if node._parent and not node._parent.alive:
                raise NoRoom                                            # its object was dropped or removed
            for _ in range(1 + as_of):
                slots.append(self._take_slot())
            frame = self._take_frame(node.frame_length)
            self._make_room(node._strings)
        except NoRoom:
            self._free_slots.extendleft(reversed(slots))
            if frame is not None:
                self._give_frame(frame, node.frame_length)
            self._is_disordered = False
            raise
        word = self._words // 4
        node.slot, node.incarnation = slots[0], self._u32[word + slots[0]] >> 1 or 1
        node.frame = frame or 0
        # Stores in this order: value, word, strings, string bytes, record, directory.
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
        self._live[node.id] = node                                      # from here on it is live
        if node._parent:
            node._parent._children[node.id] = node
        self._is_disordered = False

    # -- removing ------------------------------------------------------------------------------------------

    @_exclusive(can_defer=True)
    def remove(self, node):
        """Removes a variable, or an object with everything below it."""
        if self._closed or not node.alive:
            return
        was_disordered, self._is_disordered = self._is_disordered, True
        node.alive = False                                              # from here on it is removed
        gone = list(self._subtree(node))
        try:
            if was_disordered:
                self._restore_order()
            else:
                self._remove_in_order(node, gone)
        except NoRoom:                  # only end the values; a later call that has room makes a new directory
            self._renew_slots(gone)

    def _remove_in_order(self, node, gone):
        for n in gone:
            n.alive = False
            del self._live[n.id]
        if node._parent:
            del node._parent._children[node.id]
        # First publish the removal: by a tombstone or, without room for one, by a new directory that has only
        # the live nodes.
        tombstone = self._records < self._record_capacity
        if tombstone:
            try:
                self._make_real(self._directories[self._epoch & 1] + RECORD_SIZE * self._records, RECORD_SIZE)
            except NoRoom:
                tombstone = False
        if tombstone:
            self._write_record(self._epoch & 1, self._records, RECORD.pack(
                self._records, TOMBSTONE, 0, 0, 0, 0, 0, node.id, 0, *[0] * 7))
            self._set_directory(self._epoch, self._records + 1)
        else:
            self._change_directory()
        # Then change the words.  Only after that may slots and frames be used again.
        self._free_slots.extend(self._renew_slots(gone))
        for n in gone:
            if n.frame_length:
                self._give_frame(n.frame, n.frame_length)
        self._is_disordered = False

    def _renew_slots(self, nodes):
        slots = [slot for node in nodes for slot in (node.slot, node.as_of_slot) if slot != NO_SLOT]
        for slot in slots:
            self._renew(slot)
        return slots

    def _renew(self, slot):
        """Starts the next incarnation of a slot, which makes the value of the previous one invalid."""
        old = self._u32[self._words // 4 + slot] >> 1
        self._u32[self._words // 4 + slot] = (1 if old == MAX_INCARNATION else old + 1) << 1

    def _restore_order_if_room(self):
        try:
            self._restore_order()
        except NoRoom:
            pass

    def _restore_order(self):
        """Recovers from an interrupted change of structure: publishes the live nodes, and frees everything else."""
        if not self._is_disordered:
            return
        word = self._u64[DIRECTORY // 8]
        self._epoch, self._records = word >> 32, word & 0xFFFFFFFF
        live = {}
        for node in self._live.values():                                # parents come before their children
            node.alive = node.alive and (node._parent is None or node._parent.id in live)
            if node.alive:
                live[node.id] = node
        for node in live.values():
            if isinstance(node, Object):
                node._children = {}
            if node._parent:
                node._parent._children[node.id] = node
        self._live = live
        self._change_directory()
        used = {slot for node in live.values() for slot in (node.slot, node.as_of_slot)}
        free = [slot for slot in range(self._fresh_slot) if slot not in used]
        for slot in free:
            self._renew(slot)
        self._free_slots = deque(free)
        at, gaps = 0, []
        for start, length in sorted((n.frame, n.frame_length) for n in live.values() if n.frame_length):
            if start > at:
                gaps.append((at, start - at))
            at = start + length
        self._free_frames = gaps + ([(at, self._frame_units - at)] if at < self._frame_units else [])
        self._is_disordered = False

    def _subtree(self, node):
        yield node
        for child in getattr(node, "_children", {}).values():
            yield from self._subtree(child)

    # -- heartbeat, wake-ups and close ---------------------------------------------------------------------

    @_exclusive(can_defer=True)
    def heartbeat(self):
        """Stores a heartbeat.  Call it at least once per heartbeat_period."""
        if not self._closed:
            self._maintain()

    def _beat(self):
        self._u64[HEARTBEAT // 8] = time.clock_gettime_ns(time.CLOCK_MONOTONIC)

    @_exclusive(can_defer=True)
    def notify(self):
        """Stores a heartbeat and wakes the readers."""
        if not self._closed:
            self._maintain()
            self._wake()

    def _maintain(self):
        self._beat()
        self._restore_order_if_room()
        self._keep_name()

    def _wake(self):
        self._u64[TICK // 8] = (self._u64[TICK // 8] + 1) % 2**64
        if SYS_FUTEX is not None:               # otherwise readers only poll
            LIBC.syscall(
                ctypes.c_long(SYS_FUTEX), ctypes.c_void_p(self._map.address + TICK), ctypes.c_int(FUTEX_WAKE),
                ctypes.c_int(2**31 - 1), None, None, ctypes.c_int(0))

    @_exclusive(can_defer=True, in_child=lambda pub: None)
    def close(self):
        """Closes the segment: readers see a clean end, and its name is removed.  Handles store nothing from now on."""
        self._close()

    def _close(self):
        """Closes the segment.  If an exception of a signal handler interrupts it, the next call completes it."""
        if self._fd is None:
            return
        if not self._closed and self._map is not None:
            self._u64[STATE // 8] = CLOSED
            self._wake()
        self._closed = True
        for node in self._live.values():
            node.alive = False
        # Remove the names while we hold the lock: otherwise a successor could take them between check and unlink.
        self._remove_temporary()
        try:
            if _identity(self.path) == self._file:
                os.unlink(self.path)
        except OSError:                         # the program dropped its rights: the closed segment keeps its name
            pass
        # The mapping also refers to the open file: the lock is released once mapping and descriptor are closed.
        if self._map is not None:
            for view in ("_u64", "_i64", "_f64", "_u32", "_bytes"):
                getattr(self, view).release()
            self._map.close()
        self._close_descriptor()

    def __del__(self):
        """Closes the publisher when the garbage collector frees it, so its server key is free again.  At the end of the
        program, the segment stays."""
        if getattr(self, "_fd", None) is not None and not sys.is_finalizing():
            self.close()

    __reduce_ex__ = _refuse_copy

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    # -- the directory and its strings ---------------------------------------------------------------------

    def _complete_frame(self):
        """Stores the update of a frame in the order of section 6: begin (the LAST unit), the payload, end (the FIRST
        unit), the slot.  All stores are recorded, so an update that an exception interrupted is repeated in full."""
        if self._update_in_progress is None:
            return
        node, n, units = self._update_in_progress
        u64, start = self._u64, node._unit
        u64[start + node.frame_length - 1] = n      # 1. begin
        for unit, value in units:                   # 2. the payload
            u64[start + unit] = value
        u64[start] = n                              # 3. end
        node._store(n)                              # 4. slot
        self._update_in_progress = None

    def _set_directory(self, epoch, records):
        """Makes records valid, or another directory active, with a single store."""
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
        """Makes room for one more record and these strings in the active directory.  Raises NoRoom if there is none."""
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
        """Copies the live records to the other directory, and makes it active with a single store (section 8)."""
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
        """Allocates a range before the first store to it.  Stops at the end of the file, which would grow otherwise."""
        if length:
            for step in range(start // STEP, (start + length - 1) // STEP + 1):
                if step not in self._real_steps:
                    try:
                        os.posix_fallocate(self._descriptor(), step * STEP, min(STEP, self.file_size - step * STEP))
                    except OSError as e:            # a full /dev/shm, a quota, a limit of memory
                        if self._map is None:
                            raise OSError(e.errno, f"{SHM} has no room for a segment: {e.strerror}", self.path) from e
                        raise NoRoom from e
                    self._real_steps.add(step)

    def _take_slot(self):
        if self._free_slots:
            return self._free_slots.popleft()               # the slot that has been free longest
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
