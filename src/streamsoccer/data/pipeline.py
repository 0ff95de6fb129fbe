"""The build: every match under a root becomes rows, only changed matches anew, and the manifests change all at once."""

from __future__ import annotations

import hashlib
import json
import os
import zlib
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from streamsoccer import __version__
from streamsoccer.data import soccernet, unisoccer
from streamsoccer.data.assist import Assistant
from streamsoccer.data.captions import SourceCaption
from streamsoccer.data.card import data_card
from streamsoccer.data.manifests import CARD, MANIFESTS, SUMMARY, decode, encode
from streamsoccer.data.match import build_match
from streamsoccer.data.problems import Notices, Problem
from streamsoccer.data.publish import Publisher
from streamsoccer.data.soccernet import Durations, GameFiles
from streamsoccer.data.splits import legacy_splits, read_split_file, splits_of
from streamsoccer.domain import CLIP_SECONDS, SCHEMA_VERSION, SampleRow, Split
from streamsoccer.errors import DataError

__all__ = ["BuildReport", "build", "median_seconds"]

_CACHE = ".cache"


@dataclass(frozen=True, kw_only=True, slots=True)
class BuildReport:
    """What a build did: `summary` is what build.json holds, which does not depend on what was cached."""

    summary: Mapping[str, Any]
    rebuilt: int
    reused: int
    problems: Sequence[Problem]
    assisted: Mapping[str, int]

    @property
    def ok(self) -> bool:
        return not self.problems


@dataclass(slots=True)
class _Built:
    """One match's part of each manifest, as text, with its counts and notices."""

    sections: dict[str, str]
    counts: Counter[str]
    notices: Notices = field(default_factory=Notices)


def build(
    root: Path,
    out: Path,
    *,
    durations_file: Path | None = None,
    split_file: Path | None = None,
    caption_lists: Sequence[Path] = (),
    assistant: Assistant | None = None,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> BuildReport:
    """Build all matches; one that cannot be read becomes a problem of the report and the others are still built."""
    games, problems = soccernet.discover(root)
    durations = _durations(durations_file, root)
    listed = unisoccer.read_lists(caption_lists)
    games, doubles = _without_doubles(games)
    problems = [*problems, *doubles, *_strangers(listed, games, caption_lists)]
    captioned = {each.match for each in games if each.captions is not None or each.match in listed}
    everyone = {each.match for each in games}
    splits = read_split_file(split_file, everyone) if split_file else splits_of(captioned, everyone - captioned)
    legacy = legacy_splits(games, listed)
    cache = _Cache(out / _CACHE)
    counts: Counter[str] = Counter()
    notices = Notices()
    matches: dict[str, dict[str, Any]] = {}
    publisher = Publisher(out, [*(f"{name}.jsonl" for name in MANIFESTS), SUMMARY, CARD], proof=SUMMARY)
    with publisher.publish():
        with ExitStack() as stack:
            files = {name: stack.enter_context(publisher.file(f"{name}.jsonl")) for name in MANIFESTS}
            for done, game in enumerate(games):
                progress(done, len(games))
                extra = listed.get(game.match, ())
                try:
                    source = soccernet.fingerprint(game, durations)
                    made = cache.get(game, source, splits[game.match], legacy[game.match], extra, durations)
                except DataError as error:
                    problems.append(Problem.of(game.match, error))
                    continue
                sections = made.sections
                if assistant is not None:
                    sections = {**sections, "samples": _rephrased(sections["samples"], assistant)}
                for name, text in sections.items():
                    files[name].write(text)
                counts.update(made.counts)
                notices.add(made.notices)
                matches[game.match] = {"split": splits[game.match].value, "source": source}
            progress(len(games), len(games))
        if not matches:
            first = f", first {problems[0]}" if problems else ""
            raise DataError(f"none of {len(games)} matches could be built{first}", where=root)
        cache.keep_only(set(matches))
        summary: dict[str, Any] = {
            "schema_version": SCHEMA_VERSION,
            "version": __version__,
            "counts": _totals(counts, matches),
            "problems": [{"match": each.match, "where": each.where, "problem": each.problem} for each in problems],
            "notices": {kind: {"count": n, "first": notices.first[kind]} for kind, n in sorted(notices.counts.items())},
            "manifests": {name: {"sha256": digest} for name, digest in sorted(publisher.digests.items())},
            "matches": matches,
        }
        if assistant is not None:
            # The hash of all that was settled before the model was asked: pools, event IDs, actions, cutoffs, splits.
            summary["assist"] = {"model": assistant.model, "frozen": assistant.frozen.hexdigest(), **assistant.counts}
        with publisher.file(SUMMARY) as file:
            file.write(json.dumps(summary, ensure_ascii=False, indent=1) + "\n")
        with publisher.file(CARD) as file:
            file.write(data_card(summary))
    return BuildReport(
        summary=summary,
        rebuilt=cache.rebuilt,
        reused=cache.reused,
        problems=problems,
        assisted={} if assistant is None else dict(assistant.counts),
    )


def _durations(path: Path | None, root: Path) -> Durations | None:
    """The named file, or one called durations.json that lies at the root beside the leagues."""
    if path is None and (root / "durations.json").is_file():
        path = root / "durations.json"
    return None if path is None else soccernet.read_durations(path)


def _without_doubles(games: Sequence[GameFiles]) -> tuple[list[GameFiles], list[Problem]]:
    """Leave out a folder whose labels name a game of the same league that another folder holds already."""
    kept: list[GameFiles] = []
    problems: list[Problem] = []
    seen: dict[str, GameFiles] = {}
    # The folder that is called what its labels say comes first, so that a copy is never taken for the original.
    named = {game.match: soccernet.url_local(game.labels) for game in games}
    for game in sorted(games, key=lambda each: (named[each.match] != each.match, each.match)):
        url = named[game.match]
        same_league = url.split("/")[0] == game.match.split("/")[0]
        first = seen.setdefault(url, game) if url and same_league else game
        if first is game:
            kept.append(game)
            continue
        problems.append(
            Problem(
                match=game.match,
                where=str(game.labels),
                problem=f"duplicate game: UrlLocal {url!r} is the game of {first.labels} too",
                remedy="take one of the two folders away",
            )
        )
    return sorted(kept, key=lambda each: each.match), problems


def _strangers(
    listed: Mapping[str, Sequence[SourceCaption]], games: Sequence[GameFiles], paths: Sequence[Path]
) -> list[Problem]:
    known = {each.match for each in games}
    where = ", ".join(str(each) for each in paths)
    return [
        Problem(match=match, where=where, problem=f"captions without labels: no folder holds the match {match!r}")
        for match in sorted(set(listed) - known)
    ]


def _rephrased(lines: str, assistant: Assistant) -> str:
    rows = [decode(SampleRow, line, "samples") for line in lines.splitlines()]
    return "".join(encode(row) + "\n" for row in assistant.rephrase_all(rows))


class _Cache:
    """One file per match under OUT/.cache: its rows as text, kept while all that they are made from is as it was."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.rebuilt = 0
        self.reused = 0

    def get(
        self,
        game: GameFiles,
        source: str,
        split: Split,
        legacy: Split,
        extra: Sequence[SourceCaption],
        durations: Durations | None,
    ) -> _Built:
        parts = (SCHEMA_VERSION, _program(), str(game.folder), game.match, source, split, legacy, repr(extra))
        key = hashlib.sha256("\0".join(parts).encode()).hexdigest()
        path = self._path(game.match)
        if (held := _load(path, key)) is not None:
            self.reused += 1
            return held
        read = soccernet.read_game(game, durations, extra)
        rows = build_match(read, split, legacy, source)
        made = _Built(
            sections={name: "".join(encode(row) + "\n" for row in getattr(rows, name)) for name in MANIFESTS},
            counts=rows.counts,
            notices=read.notices,
        )
        _store(path, key, made)
        self.rebuilt += 1
        return made

    def _path(self, match: str) -> Path:
        return self.folder / f"{hashlib.sha256(match.encode()).hexdigest()[:24]}.z"

    def keep_only(self, matches: set[str]) -> None:
        """Remove what is kept of matches that are not there any more."""
        wanted = {self._path(match).name for match in matches}
        for path in self.folder.glob("*.z*"):
            if path.name not in wanted:
                path.unlink()


def _program() -> str:
    """A hash of the code that makes the rows, so that a changed rule never meets rows of the old one."""
    global _PROGRAM
    if not _PROGRAM:
        here = Path(__file__).parent
        digest = hashlib.sha256()
        for name in _MAKERS:
            digest.update((here / f"{name}.py").read_bytes())
        _PROGRAM = digest.hexdigest()
    return _PROGRAM


_PROGRAM = ""
_MAKERS = ("../actions", "../clock", "../domain", "align", "captions", "eventizer", "manifests", "match", "match_state",
           "placeholders", "rewrite", "soccernet", "tracks", "unisoccer")  # fmt: skip


def _load(path: Path, key: str) -> _Built | None:
    """What the file holds, if it is whole and was made from the same things; anything else is made anew."""
    try:
        data = json.loads(zlib.decompress(path.read_bytes()))
    except (OSError, zlib.error, ValueError):
        return None
    if not isinstance(data, dict) or data.get("key") != key:
        return None
    notices = Notices(counts=Counter(data["notices"]), first=data["first"])
    return _Built(sections=data["sections"], counts=Counter(data["counts"]), notices=notices)


def _store(path: Path, key: str, made: _Built) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    data = {
        "key": key,
        "sections": made.sections,
        "counts": made.counts,
        "notices": made.notices.counts,
        "first": made.notices.first,
    }
    fresh = path.with_name(f"{path.name}.{os.getpid()}")
    fresh.write_bytes(zlib.compress(json.dumps(data, ensure_ascii=False).encode(), level=1))
    fresh.replace(path)


def _totals(counts: Mapping[str, int], matches: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """The counts of all matches, grouped by what stands before the dot, with the figures the paper gives."""
    totals: dict[str, Any] = {"matches": len(matches)}
    for name, number in sorted(counts.items()):
        group, _, part = name.partition(".")
        if part:
            totals.setdefault(group, {})[part] = number
        else:
            totals[name] = number
    lengths = {int(clips): number for clips, number in totals.pop("event_clips", {}).items()}
    totals["event_seconds"] = {
        "mean": round(CLIP_SECONDS * sum(n * number for n, number in lengths.items()) / max(1, totals["events"]), 3),
        "median": median_seconds(lengths),
    }
    totals["splits"] = dict(Counter(each["split"] for each in matches.values()))
    return totals


def median_seconds(lengths: Mapping[int, int]) -> float:
    """The median length of events, from how many there are of each number of clips; a clip counts as 4 s."""
    total = sum(lengths.values())
    if not total:
        return 0.0
    places, passed, found = ((total - 1) // 2, total // 2), 0, []
    for clips in sorted(lengths):
        found += [clips for place in places if passed <= place < passed + lengths[clips]]
        passed += lengths[clips]
    return CLIP_SECONDS * sum(found) / 2
