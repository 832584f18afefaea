"""A segment with the root of one application, which threads keep alive."""
from __future__ import annotations

import os
import re
import socket
import threading
from collections.abc import Callable
from typing import Any

from .publisher import SHM, Object, Publisher, _identity, _lock, _shown

MAX_KEY = 64
MAX_DEAD = 1024                                 # segments of dead processes that one publication removes


class Publication:
    """A publisher with a root for the application, and daemon threads until close()."""

    def __init__(self, server_key: str, app: str, class_name: str, options: dict[str, Any]) -> None:
        self.publisher = Publisher(server_key, series=True, **options)
        self._ended = threading.Event()
        try:
            host = socket.gethostname().replace(".", "_")
            self.root: Object = self.publisher.add_root(f"{host}.{os.getpid()}.{app}", class_name)
        except BaseException:
            self.publisher.close()
            raise

    def repeat(self, name: str, seconds: float, call: Callable[[], object], at_once: bool = False) -> None:
        """Calls a function repeatedly in a thread, which does not keep the process alive."""
        def run() -> None:
            if at_once:
                call()
            while not self._ended.wait(seconds):
                call()
        threading.Thread(target=run, name=f"shm_publisher {name}", daemon=True).start()

    def close(self) -> None:
        """Ends the threads, and closes the segment."""
        self._ended.set()
        self.publisher.close()


def checked_app(app: str) -> str:
    if not isinstance(app, str) or not re.fullmatch(r"[A-Za-z][A-Za-z0-9_]{0,63}", app):
        raise ValueError(f"app: found {_shown(app)}, allowed: 1 to 64 letters, digits and _, with a letter first")
    return app


def checked_interval(interval: float) -> float:
    if not isinstance(interval, (int, float)) or not 0 < interval <= 86400:
        raise ValueError(f"interval: found {_shown(interval)}, allowed: more than 0 to 86400 seconds")
    return interval


def key_of_process(server_key: str, is_child: bool) -> str:
    """Returns the server key of this process: the pid stands for `{pid}`, and a forked child without `{pid}` has it at
    the end.  The key of a child is shortened to 64 characters."""
    pid = str(os.getpid())
    if "{pid}" in server_key:
        return server_key.replace("{pid}", pid)
    return f"{server_key[:MAX_KEY - len(pid) - 1]}-{pid}" if is_child else server_key


def remove_dead(publisher: Publisher, server_key: str) -> None:
    """Removes the segments that killed processes of the application left behind: those whose names differ only in the
    pid, and whose locks are free.  Whoever reads such a segment has it open."""
    name = os.path.basename(publisher.path)
    head, _, tail = name.rpartition(str(os.getpid()))
    pattern = re.compile(re.escape(head) + r"\d+" + re.escape(tail))
    for other in [each for each in os.listdir(SHM) if each != name and pattern.fullmatch(each)][:MAX_DEAD]:
        path = f"{SHM}/{other}"
        try:
            file = os.open(path, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
        except OSError:                         # of another user, or gone
            continue
        try:
            _lock(file)
            if _identity(path) == _identity(file):
                os.unlink(path)
        except OSError:                         # its process lives
            pass
        finally:
            os.close(file)
