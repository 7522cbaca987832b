"""A worker process on this machine, and what it and its parent say to each other.

A worker is a fresh interpreter, ``python -m gola.worker``, that imports what its jobs need and never the user's
program: a script needs no ``if __name__ == "__main__":``, and a notebook works too. Jobs come through its standard
input, replies go through its standard output. A worker whose input ends, because its parent has finished or died, ends
as well.
"""

import contextlib
import io
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
import traceback
import warnings
from collections import deque
from queue import SimpleQueue
from typing import IO, Any, final

DONE, RAISED, REFUSED = "done", "raised", "refused"
"""What a reply says: the result, the exception, or why the job cannot be loaded outside the parent."""

# Threads of processes that share the cores would compete, which costs many times more than it gains. The libraries that
# compute read these when they are loaded.
_ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
_LAST_LINES = 10
# How long a process may take to end in good order, once it has been asked to or has closed its end of a pipe.
_GRACE_SECONDS = 1.0
_SIZE_BYTES = 8


@final
class Worker:
    """A worker process, as its parent sees it."""

    def __init__(self) -> None:
        options = [f"-W{option}" for option in sys.warnoptions]
        # The worker finds the modules that this process finds, wherever that got them from; -P adds no other folder.
        path = os.pathsep.join(folder or os.getcwd() for folder in sys.path)
        self._process = subprocess.Popen(
            [sys.executable, *options, "-P", "-X", "faulthandler", "-m", __name__],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**os.environ, **_ONE_THREAD, "PYTHONPATH": path},
            process_group=0,  # Ctrl-C in the terminal reaches the parent only, even while the worker still starts
        )
        assert self._process.stdin
        assert self._process.stdout
        self._jobs, self._replies = self._process.stdin, self._process.stdout
        self._last_lines: deque[str] = deque(maxlen=_LAST_LINES)
        self._listener = threading.Thread(target=self._pass_on, args=(self._process.stderr,), daemon=True)
        self._listener.start()

    def do(self, job: bytes) -> bytes:
        """Send a job, and return the reply.

        Raises:
            ChildProcessError: If the worker ends before it has replied.
        """
        try:
            _send(self._jobs, job)
            return _receive(self._replies)
        except (EOFError, OSError, ValueError):
            raise ChildProcessError(self._cause_of_death()) from None

    def kill(self) -> None:
        """End the worker at once, whatever it is doing."""
        self._process.kill()

    def release(self) -> None:
        """Let the worker end, without waiting for it."""
        with contextlib.suppress(OSError):  # a worker that has died does not take what is still in the buffer
            self._jobs.close()

    def close(self) -> None:
        """Wait until the worker has ended."""
        self.release()
        self._returncode()
        self._listener.join(_GRACE_SECONDS)
        self._replies.close()

    def _returncode(self) -> int:
        try:
            return self._process.wait(5 * _GRACE_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            return self._process.wait()

    def _pass_on(self, stream: IO[bytes]) -> None:
        """Show what the worker prints where this process prints, maybe in a notebook, and remember the last lines."""
        with stream:
            for line in stream:
                text = line.decode(errors="replace")
                self._last_lines.append(text.rstrip())
                with contextlib.suppress(OSError, ValueError, AttributeError):  # no standard error, or a closed one
                    sys.stderr.write(text)

    def _cause_of_death(self) -> str:
        code = self._returncode()
        self._listener.join(_GRACE_SECONDS)
        last = "".join(f"\n  {line}" for line in self._last_lines)
        said = f" The last that it printed:{last}" if last else " It printed nothing."
        return (
            f"A worker process {_ending(code)}. What was finished is kept: repeat the call to continue, if need be with"
            f" fewer workers (--num-workers 1).{said}"
        )


def is_worker() -> bool:
    """Tell whether this process is a worker."""
    spec = getattr(sys.modules["__main__"], "__spec__", None)
    return spec is not None and spec.name == "gola.worker"


def main() -> None:
    """Do jobs until there are no more."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    requests, replies = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    # Nothing that a job reads or prints may come between the messages.
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(2, 1)
    warnings.showwarning = _show_warning
    jobs: SimpleQueue[bytes | None] = SimpleQueue()
    threading.Thread(target=_listen, args=(requests, jobs), daemon=True).start()
    while (job := jobs.get()) is not None:
        _send(replies, _reply(job))


def _show_warning(message: Warning | str, *_where: Any, **_line: Any) -> None:
    """Write a warning without the line of code, which is one of this module and says nothing to anybody."""
    sys.stderr.write(f"Warning: {message}\n")


def _listen(requests: IO[bytes], jobs: "SimpleQueue[bytes | None]") -> None:
    """Queue the jobs that come; at their end, end this process even if it is busy, since nobody waits for it."""
    with contextlib.suppress(EOFError):
        while True:
            jobs.put(_receive(requests))
    jobs.put(None)
    time.sleep(_GRACE_SECONDS)
    os._exit(1)


def _reply(job: bytes) -> bytes:
    try:
        function, arguments = _Unpickler(io.BytesIO(job)).load()
    except Exception as error:  # importing a module of the user's may raise anything
        return pickle.dumps((REFUSED, repr(error)))
    try:
        return pickle.dumps((DONE, function(*arguments)), pickle.HIGHEST_PROTOCOL)
    except BaseException as error:  # even SystemExit belongs to the parent
        return pickle.dumps((RAISED, _portable(error)))


class _Unpickler(pickle.Unpickler):
    """Refuses what lies in the user's program: the names of ``__main__`` mean something else here."""

    def find_class(self, module: str, name: str) -> Any:
        if module == "__main__":
            raise pickle.UnpicklingError(f"{name} is defined in the main program.")
        return super().find_class(module, name)


def _portable(error: BaseException) -> BaseException:
    """Return an exception that another process can read, with the traceback as a note."""
    note = f"In a worker process:\n{traceback.format_exc()}"
    try:
        copy = pickle.loads(pickle.dumps(error))
    except Exception:  # whatever an exception raises that cannot be copied
        copy = RuntimeError(f"{type(error).__name__}: {error}")
    copy.add_note(note)
    return copy


def _ending(code: int) -> str:
    if code >= 0:
        return f"ended with exit code {code}"
    names = {number.value: number.name for number in signal.Signals}
    hint = ": somebody killed it, or the system did because memory ran out" if names.get(-code) == "SIGKILL" else ""
    return f"was ended by signal {-code} ({names.get(-code, 'unknown')}){hint}"


def _send(stream: IO[bytes], message: bytes) -> None:
    stream.write(len(message).to_bytes(_SIZE_BYTES, "big"))
    stream.write(message)
    stream.flush()


def _receive(stream: IO[bytes]) -> bytes:
    size = _exactly(stream, _SIZE_BYTES)
    return _exactly(stream, int.from_bytes(size, "big"))


def _exactly(stream: IO[bytes], size: int) -> bytes:
    data = stream.read(size)
    if len(data) < size:
        raise EOFError
    return data


if __name__ == "__main__":
    main()
