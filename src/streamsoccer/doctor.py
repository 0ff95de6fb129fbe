"""What works on this machine, what is missing, and the command that mends it."""

from __future__ import annotations

import os
import platform
import shutil
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from enum import StrEnum
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from streamsoccer import __version__
from streamsoccer.bundled import bundled_model
from streamsoccer.errors import StreamSoccerError, UsageError

__all__ = ["Finding", "Status", "examine", "to_rows"]

FREE_BYTES = 5 * 10**9
CODECS = ("h264", "hevc", "av1", "vp9", "mpeg2video")
PROTOCOLS = ("file", "pipe", "http", "https", "udp", "rtsp", "rtmp")
PACKAGES = {
    "numpy": "video and everything else",
    "av": "reading video",
    "pillow": "pictures",
    "torch": "running and training the model",
    "transformers": "running and training the model",
    "peft": "training the language model's adapters",
    "accelerate": "training on several GPUs",
    "safetensors": "model files",
    "opencv-python-headless": "drawing the simulated league",
    "starlette": "the live page",
    "uvicorn": "the live page",
    "pycocoevalcap": "the field's caption scores",
    "bert-score": "BERTScore",
}
EXTRAS = {
    "model": ("torch", "transformers", "peft", "accelerate", "safetensors"),
    "league": ("opencv-python-headless",),
    "serve": ("starlette", "uvicorn"),
    "score": ("pycocoevalcap", "bert-score"),
}


class Status(StrEnum):
    OK = "ok"
    MISSING = "missing"  # something optional cannot be done
    BROKEN = "broken"  # something that every command needs does not work


@dataclass(frozen=True, kw_only=True, slots=True)
class Finding:
    """One thing looked at; `mend` is a command or a short sentence."""

    subject: str
    status: Status
    found: str
    mend: str = ""


def examine(folder: Path, *, try_video: Callable[[], str]) -> list[Finding]:
    """Look at everything; outputs would go to `folder`, `try_video` cuts a test film into clips and says so."""
    looks: dict[str, Callable[[], Iterator[Finding]]] = {
        "packages": _packages,
        "video": lambda: _video(try_video),
        "model": _model,
        "compute": _compute,
        "java": _java,
        "disk": lambda: _disk(folder),
    }
    return [_python(), *(finding for subject, look in looks.items() for finding in _carefully(subject, look))]


def to_rows(findings: list[Finding]) -> list[dict[str, str]]:
    return [{**asdict(finding), "status": finding.status.value} for finding in findings]


def _carefully(subject: str, look: Callable[[], Iterator[Finding]]) -> Iterator[Finding]:
    """A look that fails is a finding too: a doctor must not fall ill of the patient."""
    try:
        yield from look()
    except (ImportError, OSError, RuntimeError, StreamSoccerError) as error:
        mend = "reinstall: make clean, then make demo"
        yield Finding(subject=subject, status=Status.BROKEN, found=f"{type(error).__name__}: {error}", mend=mend)


def _python() -> Finding:
    machine = f"{platform.system()} {platform.machine()}"
    found = f"streamsoccer {__version__} on Python {platform.python_version()}, {machine}"
    return Finding(subject="python", status=Status.OK, found=found)


def _packages() -> Iterator[Finding]:
    for name, use in PACKAGES.items():
        extra = next((extra for extra, names in EXTRAS.items() if name in names), None)
        try:
            yield Finding(subject=name, status=Status.OK, found=f"{version(name)}, for {use}")
        except PackageNotFoundError:
            wanted = f"streamsoccer[{extra}]" if extra else "streamsoccer"
            status = Status.MISSING if extra else Status.BROKEN
            yield Finding(
                subject=name, status=status, found=f"not installed, for {use}", mend=f"pip install '{wanted}'"
            )


def _video(try_video: Callable[[], str]) -> Iterator[Finding]:
    import av

    library = ".".join(str(part) for part in av.library_versions["libavcodec"])
    lacking = [name for name in CODECS if name not in av.codecs_available]
    yield Finding(
        subject="video codecs",
        status=Status.MISSING if lacking else Status.OK,
        found=f"libavcodec {library} decodes {', '.join(name for name in CODECS if name not in lacking)}",
        mend=f"no {', '.join(lacking)}: pip install --force-reinstall av" if lacking else "",
    )
    yield Finding(subject="clips", status=Status.OK, found=try_video())
    yield Finding(
        subject="sources",
        status=Status.OK,
        found=f"{', '.join(PROTOCOLS)}; srt through a pipe",
        mend="" if shutil.which("srt-live-transmit") else "for SRT: apt-get install srt-tools",
    )


def _model() -> Iterator[Finding]:
    try:
        found = bundled_model()
    except UsageError as error:
        mend = error.remedy or ""
        yield Finding(subject="bundled model", status=Status.MISSING, found="not here", mend=mend)
    else:
        size = sum(each.stat().st_size for each in found.rglob("*") if each.is_file())
        yield Finding(subject="bundled model", status=Status.OK, found=f"{found.name}, {size / 1e6:.0f} MB")


def _compute() -> Iterator[Finding]:
    cores = os.cpu_count() or 1
    yield Finding(subject="processor", status=Status.OK, found=f"{cores} cores, {_memory()}")
    try:
        import torch
    except ModuleNotFoundError:
        return  # said among the packages
    if torch.cuda.is_available():
        for place in range(torch.cuda.device_count()):
            card = torch.cuda.get_device_properties(place)
            found = f"{card.name}, {card.total_memory / 2**30:.0f} GiB"
            yield Finding(subject=f"cuda:{place}", status=Status.OK, found=found)
    elif torch.backends.mps.is_available():
        yield Finding(subject="mps", status=Status.OK, found="Apple GPU")
    else:
        build = (
            "a build without CUDA" if torch.version.cuda is None else f"a CUDA {torch.version.cuda} build, no device"
        )
        mend = "none needed for the small model; the 8B one wants a GPU and a CUDA build of torch (see README)"
        yield Finding(subject="gpu", status=Status.MISSING, found=f"none (torch is built {build})", mend=mend)


def _java() -> Iterator[Finding]:
    path = shutil.which("java")
    yield Finding(
        subject="java",
        status=Status.OK if path else Status.MISSING,
        found="for METEOR and the PTB tokeniser" if path else "not found; METEOR and the PTB tokeniser need it",
        mend="" if path else "apt-get install default-jre-headless",
    )


def _disk(folder: Path) -> Iterator[Finding]:
    free = shutil.disk_usage(folder).free
    enough = free >= FREE_BYTES
    yield Finding(
        subject="disk",
        status=Status.OK if enough else Status.MISSING,
        found=f"{free / 1e9:.1f} GB free in {folder.resolve().name or folder}",
        mend="" if enough else "a season's token cache needs more: free some space or use another folder",
    )
    if not os.access(folder, os.W_OK):
        yield Finding(subject="folder", status=Status.BROKEN, found="cannot be written to", mend=f"chmod u+w {folder}")


def _memory() -> str:
    try:
        return f"{os.sysconf('SC_PAGE_SIZE') * os.sysconf('SC_PHYS_PAGES') / 2**30:.0f} GiB memory"
    except (ValueError, OSError):
        return "memory not known"
