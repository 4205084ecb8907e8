"""How processes are started: by one thread, without the program's main module.

The fork server asks the kernel to end it with its parent, and for Linux a parent is a *thread*.
Starting a worker may restart the fork server, and most threads of a service are short-lived:
so one thread that lives as long as the program starts all processes.
"""

import contextlib
import errno
import logging
import multiprocessing.forkserver
import multiprocessing.resource_tracker
import multiprocessing.util
import os
import queue
import signal
import sys
import tempfile
import threading
import types
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from multiprocessing.process import BaseProcess
from pathlib import Path

import cardan
from cardan.service.keys import SECRETS

log = logging.getLogger("cardan.workers")

PRELOAD = "cardan.service.preload"
START_SECONDS = 10.0
LOAD_SECONDS = 600.0
# an address of a socket has 107 bytes at most, 32 of them below this folder
LONGEST_FOLDER = 75
SHORT_FOLDER = "/tmp"
LIBRARY_THREADS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")

Task = tuple[Callable[[], None], bool, Future[None]]
"""What to do, whether the fork server answers it, and the result."""

_tasks: queue.SimpleQueue[Task] = queue.SimpleQueue()
_lock = threading.Lock()
_threads: list[threading.Thread] = []


def start_process(process: BaseProcess) -> None:
    """Start it; may be called from any thread, and waits while the fork server loads.

    Raises OSError when none can be started, such as when the fork server dies or hangs; a later
    call starts another fork server.
    """
    _in_starter(process.start, answered=True)


def start_fork_server() -> bool:
    """Start the fork server, which then loads the kernels, and do not wait; False: there is one.

    This module imports little, so that this can come first. Raises OSError.
    """
    before = _fork_server()
    _in_starter(_ensure_fork_server, answered=False)
    return _fork_server() != before


def end_fork_server() -> None:
    """Kill the fork server, if there is one: left alone it would first load all it had begun to."""
    pid = _fork_server()
    if pid:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def _ensure_fork_server() -> None:
    multiprocessing.forkserver.set_forkserver_preload([PRELOAD])
    multiprocessing.forkserver.ensure_running()


def _in_starter(task: Callable[[], None], *, answered: bool) -> None:
    """Do a task in the thread that starts processes, and wait for it. Raises what it raises.

    `answered` says whether the fork server answers it: one that was only started still loads.
    """
    done: Future[None] = Future()
    with _lock:
        if not any(thread.is_alive() for thread in _threads):
            thread = threading.Thread(target=_work, name="starter", daemon=True)
            _threads[:] = [thread]
            thread.start()
    _tasks.put((task, answered, done))
    try:
        done.result()
    except EOFError as error:
        raise OSError(errno.ECHILD, "the fork server ended; the log has the cause") from error
    except BaseException:
        # whoever is interrupted closes what its process would be given
        done.cancel()
        raise


def is_gone(pid: int) -> bool:
    """Whether a child process of this one has ended; this process itself has not."""
    if pid == os.getpid():
        return False
    try:
        # WNOWAIT: the exit status is left to whoever started it
        return os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
    except ChildProcessError:
        return True


def _work() -> None:
    _keep_addresses_short()
    known = 0
    while True:
        task, answered, done = _tasks.get()
        if not done.set_running_or_notify_cancel():
            continue
        try:
            with _no_main_module(), _environment(), _killed_if_silent(known):
                _block_interrupts()
                task()
            known = _fork_server() if answered else known
        except BaseException as error:
            done.set_exception(error)
        else:
            done.set_result(None)


def _keep_addresses_short() -> None:
    """Have the socket of the fork server in a short folder where that of TMPDIR is too long."""
    place = tempfile.gettempdir()
    if len(os.fsencode(place)) <= LONGEST_FOLDER or not os.path.isdir(SHORT_FOLDER):
        return
    tempfile.tempdir = SHORT_FOLDER
    try:
        # made once, and kept until the program ends
        multiprocessing.util.get_temp_dir()
    finally:
        tempfile.tempdir = place


def _block_interrupts() -> None:
    """Let what this thread starts inherit that Ctrl+C, which a terminal sends to all, is blocked.

    The tracker comes first: starting it unblocks the signal.
    """
    multiprocessing.resource_tracker.ensure_running()
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})


def _fork_server() -> int:
    """Process id of the fork server; 0 while there is none."""
    # multiprocessing has no public name for it
    return int(getattr(multiprocessing.forkserver, "_forkserver")._forkserver_pid or 0)  # noqa: B009


@contextlib.contextmanager
def _killed_if_silent(answered: int) -> Iterator[None]:
    """Kill a fork server that hangs: whoever waits for it gets an error, the next call another.

    One that `answered` before forks in milliseconds; a new one first loads its kernels.
    """

    def kill(seconds: float) -> None:
        pid = _fork_server()
        if pid and (pid == answered or seconds == LOAD_SECONDS):
            log.error("the fork server %d did not answer within %g s: it is replaced", pid, seconds)
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    timers = [threading.Timer(one, kill, (one,)) for one in (START_SECONDS, LOAD_SECONDS)]
    for timer in timers:
        timer.daemon = True
        timer.start()
    try:
        yield
    finally:
        for timer in timers:
            timer.cancel()


@contextlib.contextmanager
def _no_main_module() -> Iterator[None]:
    """Hide the program's main module: a worker would import it, and with it all of the API."""
    main = sys.modules["__main__"]
    sys.modules["__main__"] = types.ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = main


@contextlib.contextmanager
def _environment() -> Iterator[None]:
    """What a new interpreter needs: to find this package, and no threads before the fork.

    The fork server is not told our `sys.path`; a numeric library that starts threads in it would
    leave its forks with locks nobody opens; and it needs no secret. What is set stays: another
    thread that lists the environment fails where a name is gone that it has just seen.
    """
    root = str(Path(cardan.__file__).parents[1])
    paths = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    if root not in paths:
        os.environ["PYTHONPATH"] = os.pathsep.join([root, *filter(None, paths)])
    os.environ.update(dict.fromkeys(LIBRARY_THREADS, "1"))
    secrets = {name: os.environ[name] for name in SECRETS if name in os.environ}
    for name in secrets:
        del os.environ[name]
    try:
        yield
    finally:
        os.environ.update(secrets)
