"""Locks with which the store of metrics begins anew at the first update of a forked child or of a worker of uWSGI."""
from __future__ import annotations

import atexit
import os
import sys
import threading
from collections.abc import Callable
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

from .calls import say

if TYPE_CHECKING:
    from .store import Store


class FirstUse:
    """The lock of the store in a forked child, until the first update.  The first update takes the lock, which makes
    the store begin anew.  So updates need no check for a fork, and a child without updates makes no segment."""

    def __init__(self, store: Store) -> None:
        self._store, self._lock, self._is_beginning = store, threading.RLock(), False

    def begin(self, opens: bool = True) -> None:
        """Makes the store begin anew, unless it has done so.  If an exception interrupts this, the next call repeats
        it.  With `opens`, the store opens a segment with the arguments of the parent's publish()."""
        with self._lock:
            if self._store.lock is self and not self._is_beginning:
                try:
                    self._is_beginning = True
                    self._store.begin_in_child(opens)
                    self._store.lock = self._lock
                finally:
                    self._is_beginning = False

    # Properties, so that `with` takes the lock by a single call into C: an exception of a signal handler cannot come
    # between that and the block.

    @property
    def __enter__(self) -> Callable[[], bool]:
        self.begin()
        return self._lock.__enter__

    @property
    def __exit__(self) -> Callable[..., None]:
        return self._lock.__exit__


class BeforeWorkers:
    """The lock of the store in a process of uWSGI that loads the application.  This process then forks its workers in
    C, without Python's hooks.  There is no segment and no thread until the first update in a worker: if a thread held
    a lock during the fork, no thread of the worker would ever release it."""

    def __init__(self, store: Store, worker_id: Callable[[], int]) -> None:
        self._store, self._lock, self._pid, self._worker_id = store, store.lock, os.getpid(), worker_id
        self._of_worker = FirstUse(store)       # only workers take it, so that it is free when they begin

    @property
    def is_fork(self) -> bool:
        return os.getpid() != self._pid

    def begin(self, opens: bool = True) -> None:
        """Makes the store begin in a worker, unless it has done so."""
        if self.is_fork:
            with self._of_worker._lock:
                if self._store.lock is self:
                    self._store.lock = self._of_worker
            self._of_worker.begin(opens)
        elif self._worker_id() > 0:
            with self._lock:
                if self._store.lock is self:
                    self._store.lock = self._lock
                    self._store.open_in_worker(opens)

    def _own(self) -> Any:
        self.begin()
        return self._of_worker._lock if self.is_fork else self._lock

    @property
    def __enter__(self) -> Callable[[], bool]:
        return self._own().__enter__            # type: ignore[no-any-return]

    @property
    def __exit__(self) -> Callable[..., None]:
        return self._own().__exit__             # type: ignore[no-any-return]


def watch(store: Store) -> None:
    """Makes a store begin anew in each forked child, and closes it at the end of the process."""
    held: list[Any] = []                        # the lock of the store, while the process forks

    def is_unused_child() -> bool:
        return isinstance(store.lock, FirstUse) or isinstance(store.lock, BeforeWorkers) and store.lock.is_fork

    def before_fork() -> None:
        """Waits until no other thread is in the middle of a change, which the child could not complete."""
        if not is_unused_child() and not isinstance(store.lock, nullcontext):
            lock = store.lock._lock if isinstance(store.lock, BeforeWorkers) else store.lock
            lock.acquire()
            held.append(lock)

    def after_fork_in_parent() -> None:
        if held:
            held.pop().release()

    def after_fork_in_child() -> None:
        held.clear()
        store.lock = FirstUse(store)

    def at_exit() -> None:
        if not is_unused_child():               # it has nothing to close
            store.close()
            # A thread that has ended inside the lock never releases it.  What follows, such as __del__, needs none.
            store.lock = nullcontext()

    os.register_at_fork(before=before_fork, after_in_parent=after_fork_in_parent, after_in_child=after_fork_in_child)
    atexit.register(at_exit)
    uwsgi = sys.modules.get("uwsgi")            # a module that only processes of uWSGI have
    if uwsgi is not None:
        if not uwsgi.has_threads:
            say("uWSGI stops the threads of Python between requests: set enable-threads, or the metrics seem stalled")
        if uwsgi.worker_id() == 0:
            store.lock = BeforeWorkers(store, uwsgi.worker_id)
