"""The handles of objects and variables."""
import struct
from bisect import bisect_left
from math import inf

from .calls import one_at_a_time
from .checks import AMOUNT, checked_integer, checked_number, checked_numbers, checked_observation, checked_utf8, shown
from .layout import (
    COUNTER, F64, FORMATS, HISTOGRAM, I64, INIT, INVALID, NO_SLOT, OBJECT_RECORD, RECORD, STRING, SUMMARY, U64,
    VARIABLE_RECORD)


def bits_of(value):
    """Returns the 8 bytes of a float as an integer."""
    return struct.unpack("<Q", struct.pack("<d", value))[0]


def refuse_copy(self, _protocol):
    raise TypeError(f"a {type(self).__name__} of shm_publisher cannot be copied or pickled: each process needs a "
                    "Publisher of its own")


class Node:
    """The base of objects and variables: an id, a slot, strings and a record."""

    def __init__(self, publisher, parent, strings):
        self._pub, self._parent, self._strings = publisher, parent, strings
        self.id = self.slot = self.incarnation = None
        self.frame, self.frame_length = 0, 0
        self.as_of_slot, self.as_of_incarnation = NO_SLOT, 0
        self.alive = False                  # False if it was dropped for lack of room, or removed: nothing is stored

    __reduce_ex__ = refuse_copy

    @property
    def name(self):
        return self._strings[0].decode("utf-8")

    @one_at_a_time(can_defer=True)
    def set_synced(self, synced):
        """Sets whether there is a value. False removes the series until the next value is set."""
        if self.alive:
            self._pub._u32[self._pub._words // 4 + self.slot] = self.incarnation << 1 | bool(synced)

    def remove(self):
        """Removes a variable, or an object with everything below it."""
        self._pub.remove(self)

    def _store(self, value, fmt="Q"):
        self._pub._view(fmt)[self._pub._slots // 8 + self.slot] = value


class Object(Node):
    def __init__(self, publisher, parent, strings, has_as_of):
        super().__init__(publisher, parent, strings)
        self.has_as_of = has_as_of
        self.depth = parent.depth + 1 if parent else 1
        self._children = {}

    def set_state(self, state):
        """Sets the management state: INIT to INVALID."""
        self._set_state(checked_integer(state, INIT, INVALID, f'state of object "{self.name}"'))

    @one_at_a_time(can_defer=True)
    def _set_state(self, state):
        if self.alive:
            self._store(state)

    def set_as_of(self, ns):
        """Sets the time at which the root's values were true, in ns of CLOCK_REALTIME.  None removes the time."""
        if not self.has_as_of:
            raise ValueError(f'object "{self.name}" has no as-of time: only a root added with as_of=True has one')
        self._set_as_of(None if ns is None else checked_number(U64, ns, f'as-of time of object "{self.name}"'))

    @one_at_a_time(can_defer=True)
    def _set_as_of(self, ns):
        if self.alive and self.as_of_slot != NO_SLOT:
            if ns is not None:
                self._pub._u64[self._pub._slots // 8 + self.as_of_slot] = ns                # first the value,
            self._pub._u32[self._pub._words // 4 + self.as_of_slot] = (                     # then the bit
                self.as_of_incarnation << 1 | (ns is not None))

    def _record(self, index, offsets):
        return RECORD.pack(index, OBJECT_RECORD, 0, 0, 0, self.slot, self.id, self._parent.id if self._parent else 0,
                           self.incarnation, *offsets, 0 if self._parent else self.as_of_slot, self.as_of_incarnation)


class Variable(Node):
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
        self._set(self._cut(value) if self.type == STRING else checked_number(self.type, value, str(self)))

    @one_at_a_time(can_defer=True)
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
        amount = checked_number(F64 if self.type == F64 else AMOUNT, amount, what)
        if self.kind == COUNTER and not 0 <= amount < inf:
            raise ValueError(f"{what}: found {amount}, allowed: finite amounts from 0, since a counter does not fall")
        self._add(amount)

    @one_at_a_time(can_defer=True)
    def _add(self, amount):
        if self.alive:
            before = self._pub._view(FORMATS[self.type])[self._pub._slots // 8 + self.slot]
            self._store(checked_number(self.type, before + amount, str(self)), FORMATS[self.type])
            self._sync()

    def __str__(self):
        return f'variable "{self.name}"'

    def _cut(self, text):
        data = checked_utf8(text, str(self))
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
        self._observe(checked_observation(value, str(self)))

    @one_at_a_time(can_defer=True)
    def _observe(self, value):
        if self.alive:
            bucket = 2 + bisect_left(self._schema, value)       # the first bound that is not exceeded, or +Inf
            self._update([(bucket, self._pub._u64[self._unit + bucket] + 1),
                          (1, bits_of(self._pub._f64[self._unit + 1] + value))])
            self._sync()

    def set_histogram(self, counts, total):
        """Sets the observations of each bucket of a histogram, with the one above all bounds last, and their sum."""
        if self.type != HISTOGRAM:
            raise TypeError(f"{self} has no set_histogram(): only a histogram has")
        counts = [checked_number(U64, count, f"a count of {self}") for count in counts]
        if len(counts) != len(self._schema) + 1:
            raise ValueError(f"{self}: found {len(counts)} counts, allowed: {len(self._schema) + 1}, one more than bounds")
        self._set_histogram(counts, checked_number(F64, total, f"the sum of {self}"))

    @one_at_a_time(can_defer=True)
    def _set_histogram(self, counts, total):
        if self.alive:
            self._update([(1, bits_of(total)), *enumerate(counts, 2)])
            self._sync()

    def set_summary(self, count, total, values):
        """Sets count and sum of a summary, and a value for each quantile."""
        if self.type != SUMMARY:
            raise TypeError(f"{self} has no set_summary(): only a summary has")
        self._set_summary(*self._checked_summary(count, total, values))

    def _checked_summary(self, count, total, values):
        values = checked_numbers(values, f"a value of {self}")
        if len(values) != len(self._schema):
            raise ValueError(f"{self}: found {len(values)} values, allowed: {len(self._schema)}, one for each quantile")
        return checked_number(U64, count, f"the count of {self}"), checked_number(F64, total, f"the sum of {self}"), values

    @one_at_a_time(can_defer=True)
    def _set_summary(self, count, total, values):
        if self.alive:
            self._update(self._summary_units(count, total, values))
            self._sync()

    def _summary_units(self, count, total, values):
        return [(1, count), (2, bits_of(total)), *enumerate(map(bits_of, values), 3)]

    def _checked_first(self, value):
        """Checks the first value of a variable, and returns it in the form in which it is stored."""
        if self.type == STRING:
            return self._cut(value)
        if self.type < STRING:
            return checked_number(self.type, value, str(self))
        if self.type == HISTOGRAM:
            return [checked_observation(v, str(self)) for v in checked_numbers(value, str(self))]
        if not isinstance(value, (tuple, list)) or len(value) != 3:
            raise ValueError(f"{self}: found {shown(value)}, allowed: (count, sum, values)")
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
        """Returns views of the frame as integers and as floats, and of the slot as an integer and as a float.  The
        views are for updates that hold a lock of their own.  Do not use them after the end of the variable or the
        publisher."""
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
