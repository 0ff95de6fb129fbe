"""Real servers for trying live sources: MPEG-TS over UDP, HLS, RTSP and RTMP, on this machine's loopback alone.

Each plays a film round and round at its own pace, can be stalled, killed and started again, and needs programs from
Debian: ffmpeg; gir1.2-gst-rtsp-server-1.0, python3-gi and gstreamer1.0-plugins-{good,bad} for RTSP; nginx-light and
libnginx-mod-rtmp for RTMP. `unavailable` says what is missing.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import socket
import struct
import subprocess
import sys
from abc import ABC, abstractmethod
from pathlib import Path
from types import TracebackType

from streamsoccer.clock import WallClock

__all__ = ["HlsServer", "RtmpServer", "RtspServer", "Server", "UdpServer", "free_port", "write_units"]

READY_SECONDS = 20.0
SYSTEM_PYTHON = "/usr/bin/python3"  # Debian's bindings for GStreamer are for Debian's Python
RTMP_MODULE = Path("/usr/lib/nginx/modules/ngx_rtmp_module.so")


def free_port(kind: socket.SocketKind = socket.SOCK_STREAM) -> int:
    """A port of the loopback that nobody has at the moment."""
    with socket.socket(socket.AF_INET, kind) as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    return port


class Server(ABC):
    """Processes that serve one film at `url`; `start` returns when they do."""

    def __init__(self, film: Path, folder: Path) -> None:
        """`film` is H.264 in MPEG-TS without sound; `folder` takes what the server writes."""
        self.film, self.folder = film, folder
        self.folder.mkdir(parents=True, exist_ok=True)
        self._processes: dict[str, subprocess.Popen[bytes]] = {}
        self._clock = WallClock()

    @property
    @abstractmethod
    def url(self) -> str: ...

    @staticmethod
    @abstractmethod
    def unavailable() -> str | None:
        """What has to be installed before this server can be started; None where it can."""

    @abstractmethod
    def start(self) -> None: ...

    def kill(self, *names: str) -> None:
        """End the processes, or those of the given names, as a crash would."""
        for name in names or tuple(self._processes):
            process = self._processes.pop(name)
            process.kill()
            process.wait()

    def stall(self) -> None:
        """Stop the processes where they are: connections stay open and nothing comes."""
        for process in self._processes.values():
            process.send_signal(signal.SIGSTOP)

    def go_on(self) -> None:
        for process in self._processes.values():
            process.send_signal(signal.SIGCONT)

    def __enter__(self) -> Server:
        self.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.kill()

    def _run(self, name: str, *words: str | Path, env: dict[str, str] | None = None) -> None:
        with (self.folder / f"{name}.log").open("ab") as log:
            self._processes[name] = subprocess.Popen(
                [str(word) for word in words], stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=env
            )

    def _until(self, ready: str, test: bool) -> bool:
        """Whether to go on waiting; raises where a process has ended or it takes too long."""
        for name, process in self._processes.items():
            if process.poll() is not None:
                log = (self.folder / f"{name}.log").read_text(errors="replace")[-500:]
                raise RuntimeError(f"{name} ended with {process.returncode} before {ready}: {log}")
        if not test:
            self._clock.wait(0.02)
        return not test

    def _wait_for_port(self, port: int) -> None:
        deadline = self._clock.now() + READY_SECONDS
        while self._until(f"port {port} was open", _answers(port)):
            if self._clock.now() > deadline:
                raise TimeoutError(f"nothing answered at port {port} within {READY_SECONDS:g} s")

    def _wait_for_file(self, path: Path) -> None:
        deadline = self._clock.now() + READY_SECONDS
        while self._until(f"{path.name} was there", path.exists()):
            if self._clock.now() > deadline:
                raise TimeoutError(f"{path.name} was not written within {READY_SECONDS:g} s")

    def _send(self, *output: str | Path, clock: float = 0.0, name: str = "encoder") -> None:
        """Play the film with FFmpeg at its pace; `clock` is the timestamp that it starts with."""
        self._run(
            name, "ffmpeg", "-hide_banner", "-loglevel", "error", "-re", "-stream_loop", "-1", "-i", self.film,
            "-c", "copy", "-output_ts_offset", str(clock), *output,
        )  # fmt: skip


class UdpServer(Server):
    """FFmpeg sends MPEG-TS to a port; whoever listens there has it."""

    def __init__(self, film: Path, folder: Path, *, clock: float = 0.0) -> None:
        super().__init__(film, folder)
        self.clock = clock
        self._port = free_port(socket.SOCK_DGRAM)

    @property
    def url(self) -> str:
        return f"udp://127.0.0.1:{self._port}"

    @staticmethod
    def unavailable() -> str | None:
        return _without("ffmpeg")

    def start(self) -> None:
        self._send("-f", "mpegts", f"{self.url}?pkt_size=1316", clock=self.clock)


class HlsServer(Server):
    """FFmpeg writes segments of one second and a playlist, and a web server hands them out."""

    def __init__(self, film: Path, folder: Path, *, clock: float = 0.0) -> None:
        super().__init__(film, folder)
        self.clock = clock
        self._port = free_port()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._port}/live.m3u8"

    @staticmethod
    def unavailable() -> str | None:
        return _without("ffmpeg")

    def start(self) -> None:
        web = self.folder / "web"
        if "encoder" not in self._processes:
            shutil.rmtree(web, ignore_errors=True)
            web.mkdir()
            self._send(
                "-f", "hls", "-hls_time", "1", "-hls_list_size", "6", "-hls_flags", "delete_segments+omit_endlist",
                web / "live.m3u8", clock=self.clock,
            )  # fmt: skip
        command = (sys.executable, "-m", "http.server", "--bind", "127.0.0.1", "--directory", web, str(self._port))
        self._run("web", *command)
        self._wait_for_port(self._port)
        self._wait_for_file(web / "live.m3u8")


class RtspServer(Server):
    """GStreamer's RTSP server; `sent` is a file with a line for each frame: its number and when it was sent."""

    def __init__(self, film: Path, folder: Path) -> None:
        super().__init__(film, folder)
        self._port = free_port()
        self.sent = folder / "sent.txt"
        write_units(film, folder / "film.units")

    @property
    def url(self) -> str:
        return f"rtsp://127.0.0.1:{self._port}/match"

    @staticmethod
    def unavailable() -> str | None:
        probe = "import gi; gi.require_version('GstRtspServer', '1.0'); from gi.repository import GstRtspServer"
        try:
            subprocess.run([SYSTEM_PYTHON, "-c", probe], check=True, capture_output=True, timeout=60)
        except (OSError, subprocess.SubprocessError):
            return "gir1.2-gst-rtsp-server-1.0, python3-gi and gstreamer1.0-plugins-{good,bad} are not installed"
        return None

    def start(self) -> None:
        source = Path(__file__).resolve().parents[2]
        command = (SYSTEM_PYTHON, "-m", "streamsoccer.testing.rtsp_server", str(self._port))
        env = {**os.environ, "PYTHONPATH": str(source)}
        self._run("rtsp", *command, self.folder / "film.units", self.sent, env=env)
        self._wait_for_port(self._port)


class RtmpServer(Server):
    """nginx with its RTMP module, to which FFmpeg publishes the film."""

    def __init__(self, film: Path, folder: Path) -> None:
        super().__init__(film, folder)
        self._port = free_port()

    @property
    def url(self) -> str:
        return f"rtmp://127.0.0.1:{self._port}/live/match"

    @staticmethod
    def unavailable() -> str | None:
        if not RTMP_MODULE.exists():
            return "libnginx-mod-rtmp is not installed"
        return _without("ffmpeg", "nginx")

    def start(self) -> None:
        settings = self.folder / "nginx.conf"
        settings.write_text(
            f"load_module {RTMP_MODULE};\ndaemon off; master_process off; pid {self.folder}/nginx.pid;\n"
            f"error_log {self.folder}/error.log;\nevents {{}}\n"
            f"rtmp {{ access_log off; server {{ listen 127.0.0.1:{self._port};\n"
            "  application live { live on; idle_streams off; } } }\n"
        )
        self._run("nginx", shutil.which("nginx") or "nginx", "-p", self.folder, "-c", settings)
        self._wait_for_port(self._port)
        self._send("-f", "flv", self.url)


def write_units(film: Path, path: Path) -> None:
    """A film's coded pictures, each after its length, for a server that has no demuxer."""
    import av

    with av.open(str(film)) as container, path.open("wb") as out:
        for packet in container.demux(container.streams.video[0]):
            if packet.size:
                out.write(struct.pack("<I", packet.size) + bytes(packet))


def _answers(port: int) -> bool:
    with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
        return True
    return False


def _without(*programs: str) -> str | None:
    path = os.pathsep.join([os.environ.get("PATH", ""), "/usr/sbin"])
    missing = [program for program in programs if shutil.which(program, path=path) is None]
    return f"{', '.join(missing)} not installed" if missing else None
