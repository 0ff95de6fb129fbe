"""What may be opened: formats and protocols by kind of source, and the caps that keep a hostile file small."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

__all__ = ["DEFAULT_LIMITS", "Access", "Limits", "demuxer_options"]

_FILE_FORMATS = "mov,mp4,m4a,3gp,3g2,mj2,matroska,webm,mpegts,mpeg,avi,flv,live_flv,ogg,asf,mxf,ivf,nut"
_STREAM_FORMATS = "mpegts,flv,live_flv,matroska,webm,mov,mp4,m4a,3gp,3g2,mj2,nut,ivf,mpeg"


class Access(StrEnum):
    """How a source is reached; each way may open its own formats and protocols, and nothing else."""

    FILE = "file"
    PIPE = "pipe"
    HTTP = "http"
    UDP = "udp"
    RTSP = "rtsp"
    RTMP = "rtmp"


@dataclass(frozen=True, kw_only=True, slots=True)
class Limits:
    """Caps on what is decoded; beyond them a source is refused."""

    pixels: int = 7680 * 4320
    hours: float = 12.0
    memory_bytes: int = 8 * 2**30
    silence_seconds: float = 20.0  # a decoder that neither decodes nor fails for so long is stopped


DEFAULT_LIMITS = Limits()

_FORMATS = {
    Access.FILE: _FILE_FORMATS,
    Access.PIPE: _STREAM_FORMATS,
    # A playlist names further files: those may be segments in the usual containers, subtitles or keys, over HTTP alone.
    Access.HTTP: "hls,mpegts,flv,live_flv,mov,mp4,m4a,3gp,3g2,mj2,aac,mp3,ac3,eac3,webvtt",
    Access.UDP: "mpegts",
    Access.RTSP: "rtsp,rtp,sdp,mpegts",
    Access.RTMP: "flv,live_flv",
}

_PROTOCOLS = {
    Access.FILE: "file",
    Access.PIPE: "pipe",
    Access.HTTP: "http,https,tcp,tls,crypto,httpproxy",
    Access.UDP: "udp",
    Access.RTSP: "rtsp,rtsps,tcp,tls,udp,rtp,http,https",
    Access.RTMP: "rtmp,rtmps,rtmpt,tcp,tls,http,https",
}

# Live sources look a little into the stream to learn what it is, not the default five seconds. How long they may be
# silent is not set here: the parent ends a silent decoder.
_LIVE = {"analyzeduration": "2000000", "fpsprobesize": "0", "fflags": "+discardcorrupt"}
# Where what it is comes before the stream, a short look is enough.
_DESCRIBED = {**_LIVE, "analyzeduration": "500000"}

_EXTRA: dict[Access, dict[str, str]] = {
    Access.FILE: {},
    Access.PIPE: {},
    Access.HTTP: {**_LIVE, "seg_max_retry": "2"},
    Access.UDP: {**_LIVE, "fifo_size": "50000", "overrun_nonfatal": "1"},
    Access.RTSP: {**_DESCRIBED, "rtsp_flags": "prefer_tcp"},
    Access.RTMP: _DESCRIBED,
}


def demuxer_options(access: Access) -> dict[str, str]:
    """The options under which FFmpeg may open a source of this kind."""
    return {
        "format_whitelist": _FORMATS[access],
        "protocol_whitelist": _PROTOCOLS[access],
        **_EXTRA[access],
    }
