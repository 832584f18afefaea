"""A publisher of shared-memory segments, format 1.1 (docs/segment-format.md).

    with Publisher("server1") as pub:
        root = pub.add_root("host.1.app", "Application")
        hits = pub.add_variable(root, "hits", U64, kind=COUNTER, value=0)
        pub.publish()                     # visible now, or once a predecessor ends
        hits.add(1)
        pub.notify()                      # at least once a second: a heartbeat that also wakes readers

The package needs only the standard library, on Linux and a little-endian machine.  Python has no memory barriers.
This package stores in program order.  On x86-64, readers see the stores in that order, as the format requires.
Machines with weakly ordered memory do not guarantee this order.
"""
import errno
import fcntl
import os
import pwd
import re
import resource
import secrets
import struct
import sys
import threading
import time
import weakref
import zlib
from bisect import bisect_left
from collections import deque
from math import nan

from .calls import one_at_a_time, refuse_in_child, say
from .checks import checked_integer, checked_number, checked_schema, checked_series, checked_string, shown
from .layout import (
    CLOSED, DIRECTORY, F64, FEATURE_SERIES, FLAG_SERIES, FORMATS, GAUGE, HEADER, HEARTBEAT, HISTOGRAM, INIT, INVALID,
    LIVE, MAX_DEPTH, MAX_INCARNATION, MAX_TEXT, NORMAL, NO_SLOT, OBJECTS_DROPPED, PAGE, RECORD, RECORD_SIZE, STATE,
    STEP, STRING, STRING_BYTES, SUMMARY, TICK, TOMBSTONE, U64, UNKNOWN, VARIABLES_DROPPED)
from .nodes import Object, Variable, bits_of, refuse_copy
from .system import SHM, Mapping, ask_lock, identity_of, pid_of, remove_dead, supersede, take_lock, wake

NAME_CHECK_SECONDS = 1                                                          # between checks of the name
NOT_GIVEN = object()                                                            # default of an argument


class AnotherPublisherLives(Exception):
    """Another live publisher holds the server key.  Only a publisher with fail_if_busy raises it."""


class NoRoom(Exception):
    """Records, strings, slots, frames or memory are used up.  This module always catches it."""


_publishers: "weakref.WeakSet[Publisher]" = weakref.WeakSet()


def leave_segments():
    """Drops the parent's segments in a forked child.  Otherwise the child would keep their locks when the parent
    ends."""
    for pub in list(_publishers):
        pub._leave()


os.register_at_fork(after_in_child=leave_segments)


def _page_up(n):
    return -(-n // PAGE) * PAGE


class Publisher:
    """The publisher of one segment.  Threads may share it; a forked child needs a publisher of its own.

    The server key may have `{pid}` once, which the pid replaces.  A publisher with such a key removes the segments that
    killed processes left under keys that differ only in the pid.

    An exception that a signal handler raises may end any call in its middle.  So all stores of a frame's update are
    recorded before the first store, and the next call completes an interrupted update.  A change of structure takes
    effect with one assignment, and the next call cleans up after an interrupted change."""

    def __init__(self, server_key, context_id="shmApp", pool_name="pool", *, records=4096, strings=1 << 18,
                 slots=4096, frames=1 << 18, heartbeat_period=1.0, mode=0o644, fail_if_busy=False,
                 series=False):
        given = server_key
        if isinstance(server_key, str):
            server_key = server_key.replace("{pid}", str(os.getpid()), 1)
        for what, key, found, more in (("context_id", context_id, context_id, ""),
                                       ("pool_name", pool_name, pool_name, ""),
                                       ("server_key", server_key, given, ', with at most one "{pid}"')):
            # The exporter checks keys in its configuration by this rule, too.
            if not isinstance(key, str) or not re.fullmatch(r"(?!\.)[A-Za-z0-9_.-]{1,64}", key):
                raise ValueError(f"{what}: found {shown(found)}, allowed: a string of 1 to 64 letters, digits, "
                                 f'"_", "-" and ".", not starting with "."{more}')
        for what, value, least, most in (("records", records, 1, 8388608), ("strings", strings, 2, 134217728),
                                         ("slots", slots, 1, 16777216), ("frames", frames, 0, 2147483648)):
            checked_integer(value, least, most, what)
        if not isinstance(mode, int) or not 0 <= mode <= 0o777:
            raise ValueError(f"mode: found {shown(mode)}, allowed: integers from 0 to 0o777, such as 0o600")
        if frames % 8:
            raise ValueError(f"frames: found {frames}, allowed: multiples of 8")
        if not 0 <= checked_number(F64, heartbeat_period, "heartbeat_period") <= 1e9:
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
            self._map = Mapping(self._fd, self.file_size)
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
            take_lock(fd)                                                   # before another process can open the file
        except BaseException:
            self._remove_temporary()
            os.close(fd)
            raise
        return fd, identity_of(fd)

    def _descriptor(self):
        """Returns the file's descriptor.  If the program has closed all descriptors, as daemons do, the number may
        belong to another file.  In that case, reopens the segment's file by its name.  The mapping keeps the lock
        meanwhile."""
        if identity_of(self._fd) != self._file:
            self._fd = -1
            self._fd = os.open(self.path, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
            if identity_of(self._fd) != self._file:
                fd, self._fd = self._fd, -1
                os.close(fd)
                raise OSError(errno.EBADF, "the program closed the segment's file, and the file's name no longer exists",
                              self.path)
        return self._fd

    def _close_descriptor(self):
        fd, self._fd = self._fd, None
        if identity_of(fd) == self._file:
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
        the server key, one line on stderr says so, and heartbeat() and notify() take the key when it is free and
        say so on another line.  With fail_if_busy, publish() closes this publisher and raises AnotherPublisherLives."""
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

    @one_at_a_time(can_defer=False, in_child=refuse_in_child)
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
            remove_dead(self._template, os.path.basename(self.path))

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
            say(f"{self.path} cannot be taken: {error.strerror}; the publisher tries again every second"
                 if isinstance(error, OSError) else
                 f"{error}; this publisher takes the key once it is free (set fail_if_busy to get an error instead; give "
                 'each worker process a key with {pid}, and all of them one target with format = "workers")')

    def _restore_name(self):
        if identity_of(self.path) != self._file:
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
            say(f"this publisher now holds {self.path}")

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
            supersede(fd)
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
                take_lock(old)
            except OSError as e:
                if e.errno in (errno.EAGAIN, errno.EACCES):
                    raise self._busy(old) from None
                raise
            # While we hold this lock, no other publisher can replace the file.  So we may take the name if the name
            # still refers to the file.
            if identity_of(self.path) != identity_of(old):
                return False
            draft = self._temporary_name()
            try:
                self._link(draft)
                os.rename(draft, self.path)
            except BaseException:
                if identity_of(draft) == self._file:
                    os.unlink(draft)
                raise
            supersede(old)
            return True
        finally:
            os.close(old)

    def _busy(self, fd):
        pid = pid_of(fd)
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
                if ask_lock(fd, fcntl.F_OFD_GETLK) != fcntl.F_UNLCK:
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
        self._check_parent(parent, f"object {shown(object_id)}")
        return self._add_object(parent, object_id, class_name, "", "", "", state, synced, False)

    def _add_object(self, parent, object_id, class_name, host, instance, application, state, synced, as_of):
        what = f"object {shown(object_id)}"
        state = checked_integer(state, INIT, INVALID, f"state of {what}")
        strings = [checked_string(text, 1024, f"{part} of {what}") for text, part in (
            (object_id, "id"), (class_name, "class"), (host, "host"), (instance, "instance"),
            (application, "application"))]
        if parent is not None:
            if parent.depth >= MAX_DEPTH:
                raise ValueError(f"parent of {what}: found one with {MAX_DEPTH - 1} objects above it, allowed: at most "
                                 f"{MAX_DEPTH - 2}")
            if not object_id.startswith(parent.name + ".") or len(object_id) < len(parent.name) + 2:
                raise ValueError(f"id: found {shown(object_id)} for an object of class {shown(class_name)}, allowed: "
                                 f"the parent's id {shown(parent.name)}, a dot and at least one more character")
        node = Object(self, parent, strings, bool(as_of))

        def value():
            node._store(state)
            return synced
        self._add(node, value, OBJECTS_DROPPED, node.has_as_of)
        return node

    def _check_parent(self, parent, what):
        if not isinstance(parent, Object) or parent._pub is not self:
            raise ValueError(f"parent of {what}: found {shown(parent)}, allowed: objects of this publisher")

    def add_variable(self, parent, name, type_, *, kind=UNKNOWN, unit="", help="", value=NOT_GIVEN, schema=(),
                     capacity=256, labels=None):
        """Adds a variable to an object.  `value` is its first value: for a histogram an iterable of observations, for
        a summary (count, sum, values).  Without `value`, histograms and summaries start without observations (count
        and sum 0, quantiles NaN), and other variables without a value (unsynced).  With `value=None`, every variable
        starts without a value.  `capacity` is the maximum number of bytes of a string.  With `labels`, a dict that
        may be empty, the exporter shows `name` as the name of the metric, with these labels and no label `object`; the
        publisher needs `series=True`."""
        what = f"variable {shown(name)}"
        self._check_parent(parent, what)
        if not isinstance(type_, int) or not U64 <= type_ <= SUMMARY:
            raise ValueError(f"type of {what}: found {shown(type_)}, allowed: U64, I64, F64, BOOL, STRING, HISTOGRAM "
                             "and SUMMARY of this module")
        if not isinstance(kind, int) or not UNKNOWN <= kind <= (GAUGE if type_ < STRING else UNKNOWN):
            raise ValueError(f"kind of {what}: found {shown(kind)}, allowed: UNKNOWN, and for numbers COUNTER and "
                             "GAUGE")
        schema = checked_schema(type_, schema, f"schema of {what}")
        checked_integer(capacity, 0, MAX_TEXT, f"capacity of {what}")
        name_bytes = checked_string(name, 1024, f"name of {what}")
        if labels is not None:
            if not self._has_series:
                raise ValueError(f"labels of {what}: allowed only if the publisher has series=True")
            name_bytes = checked_string(checked_series(type_, name, labels, what), 4096, f"name and labels of {what}")
        node = Variable(self, parent, [
            name_bytes, checked_string(unit, 64, f"unit of {what}"),
            checked_string(help, 4096, f"help of {what}"), struct.pack(f"<{len(schema)}d", *schema)],
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
                node._update([(1, bits_of(float(sum(value)))), *enumerate(counts, 2)])
            elif type_ == SUMMARY:
                node._update(node._summary_units(*value))
            else:
                node._store(value, FORMATS[type_])
            return True
        self._add(node, first, VARIABLES_DROPPED, False)
        return node

    @one_at_a_time(can_defer=False)
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

    @one_at_a_time(can_defer=True)
    def _count_dropped(self):
        """Counts a variable that metrics could not add."""
        if not self._closed:
            self._u64[VARIABLES_DROPPED // 8] += 1

    # -- removing ------------------------------------------------------------------------------------------

    @one_at_a_time(can_defer=True)
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

    @one_at_a_time(can_defer=True)
    def heartbeat(self):
        """Stores a heartbeat.  Call it at least once per heartbeat_period."""
        if not self._closed:
            self._maintain()

    def _beat(self):
        self._u64[HEARTBEAT // 8] = time.clock_gettime_ns(time.CLOCK_MONOTONIC)

    @one_at_a_time(can_defer=True)
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
        wake(self._map.address + TICK)

    @one_at_a_time(can_defer=True, in_child=lambda pub: None)
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
            if identity_of(self.path) == self._file:
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

    __reduce_ex__ = refuse_copy

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
