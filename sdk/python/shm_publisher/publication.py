"""A segment with the root of one application, which threads keep alive."""
from __future__ import annotations

import atexit
import inspect
import os
import re
import signal
import socket
import sys
import threading
from collections.abc import Callable
from typing import Any, Optional

from .calls import say
from .checks import shown
from .nodes import Object
from .publisher import Publisher

MAX_KEY = 64
MAX_WARNINGS = 256
# Threads leave these to faulthandler, and all others to the program.
FAULTS = {signal.SIGABRT, signal.SIGBUS, signal.SIGFPE, signal.SIGILL, signal.SIGSEGV}


class Warnings:
    """Writes lines to stderr, one for each subject, and at most MAX_WARNINGS."""

    def __init__(self) -> None:
        self._subjects: set[str] = set()

    def tell(self, subject: str, line: str) -> None:
        if subject not in self._subjects and len(self._subjects) < MAX_WARNINGS:
            self._subjects.add(subject)
            say(line)

    def tell_refusal(self, metric: str, labels: object, what: str, error: ValueError) -> None:
        """Writes that a series cannot be published, once for each metric and rule that it breaks."""
        rule = str(error).partition("allowed")[2]
        self.tell(f"{metric} {rule}", f"{'one label set of ' if labels else ''}metric {metric} {what}: {error}")


class Publication:
    """A publisher with a root for the application, and daemon threads until close()."""

    def __init__(self, server_key: str, app: str, class_name: str, options: dict[str, Any]) -> None:
        self.publisher = Publisher(server_key, series=True, **options)
        self._ended = threading.Event()
        self._close: Optional[Callable[[], object]] = None      # what close_at_exit() calls
        self._at_exit: list[Callable[[], object]] = []          # take back what close_at_exit() did
        try:
            host = socket.gethostname().replace(".", "_")
            self.root: Object = self.publisher.add_root(f"{host}.{os.getpid()}.{app}", class_name)
        except BaseException:
            self.publisher.close()
            raise

    def repeat(self, name: str, seconds: float, call: Callable[[], object], at_once: bool = False) -> None:
        """Calls a function repeatedly in a thread, which does not keep the process alive and takes no signals."""
        def run() -> None:
            signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals() - FAULTS)
            if at_once:
                call()
            while not self._ended.wait(seconds):
                call()
        threading.Thread(target=run, name=f"shm_publisher {name}", daemon=True).start()

    @property
    def is_own(self) -> bool:
        """False in a forked child, where threads and segment are those of the parent."""
        return self.publisher._pid == os.getpid()

    def close_at_exit(self, close: Callable[[], object]) -> None:
        """Calls a function at the end of the process, unless close() comes before.  A child of multiprocessing may end
        without atexit."""
        self._close = close
        atexit.register(close)
        self._at_exit.append(lambda: atexit.unregister(close))
        util = sys.modules.get("multiprocessing.util")          # always there in such a child
        if util is not None:
            self._close_at_end_of_child()
            # multiprocessing forgets all finalizers after it has imported the program.
            util.register_after_fork(self, Publication._close_at_end_of_child)

    def _close_at_end_of_child(self) -> None:
        if self.is_own and not self._ended.is_set():
            util = sys.modules["multiprocessing.util"]
            self._at_exit.append(util.Finalize(None, self._close, exitpriority=-100).cancel)

    def close(self) -> None:
        """Ends the threads, and closes the segment."""
        if self.is_own:
            self._ended.set()
            self.publisher.close()
            while self._at_exit:
                self._at_exit.pop()()


def checked_app(app: str) -> str:
    if not isinstance(app, str) or not re.fullmatch(r"[A-Za-z][A-Za-z0-9_]{0,63}", app):
        raise ValueError(f"app: found {shown(app)}, allowed: 1 to 64 letters, digits and _, with a letter first")
    return app


def checked_interval(interval: float) -> float:
    if not isinstance(interval, (int, float)) or not 0 < interval <= 86400:
        raise ValueError(f"interval: found {shown(interval)}, allowed: more than 0 to 86400 seconds")
    return interval


def checked_options(options: dict[str, Any]) -> None:
    """Checks the names of the options that a function `publish` passes to Publisher."""
    _, *allowed = inspect.signature(Publisher).parameters
    allowed.remove("series")
    for name in options:
        if name not in allowed:
            raise TypeError(f"publish: found the argument {name}, allowed: server_key, app, interval, {', '.join(allowed)}")


def key_of_child(server_key: str) -> str:
    """Returns the server key of a forked child: the given key if it has `{pid}`, else the key with `-{pid}` at the
    end.  The given key is cut, so that the result has at most 64 characters with the pid."""
    return server_key if "{pid}" in server_key else f"{server_key[:MAX_KEY - len(str(os.getpid())) - 1]}-{{pid}}"
