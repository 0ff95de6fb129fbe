"""Train, validation and test by match: the paper's rule on sorted IDs, or a file that says it."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path

from streamsoccer.data.soccernet import CAPTIONS, GameFiles
from streamsoccer.domain import Split
from streamsoccer.errors import DataError

__all__ = ["legacy_splits", "read_split_file", "split_by_rule", "splits_of"]

# The paper's representation benchmark has 5,676 training and 1,726 test events and no validation part.
_LEGACY_TEST, _LEGACY_ALL = 1726, 5676 + 1726


def split_by_rule(matches: Iterable[str]) -> dict[str, Split]:
    """Sorted by ID: the first 70% train, the last 15% test, the rest validates; 422 matches give 295, 64 and 63.

    Both shares are rounded down, but one match is always there to train on, and from three matches on one to test on.
    """
    ordered = sorted(matches)
    total = len(ordered)
    train = max(total * 70 // 100, min(total, 1))
    test = max(total * 15 // 100, int(total >= 3))
    names = [Split.TRAIN] * train + [Split.VALIDATION] * (total - train - test) + [Split.TEST] * test
    return dict(zip(ordered, names, strict=True))


def splits_of(captioned: Collection[str], others: Collection[str]) -> dict[str, Split]:
    """Captioned matches are split as the paper splits them; the others by the same rule, among themselves."""
    return {**split_by_rule(others), **split_by_rule(captioned)}


def legacy_splits(games: Iterable[GameFiles], listed: Collection[str] = ()) -> dict[str, Split]:
    """The representation benchmark's two parts, train and test, of the captioned matches.

    Its test matches are those that MatchTime has timed by hand. Where none is there, the last matches by ID are taken
    in the paper's proportion, 1,726 of 7,402. Matches without captions have no records; they are called train.
    """
    everyone = list(games)
    captioned = sorted(each.match for each in everyone if each.captions is not None or each.match in listed)
    timed = {each.match for each in everyone if each.captions is not None and each.captions.name == CAPTIONS[0]}
    if not timed:
        timed = set(captioned[len(captioned) - len(captioned) * _LEGACY_TEST // _LEGACY_ALL :])
    return {each.match: Split.TEST if each.match in timed else Split.TRAIN for each in everyone}


_NAMES: Mapping[str, Split] = {
    **{each.value: each for each in Split},
    "valid": Split.VALIDATION,
    "val": Split.VALIDATION,
    "dev": Split.VALIDATION,
}


def read_split_file(path: Path, matches: Collection[str]) -> dict[str, Split]:
    """{split: [match, ...]} or {match: split}; every match of the corpus must be in it, in one part only."""
    try:
        data = json.loads(path.read_bytes())
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror}", where=path) from error
    except ValueError as error:
        raise DataError(f"broken JSON: {error}", where=path) from error
    if not isinstance(data, dict):
        raise DataError("the file holds no JSON object", where=path)
    found: dict[str, Split] = {}
    for key, value in data.items():
        for name, match in [(key, each) for each in value] if isinstance(value, list) else [(value, key)]:
            split = _NAMES.get(name) if isinstance(name, str) else None
            if split is None or not isinstance(match, str):
                raise DataError(f"{name!r}: {match!r} is no split and match", where=path, remedy=_REMEDY)
            if found.setdefault(match.strip("/"), split) is not split:
                raise DataError(f"{match!r} is in two splits: {found[match.strip('/')]} and {split}", where=path)
    missing = sorted(set(matches) - set(found))
    if missing:
        raise DataError(f"{len(missing)} matches are in no split, first {missing[0]!r}", where=path, remedy=_REMEDY)
    return {match: found[match] for match in matches}


_REMEDY = 'write {"train": ["league/season/game", ...], "validation": [...], "test": [...]}'
