"""The parent's end of a decoder process: its messages, and a watchdog that ends it when nothing comes any more."""

from __future__ import annotations

import dataclasses
import json
import math
import os
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import IO, Any, BinaryIO, cast

import numpy as np
from numpy.typing import NDArray

from streamsoccer.clock import Clock, WallClock
from streamsoccer.sources.messages import REQUEST_VARIABLE, read_exactly, read_header
from streamsoccer.sources.policy import DEFAULT_LIMITS, Access, Limits
from streamsoccer.sources.ring import Ring
from streamsoccer.sources.sampler import Stretch

__all__ = ["Decoder", "Request"]

_PIPE_BYTES = 1 << 20
_F_SETPIPE_SZ = 1031


@dataclass(frozen=True, kw_only=True, slots=True)
class Request:
    """What one decoder process is to decode."""

    where: str
    access: Access
    stretches: Sequence[Stretch]
    begin: float = 0.0
    fast: bool = False
    limits: Limits = DEFAULT_LIMITS
    resume: dict[str, float] | None = None

    def to_json(self, ring: Ring | None = None) -> str:
        shared = None if ring is None else (ring.memory, ring.given_back)
        # The machine's clock is the same in both processes: the time that it takes to start one counts as time.
        told = {"parent": os.getpid(), "ring": shared, "asked": WallClock().now()}
        return json.dumps({**dataclasses.asdict(self), **told})


class Decoder:
    """One decoder process. Iterating gives (header, pixels) until it ends; then `failure` says if it ended badly.

    Pixels are to be copied before the next message is asked for: their memory is the decoder's again then.
    """

    def __init__(self, request: Request, *, clock: Clock, silence: float | None, opening: float | None = None) -> None:
        """`silence` is how many seconds may pass without a message (None: any number), `opening` until it is open."""
        self._clock = clock
        self._silence = silence if opening is None else opening
        self._silence_once_open = silence
        self._errors: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 - closed in close()
        self._ring = Ring() if Ring.possible() else None
        try:
            self._process = self._start(request)
        except OSError:
            self._let_go()
            raise
        self._messages = cast(BinaryIO, self._process.stdout)
        _widen(self._messages)
        self._heard = clock.now()
        self._over = threading.Event()
        self.stalled = False
        if silence is not None:
            threading.Thread(target=self._watch, name="decoder watchdog", daemon=True).start()

    def _start(self, request: Request) -> subprocess.Popen[bytes]:
        shared = () if self._ring is None else (self._ring.memory, self._ring.given_back)
        return subprocess.Popen(
            [sys.executable, "-m", "streamsoccer.sources.worker"],
            env={**os.environ, REQUEST_VARIABLE: request.to_json(self._ring)},
            pass_fds=shared,
            stdin=None if request.access is Access.PIPE else subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            start_new_session=True,  # an interrupt from the keyboard is the parent's to handle
        )

    def __iter__(self) -> Iterator[tuple[dict[str, Any], NDArray[np.uint8] | None]]:
        while (header := read_header(self._messages)) is not None:
            pixels, offset = None, header.get("offset")
            if self._ring is not None and offset is not None:
                pixels = self._ring.reader.at(offset, header["shape"])
            elif header.get("shape") is not None:
                pixels = np.empty(header["shape"], dtype=np.uint8)
                if not read_exactly(self._messages, pixels):
                    return
            if header["kind"] == "open":
                self._silence = self._silence_once_open
            self._heard = math.inf  # time that the consumer takes is not silence of the decoder
            yield header, pixels
            if self._ring is not None and offset is not None:
                self._ring.reader.release()
            self._heard = self._clock.now()

    @property
    def failure(self) -> str | None:
        """How the process ended, if it did not end by itself."""
        code = self._process.wait()
        if self.stalled:
            return f"gave nothing for {self._silence:g} s"
        if code < 0:
            return f"crashed the decoder ({signal.Signals(-code).name})"
        return None if code == 0 else f"crashed the decoder ({self._last_words()})"

    @property
    def pid(self) -> int:
        return self._process.pid

    def stop(self) -> None:
        """End the process, from whatever thread: the iteration ends too."""
        self._over.set()
        self._process.kill()

    def close(self) -> None:
        self.stop()
        self._process.wait()
        self._messages.close()
        self._let_go()

    def _let_go(self) -> None:
        self._errors.close()
        if self._ring is not None:
            self._ring.close()

    def __enter__(self) -> Decoder:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def _last_words(self) -> str:
        self._errors.seek(0, os.SEEK_END)
        self._errors.seek(max(0, self._errors.tell() - 2000))
        lines = self._errors.read().decode(errors="replace").strip().splitlines()
        return lines[-1] if lines else f"exit code {self._process.returncode}"

    def _watch(self) -> None:
        while not self._clock.wait(0.25, until=self._over):
            if self._process.poll() is not None:
                return
            if self._silence is not None and self._clock.now() - self._heard > self._silence:
                self.stalled = True
                self._process.kill()
                return


def _widen(pipe: BinaryIO) -> None:
    """Let the decoder run a few frames ahead; where the system forbids it, the default size does."""
    if sys.platform == "linux":
        import fcntl

        try:
            fcntl.fcntl(pipe.fileno(), _F_SETPIPE_SZ, _PIPE_BYTES)
        except OSError:
            return
