"""An RTSP server over GStreamer, run by Debian's Python: `rtsp_server PORT FILM.units SENT.txt`.

It plays the film round and round from when it starts, whether anybody watches or not, and notes when it sent what.
"""

from __future__ import annotations

import struct
import sys
from pathlib import Path
from typing import Any

import gi  # type: ignore[import-not-found]

from streamsoccer.clock import WallClock

gi.require_version("Gst", "1.0")
gi.require_version("GstRtspServer", "1.0")
from gi.repository import GLib, Gst, GstRtspServer  # type: ignore[import-not-found]  # noqa: E402

RATE = 25
GROUP = 25  # pictures from one key frame to the next
LAUNCH = (
    "( appsrc name=film is-live=true format=time caps=video/x-h264,stream-format=byte-stream,alignment=au,"
    "framerate=25/1 ! h264parse config-interval=-1 ! rtph264pay name=pay0 pt=96 )"
)


class Player:
    """Feeds one session's pipeline: each picture when it is due."""

    def __init__(self, units: list[bytes], sent: Path) -> None:
        self._units = units
        self._log = sent.open("a", encoding="utf-8", buffering=1)
        self._clock = WallClock()
        self._began = self._clock.now()

    def play(self, _factory: Any, media: Any) -> None:
        source = media.get_element().get_by_name("film")
        number = int((self._clock.now() - self._began) * RATE) // GROUP * GROUP + GROUP
        GLib.timeout_add(5, self._push, source, [number, number])

    def _push(self, source: Any, state: list[int]) -> bool:
        first, number = state
        while self._clock.now() - self._began >= number / RATE:
            buffer = Gst.Buffer.new_wrapped(self._units[number % len(self._units)])
            buffer.pts = buffer.dts = (number - first) * Gst.SECOND // RATE
            buffer.duration = Gst.SECOND // RATE
            self._log.write(f"{number % len(self._units)} {self._clock.now():.6f}\n")
            if source.emit("push-buffer", buffer) != Gst.FlowReturn.OK:
                return False
            number += 1
            state[1] = number
        return True


def read_units(path: Path) -> list[bytes]:
    data, units, place = path.read_bytes(), list[bytes](), 0
    while place < len(data):
        (size,) = struct.unpack_from("<I", data, place)
        place += 4 + size
        units.append(data[place - size : place])
    return units


def main(port: str, film: str, sent: str) -> None:
    Gst.init(None)
    server = GstRtspServer.RTSPServer()
    server.set_address("127.0.0.1")
    server.set_service(port)
    factory = GstRtspServer.RTSPMediaFactory()
    factory.set_launch(LAUNCH)
    factory.set_shared(True)
    factory.connect("media-configure", Player(read_units(Path(film)), Path(sent)).play)
    server.get_mount_points().add_factory("/match", factory)
    server.attach(None)
    GLib.MainLoop().run()


if __name__ == "__main__":
    main(*sys.argv[1:])
