"""Many runs of the command in little time: a process that has imported everything, and forks one for each.

What is forked is a process of its own that does all that `streamsoccer ...` does after its imports: it opens source,
journal and lock, starts its decoder, writes its files, and dies by itself when it is killed.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType


class Warm:
    """Runs of the command, one at a time."""

    def __init__(self) -> None:
        self._parent = subprocess.Popen(
            [sys.executable, __file__],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "OMP_NUM_THREADS": "1"},
        )
        assert self._read() == "ready"

    def start(self, arguments: Sequence[str], errors: Path) -> int:
        """Start one, with its standard error in a file, and give its process ID."""
        assert self._parent.stdin is not None
        self._parent.stdin.write(json.dumps({"arguments": list(arguments), "errors": str(errors)}) + "\n")
        self._parent.stdin.flush()
        return int(self._read())

    def wait(self) -> int:
        """Wait until it has ended; its exit code, or the negative signal that ended it."""
        return int(self._read())

    def _read(self) -> str:
        assert self._parent.stdout is not None
        line = self._parent.stdout.readline()
        if not line:
            raise RuntimeError("the process that makes the others has ended")
        return line.strip()

    def __enter__(self) -> Warm:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._parent.kill()
        self._parent.communicate()


def _serve() -> None:
    import streamsoccer.commands
    from streamsoccer import checkpoint, cli, feed, live, mind, sheet, sources, stream
    from streamsoccer.outputs import formats, terminal

    assert streamsoccer.commands and (checkpoint, feed, live, mind, sheet, sources, stream, formats, terminal)
    _told("ready")
    for line in sys.stdin:
        asked = json.loads(line)
        child = os.fork()
        if not child:
            _become(asked["errors"])
            code = 1
            try:
                cli.main(asked["arguments"])
                code = 0
            except SystemExit as ended:
                code = ended.code if isinstance(ended.code, int) else 1
            finally:  # nothing of the parent's may run on in it
                if sys.exc_info()[1] is not None:
                    traceback.print_exc()
                sys.stderr.flush()
                os._exit(code)
        _told(child)
        _told(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))


def _become(errors: str) -> None:
    """Streams of its own: nothing in, nothing out, and standard error in its file."""
    nothing = os.open(os.devnull, os.O_RDWR)
    told = os.open(errors, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    for stream, to in ((0, nothing), (1, nothing), (2, told)):
        os.dup2(to, stream)


def _told(what: object) -> None:
    sys.stdout.write(f"{what}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    _serve()
