"""The decoder process: opens one source, decodes it, and sends its parent the frames that clips are made of.

It runs as `python -m streamsoccer.sources.worker`, so that whatever a file or a server does to FFmpeg (a crash, a hang,
a runaway allocation) ends this process and no other. What it is to do stands in its environment and not on its command
line, which everybody on the machine can read: a URL may hold a password.
"""

from __future__ import annotations

import contextlib
import json
import math
import os
import resource
import sys
import threading
from collections.abc import Iterable, Iterator
from fractions import Fraction
from itertools import chain
from typing import TYPE_CHECKING, Any, BinaryIO, TypeAlias, cast

import av
import numpy as np
from av.error import ArgumentError, FFmpegError, InvalidDataError
from av.error import EOFError as EndOfFile
from av.stream import Discard
from numpy.typing import NDArray

from streamsoccer.clip import FRAMES_PER_CLIP, GapReason
from streamsoccer.clock import Clock, WallClock, format_seconds
from streamsoccer.sources.messages import REQUEST_VARIABLE, write_message
from streamsoccer.sources.pixels import Converter, square_width
from streamsoccer.sources.policy import Access, Limits, demuxer_options
from streamsoccer.sources.ring import RingWriter
from streamsoccer.sources.sampler import Pick, Sampler, Stretch
from streamsoccer.sources.timeline import MAX_GAP, MPEGTS_WRAP, ONE_CLOCK_GAP, Jump, Resume, Timeline
from streamsoccer.sources.unreferenced import Unreferenced

if TYPE_CHECKING:
    from streamsoccer.sources.gate import Gate

__all__ = ["main"]

VideoPacket: TypeAlias = "av.Packet[av.VideoStream]"

# How far a reconnected server's timestamps may differ from the seconds that passed here and yet be believed, and how
# far back they may start again: a playlist by some segments, RTMP by what the server kept. RTSP counts from zero.
RESUME_TOLERANCE = {Access.HTTP: 30.0, Access.UDP: 6.0, Access.RTMP: 6.0}
RESUME_BACK = {Access.HTTP: 30.0, Access.RTMP: 6.0}
LIVE_PAUSE = 0.01  # a packet that takes longer than this to come was not there before it was asked for
MAX_WAITING = 2000
MAX_READ_ERRORS = 200  # in a row
TRUNCATED_SECONDS = 4.0
# Seeks go a little before the first clip, since they may land on the key frame after the right one; where one lands
# after the clip's start it goes back further, and then to the start of the file.
SEEK_EARLY = (2.0, 60.0, None)
# Only these hold presentation times of one clock in order. In others a jump before the first clip would go unseen by a
# seek, and clips would not be those of a full run: they are read from their start.
ONE_CLOCK = ("matroska,webm", "mov,mp4,m4a,3gp,3g2,mj2")
# Only these say how long they are; of others FFmpeg guesses it.
SAY_DURATION = (*ONE_CLOCK, "avi", "asf", "flv")


class Refused(Exception):
    """The source cannot be used; its parent turns this into an error with file and remedy."""

    def __init__(self, problem: str, remedy: str | None = None) -> None:
        super().__init__(problem)
        self.problem, self.remedy = problem, remedy


class Worker:
    """Decodes one source from start to end, once."""

    def __init__(self, request: dict[str, Any], output: BinaryIO, clock: Clock) -> None:
        self._request = request
        self._access = Access(request["access"])
        self._limits = Limits(**request["limits"])
        self._output = output
        self._ring = RingWriter(*request["ring"]) if request.get("ring") else None
        self._clock = clock
        self._gate: Gate | None = None
        self._speaking = threading.Lock()
        self._began = self._spoke = clock.now()
        self._frames = self._broken = self._reported = 0
        self._furthest = 0.0
        self._convert = Converter()
        self._skips: Unreferenced | None = None
        self._stream: av.VideoStream
        stretches = [Stretch(**stretch) for stretch in request["stretches"]]
        self._sampler: Sampler[av.VideoFrame] = Sampler(stretches, begin=float(request["begin"]))
        self._begin = self._sampler.begin or 0.0

    def run(self) -> None:
        for early in SEEK_EARLY:
            container = self._open()
            try:
                if self._play(container, early):
                    return
            finally:
                container.close()

    def _play(self, container: av.container.InputContainer, early: float | None) -> bool:
        """Decode it, from so long before the first clip where it can be sought in; False where that landed too late."""
        self._frames = self._broken = self._reported = 0
        stream = self._video_stream(container)
        declared = self._declared(container, stream)
        # A playlist's size says nothing of the film's; that of a file over HTTP says that it has an end.
        sized = self._access is Access.HTTP and container.format.name != "hls" and container.size > 0
        recorded = declared is not None or sized
        if recorded and self._request["resume"] is not None:
            _go_back_to(self._request["resume"]["stamp"], container, stream)
        zero = None if early is None else self._seek(container, stream, early)
        self._say(
            "open", codec=stream.codec_context.name, width=stream.codec_context.width,
            height=stream.codec_context.height, rate=float(stream.guessed_rate or 0), format=container.format.name,
            declared=declared, recorded=recorded, pictures=len(_moving(container)),
        )  # fmt: skip
        packets = self._packets(container, stream)
        waiting = [] if recorded or self._request["resume"] is None else self._waiting(packets)
        timeline = self._timeline(container, stream, zero, self._resume(waiting, recorded=recorded))
        if not self._decode(container, chain(waiting, packets), timeline, sought=zero is not None):
            return False
        self._finish(timeline, declared, container)
        return True

    def _open(self) -> av.container.InputContainer:
        where = self._request["where"]
        if self._access is Access.HTTP:
            from streamsoccer.sources.gate import Gate  # a tenth of the time that the process takes to start

            self._gate = Gate(where, tell=self._forbidden)
            self._gate.lead_through()
        try:
            container = av.open(where, options=demuxer_options(self._access), metadata_errors="replace")
        except (InvalidDataError, ArgumentError) as error:  # the latter for a format that may not be opened
            problem = "not a video in a format that is read here, or damaged at its start"
            raise Refused(problem, "check that it plays, or convert it: ffmpeg -i IN -c copy OUT.mkv") from error
        except FFmpegError as error:
            raise Refused(f"cannot be opened ({self._why(error)})") from error
        if not isinstance(container, av.container.InputContainer):
            raise Refused("cannot be read")
        return container

    def _video_stream(self, container: av.container.InputContainer) -> av.VideoStream:
        """The first that can be decoded; a cover picture is no video."""
        pictures = _moving(container)
        if not pictures:
            found = ", ".join(sorted({s.type for s in container.streams})) or "none"
            raise Refused(f"has no video stream (streams: {found})", "pass a file or stream with pictures in it")
        stream = next((s for s in pictures if s.codec_context is not None and s.codec_context.is_decoder), None)
        if stream is None:
            raise Refused("has video in a codec that cannot be decoded here", "see `streamsoccer doctor`")
        for other in container.streams:
            if self._access is not Access.FILE and other.index != stream.index:
                other.discard = Discard.all  # a playlist's other variants are not even fetched
        context = stream.codec_context
        self._check_size(context.width, context.height)
        self._stream, self._size = stream, (context.width, context.height)
        context.thread_type = "AUTO" if self._access in (Access.FILE, Access.PIPE) else "SLICE"
        if self._request["fast"]:
            context.skip_frame = "NONREF"
            self._skips = Unreferenced(context.extradata) if context.name == "h264" else None
        return stream

    def _timeline(
        self,
        container: av.container.InputContainer,
        stream: av.VideoStream,
        zero: float | None,
        resume: Resume | None,
    ) -> Timeline:
        """Media time of a file is 0 where its video starts, which may be after its sound does."""
        if zero is None and self._access is Access.FILE and container.format.name != "avi":
            zero = _seconds(stream.start_time, stream.time_base)
        rate = float(stream.average_rate or stream.guessed_rate or 25)
        return Timeline(
            zero=zero,
            wrap=MPEGTS_WRAP if container.format.name in ("mpegts", "mpeg", "hls", "rtsp") else None,
            frame_seconds=1 / rate if 1 <= rate <= 1000 else 0.04,
            max_gap=ONE_CLOCK_GAP if container.format.name in ONE_CLOCK else MAX_GAP,
            resume=resume,
        )

    def _waiting(self, packets: Iterator[VideoPacket]) -> list[VideoPacket]:
        """What had come in while the stream was looked into: up to the first packet that has to be waited for."""
        waiting: list[VideoPacket] = []
        while len(waiting) < MAX_WAITING:
            asked = self._clock.now()
            if (packet := next(packets, None)) is None:
                break
            waiting.append(packet)
            if self._clock.now() - asked > LIVE_PAUSE:
                break
        return waiting

    def _resume(self, waiting: list[VideoPacket], *, recorded: bool) -> Resume | None:
        """What to go on from, and the timestamp that is now."""
        if (last := self._request["resume"]) is None:
            return None
        stamps = [stamp for packet in waiting if (stamp := _seconds(packet.dts, packet.time_base)) is not None]
        elapsed = last["elapsed"] + self._clock.now() - self._request["asked"]
        return Resume(
            stamp=last["stamp"], time=last["time"], first=last["first"], elapsed=elapsed,
            newest=stamps[-1] if stamps else None,
            tolerance=math.inf if recorded else RESUME_TOLERANCE.get(self._access, -1.0),
            back=RESUME_BACK.get(self._access, 0.0),
        )  # fmt: skip

    def _seek(self, container: av.container.InputContainer, stream: av.VideoStream, early: float) -> float | None:
        """Go to so long before the first clip, and give the timestamp of media time 0; None: it stays at the start."""
        seconds = self._begin - early
        if seconds < 8 or container.format.name not in ONE_CLOCK or stream.time_base is None:
            return None
        try:
            # A container may claim a start after its first frame: a full run goes by the frame, and so does this one.
            packets = container.demux(stream)
            first = next((frame.pts for packet in packets for frame in packet.decode() if frame.pts is not None), None)
            if first is None or stream.start_time is None:
                return None
            zero = min(first, stream.start_time)
            container.seek(zero + int(seconds / stream.time_base), stream=stream, backward=True)
        except FFmpegError:
            return None
        return _seconds(zero, stream.time_base)

    def _declared(self, container: av.container.InputContainer, stream: av.VideoStream) -> float | None:
        if container.duration is None or container.duration <= 0:
            return None
        seconds = container.duration / av.time_base
        if self._access is Access.RTMP:
            return None  # what a publisher says when it starts, and often wrong
        if self._access is not Access.FILE:
            return float(seconds)
        if container.format.name not in SAY_DURATION:
            return None
        if container.format.name == "avi" and stream.average_rate:  # its duration here is made to fit the file's size
            seconds = max(seconds, float(stream.frames / stream.average_rate))
        if seconds > self._limits.hours * 3600:
            raise Refused(
                f"claims to be {seconds / 3600:.1f} hours long; the limit is {self._limits.hours:g}",
                "cut it, or raise the limit if it really is so long",
            )
        return float(seconds)

    def _decode(
        self,
        container: av.container.InputContainer,
        packets: Iterable[VideoPacket],
        timeline: Timeline,
        *,
        sought: bool,
    ) -> bool:
        # AVI has no presentation times. Its frames come out in order, at the pace of the packets that they come from.
        in_order = container.format.name == "avi"
        tick = _tick(self._stream.time_base)
        for packet in packets:
            if self._skips is not None and not in_order and packet.size and self._skips(memoryview(packet)):
                continue
            try:
                frames = packet.decode()
            except EndOfFile:
                frames = []
            except MemoryError:
                raise
            except FFmpegError:
                self._broken += 1
                continue
            for frame in frames:
                self._frames += 1
                stamp, length = frame.dts if in_order else frame.pts, frame.duration
                placed = timeline.place(
                    None if stamp is None or tick is None else stamp * tick[0] / tick[1],
                    None if length is None or tick is None else length * tick[0] / tick[1],
                )
                if placed is None:
                    continue
                if sought and placed.time > self._begin:
                    return False
                sought = False
                if placed.jump is not None and (placed.time > self._begin or self._access is not Access.FILE):
                    self._interrupt(placed.jump)
                if placed.time > self._limits.hours * 3600 and self._access is Access.FILE:
                    raise Refused(f"goes on for more than {self._limits.hours:g} hours", "cut it, or raise the limit")
                for pick in self._sampler.show(placed.time, frame):
                    self._send(pick, timeline)
                if self._sampler.begin is None:
                    return True
            self._keep_alive(timeline)
        return not sought

    def _packets(self, container: av.container.InputContainer, stream: av.VideoStream) -> Iterator[VideoPacket]:
        """The video's packets; others are read too: only the furthest packet of all tells a file that was cut off."""
        heard = list(container.streams) if self._access is Access.FILE else [stream]
        errors = 0
        ticks = {each.index: _tick(each.time_base) for each in heard}
        packets = container.demux(heard)
        while True:
            try:
                packet = next(packets)
            except (StopIteration, EndOfFile):
                return
            except FFmpegError as error:
                errors += 1
                self._broken += 1
                if self._access is not Access.FILE or errors > MAX_READ_ERRORS:
                    problem = f"stopped being readable ({self._why(error)})"
                    raise Refused(problem, "copy or download it again") from error
                packets = container.demux(heard)
                continue
            errors = 0
            index = packet.stream_index
            if packet.pts is not None and (tick := ticks.get(index)) is not None:
                self._furthest = max(self._furthest, (packet.pts + (packet.duration or 0)) * tick[0] / tick[1])
            if index == stream.index:
                yield cast(VideoPacket, packet)

    def _interrupt(self, jump: Jump) -> None:
        # Where only the clock went wrong, the new stretch starts as the old one ends, and no instant is left out.
        if jump.reason in (GapReason.LOST, GapReason.RECONNECTED):
            for pick in self._sampler.interrupt(jump.start, jump.end):
                self._send(pick, None)
        self._say("jump", reason=jump.reason.value, start=jump.start, end=jump.end, detail=jump.detail)

    def _finish(self, timeline: Timeline, declared: float | None, container: av.container.InputContainer) -> None:
        if self._frames == 0 and self._request["resume"] is None:
            raise Refused("has a video stream but not one frame that can be decoded", "check that it plays to its end")
        first = (container.start_time or 0) / av.time_base
        reached = self._furthest - first
        if self._access is Access.FILE:
            reached = max(timeline.end, reached)
        measured = declared is not None and self._access in (Access.FILE, Access.HTTP)
        cut_off = measured and (declared or 0.0) - reached > TRUNCATED_SECONDS
        if not cut_off and 0 < timeline.end <= self._begin:
            ends, asked = format_seconds(timeline.end), format_seconds(self._begin)
            raise Refused(f"ends at {ends}; there is nothing at {asked}", "start earlier")
        for pick in self._sampler.finish(timeline.end):
            self._send(pick, timeline)
        over = self._sampler.begin is None  # all that was asked for was found
        self._say(
            "end", end=timeline.end, broken=self._broken, estimated=timeline.estimated, late=timeline.late,
            resized=self._convert.resized, frames=self._frames, missing=declared if cut_off and not over else None,
        )  # fmt: skip

    def _send(self, pick: Pick[av.VideoFrame], timeline: Timeline | None) -> None:
        header: dict[str, Any] = {"half": pick.half, "number": pick.number, "time": pick.time}
        if timeline is not None and timeline.last is not None:
            header |= {"last": timeline.last, "reached": timeline.end}
        frame = pick.item
        clip = (pick.half, pick.number // FRAMES_PER_CLIP)
        # A container says what shape its pixels have; of pictures of another size than it says, they say it themselves.
        same = (frame.width, frame.height) == self._size
        aspect = self._stream.sample_aspect_ratio if same else self._stream.codec_context.sample_aspect_ratio
        self._check_size(square_width(frame.width, aspect), frame.height)
        try:
            pixels = self._convert(frame, aspect=aspect, clip=clip)
        except MemoryError:
            raise
        except FFmpegError as error:
            problem = f"has pictures that cannot be turned into RGB here ({error.strerror or type(error).__name__})"
            raise Refused(problem, "convert it: ffmpeg -i IN -pix_fmt yuv420p OUT.mkv") from error
        self._say("frame", pixels, **header)

    def _check_size(self, width: int, height: int) -> None:
        if width * height > self._limits.pixels:
            limit = f"{self._limits.pixels / 1e6:.3g} megapixels"
            raise Refused(f"is {width}x{height}, above the limit of {limit}", "scale it down first")

    def _keep_alive(self, timeline: Timeline) -> None:
        if self._frames > self._reported and self._clock.now() - self._spoke > 1.0:
            self._say("alive", frames=self._frames, last=timeline.last, reached=timeline.end)

    def _why(self, error: FFmpegError) -> str:
        reason = self._gate.problem if self._gate is not None else None
        return reason or error.strerror or type(error).__name__

    def _forbidden(self, problem: str) -> None:
        """Said from a thread of the gate; it is no sign of life of the decoder."""
        with self._speaking:
            write_message(self._output, {"kind": "forbidden", "problem": problem})

    def _say(self, kind: str, pixels: NDArray[np.uint8] | None = None, **header: Any) -> None:
        self._spoke, self._reported = self._clock.now(), self._frames
        with self._speaking:
            write_message(self._output, {"kind": kind, **header}, pixels, self._ring)


def _go_back_to(stamp: float, container: av.container.InputContainer, stream: av.VideoStream) -> None:
    """Where a recording broke off, go on a little before that; from its start if it cannot be sought in."""
    if stream.time_base is not None:
        with contextlib.suppress(FFmpegError):
            container.seek(int(max(0.0, stamp - 2.0) / stream.time_base), stream=stream, backward=True)


def _moving(container: av.container.InputContainer) -> list[av.VideoStream]:
    return [s for s in container.streams.video if not s.disposition & av.stream.Disposition.attached_pic]


def _tick(base: Fraction | None) -> tuple[int, int] | None:
    """A stream's time base as whole numbers; asking PyAV with every frame would cost a twentieth of all."""
    return None if base is None else (base.numerator, base.denominator)


def _seconds(ticks: int | None, base: Fraction | None) -> float | None:
    return None if ticks is None or base is None else ticks * base.numerator / base.denominator


def _confine(limits: Limits) -> None:
    """Leave no core file, and take no more memory than allowed."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    if sys.platform == "linux" and (soft == resource.RLIM_INFINITY or soft > limits.memory_bytes):
        resource.setrlimit(resource.RLIMIT_AS, (limits.memory_bytes, hard))


def _die_with(parent: int, clock: Clock) -> None:
    """End when the parent process has ended; the system's own signal comes as soon as the parent's thread has."""
    while os.getppid() == parent:
        clock.wait(1.0)
    os._exit(1)


def main() -> int:
    # Messages go out on a descriptor of their own: nothing that a library prints can get between them.
    output = os.fdopen(os.dup(1), "wb", buffering=0)
    os.dup2(2, 1)
    request = json.loads(os.environ.pop(REQUEST_VARIABLE))
    clock = WallClock()
    _confine(Limits(**request["limits"]))
    threading.Thread(target=_die_with, args=(request["parent"], clock), daemon=True).start()
    try:
        Worker(request, output, clock).run()
    except Refused as error:
        write_message(output, {"kind": "refused", "problem": error.problem, "remedy": error.remedy})
    except MemoryError:
        problem = "needs more memory to decode than is allowed"
        write_message(output, {"kind": "refused", "problem": problem, "remedy": "check that it plays, or convert it"})
    except BrokenPipeError:
        return 0  # the parent has had enough
    return 0


if __name__ == "__main__":
    sys.exit(main())
