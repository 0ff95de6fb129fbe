"""A set of files that changes all at once or not at all."""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

from streamsoccer.errors import UsageError

__all__ = ["HashedText", "Publisher"]


class Publisher:
    """Writes a set of files in OUT so that whoever looks, at any moment, sees the old set whole or the new set whole.

    Each set lies in a folder of its own, OUT/.builds/<name>. The names in OUT are links that go through the one link
    OUT/.builds/current, and replacing that link is a single step of the file system. A build that was killed leaves
    a folder that nothing points to; the next one removes it.
    """

    def __init__(self, out: Path, names: Sequence[str], proof: str) -> None:
        """`proof` is the file that a folder must hold for its plain files of these names to be a build of ours."""
        self.out = out
        self.names = names
        self.proof = proof
        self.builds = out / ".builds"
        self.digests: dict[str, str] = {}

    @contextmanager
    def publish(self) -> Iterator[Publisher]:
        """Write the files inside with `file`; they appear together at the end, or not at all where it raises."""
        try:
            self.builds.mkdir(parents=True, exist_ok=True)
            lock = (self.builds / "lock").open("w")
        except OSError as error:
            raise UsageError(f"cannot write here: {error.strerror}", where=self.out) from error
        with lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                raise UsageError("another build is writing here", where=self.out, remedy="let it end first") from None
            self._sweep()
            self.folder = self.builds / f"new-{os.getpid()}"
            self.folder.mkdir()
            try:
                yield self
            except OSError as error:  # a full disk: the old set stays
                shutil.rmtree(self.folder, ignore_errors=True)
                raise UsageError(f"cannot write here: {error.strerror}", where=self.out) from error
            except BaseException:
                shutil.rmtree(self.folder, ignore_errors=True)
                raise
            self._switch()

    @contextmanager
    def file(self, name: str) -> Iterator[HashedText]:
        """One file of the set, open for writing; it is on the disk before the set is shown."""
        with (self.folder / name).open("w", encoding="utf-8", newline="\n") as stream:
            hashed = HashedText(stream)
            yield hashed
            stream.flush()
            os.fsync(stream.fileno())
        self.digests[name] = hashed.digest.hexdigest()

    def _switch(self) -> None:
        final = self.builds / hashlib.sha256("".join(sorted(self.digests.values())).encode()).hexdigest()[:16]
        current = self.builds / "current"
        if final.exists():  # the same content is there already; the fresh copy is the one to trust
            final = final.with_name(f"{final.name}-{os.getpid()}")
        self.folder.rename(final)
        _sync(final)
        self._adopt()
        for name in self.names:
            link = self.out / name
            if not link.is_symlink():
                link.symlink_to(Path(".builds", "current", name))
        _replace_link(current, Path(final.name))
        _sync(self.builds)
        _sync(self.out)
        self._sweep()

    def _adopt(self) -> None:
        """Make links of plain files that an unpacked copy of a build left here, without a moment of a mixed set."""
        plain = [name for name in self.names if (self.out / name).exists() and not (self.out / name).is_symlink()]
        if not plain:
            return
        if self.proof not in plain:
            raise UsageError(f"{plain[0]} is not from a build", where=self.out, remedy="choose an empty output folder")
        adopted = self.builds / f"adopted-{os.getpid()}"
        adopted.mkdir()
        for name in plain:
            shutil.copy2(self.out / name, adopted / name)
        _replace_link(self.builds / "current", Path(adopted.name))
        for name in plain:
            _replace_link(self.out / name, Path(".builds", "current", name))

    def _sweep(self) -> None:
        """Remove what no link points to."""
        current = self.builds / "current"
        kept = {"current", "lock", current.readlink().name if current.is_symlink() else ""}
        for path in self.builds.iterdir():
            if path.name not in kept:
                shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()


class HashedText:
    """A text file that knows the hash of what went into it."""

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream
        self.digest = hashlib.sha256()

    def write(self, text: str) -> None:
        self.digest.update(text.encode())
        self.stream.write(text)


def _replace_link(link: Path, target: Path) -> None:
    fresh = link.with_name(f"{link.name}.{os.getpid()}")
    fresh.unlink(missing_ok=True)
    fresh.symlink_to(target)
    fresh.replace(link)


def _sync(folder: Path) -> None:
    """Bring a folder's own entries to the disk."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
