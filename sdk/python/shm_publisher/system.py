"""The system calls of the publisher: memory mappings, locks of open files, removal of dead segments, and wake-ups."""
import ctypes
import errno
import fcntl
import mmap
import os
import platform
import re
import struct

from .layout import PAGE, STATE, SUPERSEDED

SHM = "/dev/shm"
TEMPORARY = re.compile(r"\A\.(.+)\.\d+\.[0-9a-f]{8}\.tmp\Z")   # see Publisher._temporary_name
MAX_DEAD = 1024                                     # segments of killed processes that one publish() tries to remove
MAP_FIXED, MAP_NORESERVE, MREMAP_MAYMOVE, MREMAP_FIXED = 0x10, 0x4000, 1, 2
FAILED = ctypes.c_void_p(-1).value
LIBC = ctypes.CDLL(None, use_errno=True)
LIBC.mmap.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_int64)
LIBC.mremap.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_size_t, ctypes.c_int, ctypes.c_void_p)
LIBC.mmap.restype = LIBC.mremap.restype = ctypes.c_void_p
LIBC.munmap.argtypes = LIBC.munlock.argtypes = (ctypes.c_void_p, ctypes.c_size_t)
LIBC.mprotect.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)
FUTEX_WAKE, SYS_FUTEX = 1, {"x86_64": 202, "aarch64": 98, "riscv64": 98}.get(platform.machine())


class Mapping:
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


def ask_lock(fd, command):
    """Takes or queries a write lock on the whole file, and returns the type of the lock.  The lock belongs to the open
    file description, not to the process."""
    # struct flock: l_type, l_whence, (padding), l_start, l_len, l_pid (0, or the kernel refuses), (padding)
    flock = "@hhqqi4x"
    return struct.unpack(flock, fcntl.fcntl(fd, command, struct.pack(flock, fcntl.F_WRLCK, os.SEEK_SET, 0, 0, 0)))[0]


def take_lock(fd):
    ask_lock(fd, fcntl.F_OFD_SETLK)


def identity_of(file):
    """Returns device and inode of a path or descriptor, or None if there is no such file."""
    try:
        facts = os.stat(file, follow_symlinks=isinstance(file, int))
    except OSError:
        return None
    return facts.st_dev, facts.st_ino


def supersede(fd):
    """Tells the readers of a segment that a newer segment has taken its name. Readers also check the name, so a
    failure does no harm."""
    try:
        if os.fstat(fd).st_size >= PAGE and os.pread(fd, 8, 0) == b"SHMEXP\r\n":
            os.pwrite(fd, struct.pack("<Q", SUPERSEDED), STATE)
    except OSError:
        pass


def pid_of(fd):
    """Returns the pid of a segment's publisher, or 0 if the file is no segment."""
    head = os.pread(fd, 72, 0)
    return struct.unpack_from("<Q", head, 64)[0] if head[:8] == b"SHMEXP\r\n" and len(head) == 72 else 0


def remove_dead(template, own):
    """Removes the segments and temporary files of killed processes whose names differ from `own` only in the pid.
    `template` is the name with `{pid}` in the place of the pid; without `{pid}`, nothing is removed.  The pid in a
    name must be that of the segment's publisher, and the lock of the segment must be free.  If another process has
    this pid now, as in a restarted container, the segment stays: that process may be about to replace the segment, and
    would find it locked.  Readers keep a removed segment open."""
    before, place, after = template.partition("{pid}")
    if not place:
        return
    pattern = re.compile(re.escape(before) + r"(\d+)" + re.escape(after))
    try:
        names = os.listdir(SHM)
    except OSError:
        return
    named = ((name, pattern.fullmatch(TEMPORARY.sub(r"\1", name))) for name in names if name != own)
    for name, match in [each for each in named if each[1]][:MAX_DEAD]:
        path = f"{SHM}/{name}"
        try:
            fd = os.open(path, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
        except OSError:                                                 # of another user, or gone
            continue
        try:
            pid = int(match[1])
            if pid == 0 or pid_of(fd) != pid or pid != os.getpid() and os.path.exists(f"/proc/{pid}"):
                continue
            take_lock(fd)
            if identity_of(path) == identity_of(fd):
                os.unlink(path)
        except OSError:                                                 # its process lives
            pass
        finally:
            os.close(fd)


def wake(address):
    """Wakes the readers that wait for a change of the word at an address.  On machines whose number of the system
    call is unknown, readers only poll."""
    if SYS_FUTEX is not None:
        LIBC.syscall(ctypes.c_long(SYS_FUTEX), ctypes.c_void_p(address), ctypes.c_int(FUTEX_WAKE),
                     ctypes.c_int(2**31 - 1), None, None, ctypes.c_int(0))
