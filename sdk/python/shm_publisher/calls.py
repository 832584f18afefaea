"""Runs the calls of a publisher one at a time, also if a signal handler or `__del__` makes one in the middle of
another.  In a forked child, a call does nothing or raises RuntimeError."""
import functools
import os
import select
import sys


def say(line):
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


def ignore_in_child(pub):
    """Reports once on stderr that the calls of a child do nothing.  Raises no exception, since that could make the
    child's work fail."""
    if not pub._told_child:
        pub._told_child = True
        say(f"{_text_for_child(pub)}. The calls of this process do nothing")


def refuse_in_child(pub):
    raise RuntimeError(_text_for_child(pub))


def one_at_a_time(can_defer, in_child=ignore_in_child):
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
        is_call = code.co_name == "exclusive" and code.co_filename == one_at_a_time.__code__.co_filename
        if is_call and frame.f_locals.get("pub") is pub:
            return True
        frame = frame.f_back
    return False
