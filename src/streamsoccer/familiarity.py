"""Whether a video looks like those that the model was trained on: V_t's means against their statistics.

    f_t = mean over tokens of V_t,    d_t = mean over i of ((f_t[i] - mu[i]) / sigma[i])^2

mu and sigma are of training clips, and so is the limit: the far end of what the median of d over eight clips in a row
comes to on them, with room. They stand in `familiarity.json` beside the weights; without that file nothing is said.

N tokens of a clip, d_v their width, n clips
"""

from __future__ import annotations

import json
import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from streamsoccer.errors import CheckpointError, DataError
from streamsoccer.journal_rows import NoteKind

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from torch import Tensor

    from streamsoccer.arrival import Row
    from streamsoccer.mind import Mind

__all__ = ["CLIPS", "Familiarity", "feature", "look", "measure", "read_familiarity", "write_familiarity"]

FILE = "familiarity.json"
CLIPS = 8  # half a minute: a replay or a close-up alone is no other sport
ROOM = 2.0  # how much farther than any training clips a video may be
FARTHEST = 0.999  # of the training clips' own medians


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Familiarity:
    """What clips of training looked like: mean and spread of each feature [d_v], and how far is too far."""

    mean: NDArray[np.float64]
    spread: NDArray[np.float64]
    limit: float
    clips: int

    def distance(self, features: NDArray[np.floating]) -> float:
        """d_t of one clip's features [d_v]: about 1 for a clip like those of training."""
        return float((((features.astype(np.float64) - self.mean) / self.spread) ** 2).mean())


def feature(tokens: Tensor) -> NDArray[np.float64]:
    """f_t [d_v] of V_t [N, d_v]."""
    found: NDArray[np.float64] = tokens.detach().double().mean(dim=0).cpu().numpy()
    return found


def measure(films: Iterable[Sequence[Tensor] | NDArray[np.floating]]) -> Familiarity:
    """Statistics of training clips: of each film its V_t in order of time, or their features [n, d_v]."""
    rows = [
        each if isinstance(each, np.ndarray) else np.stack([feature(tokens) for tokens in each])
        for each in films
        if len(each)
    ]
    together = np.concatenate(rows).astype(np.float64) if rows else np.zeros((0, 0))
    if len(together) < CLIPS:
        raise DataError(
            f"{len(together)} clips are too few to know what is familiar", remedy=f"give {CLIPS} or more, of many films"
        )
    spread = np.maximum(together.std(axis=0), 1e-6 + 1e-3 * float(together.std()))
    bare = Familiarity(mean=together.mean(axis=0), spread=spread, limit=np.inf, clips=len(together))
    medians: list[float] = []
    for film in rows:
        far = [bare.distance(each) for each in film]
        medians.extend(statistics.median(far[at : at + CLIPS]) for at in range(max(1, len(far) - CLIPS + 1)))
    limit = ROOM * float(np.quantile(medians, FARTHEST))
    return Familiarity(mean=bare.mean, spread=spread, limit=limit, clips=len(together))


def write_familiarity(folder: Path, known: Familiarity) -> Path:
    """Keep it beside a model's weights."""
    row = {
        "clips": known.clips,
        "limit": round(known.limit, 6),
        "mean": [float(f"{each:.6g}") for each in known.mean],
        "spread": [float(f"{each:.6g}") for each in known.spread],
    }
    path = folder / FILE
    path.write_text(json.dumps(row) + "\n", encoding="utf-8")
    return path


def read_familiarity(folder: Path) -> Familiarity | None:
    """What stands beside a model's weights, or nothing."""
    path = folder / FILE
    if not path.is_file():
        return None
    try:
        row = json.loads(path.read_text(encoding="utf-8"))
        known = Familiarity(
            mean=np.asarray(row["mean"], dtype=np.float64),
            spread=np.asarray(row["spread"], dtype=np.float64),
            limit=float(row["limit"]),
            clips=int(row["clips"]),
        )
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise CheckpointError(f"is not what was saved: {error!r}", where=path, remedy="copy the model anew") from error
    if known.mean.shape != known.spread.shape or known.mean.ndim != 1 or not (known.spread > 0).all():
        raise CheckpointError("its mean and spread do not go together", where=path, remedy="copy the model anew")
    return known


def look(mind: Mind, row: Row) -> None:
    """Say once in a half that its clips are unlike those of training; nothing else depends on it."""
    known, state = mind.familiarity, row.state
    if known is None or row.tokens is None or row.tokens.shape[-1] != len(known.mean):
        return
    far = known.distance(feature(row.tokens))
    state.counts["clips_unfamiliar"] += far > known.limit
    state.strange = [*state.strange, far][-CLIPS:]
    middle = statistics.median(state.strange)
    if len(state.strange) == CLIPS and middle > known.limit and state.warned != row.moment.at.half:
        state.warned = row.moment.at.half
        row.moment.tell(
            NoteKind.NOTICE,
            "unfamiliar",
            f"this video looks unlike those that the model was trained on ({middle:.1f} times their spread, they stay"
            f" below {known.limit:.1f}): do not trust what it says of it",
        )
