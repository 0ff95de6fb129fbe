"""METEOR 1.5 through pycocoevalcap: one Java process always closed, never hanging, whatever the locale."""

from __future__ import annotations

import subprocess
import tempfile
import threading
from collections.abc import Sequence
from contextlib import suppress
from types import TracebackType
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from streamsoccer.errors import StreamSoccerError, UsageError
from streamsoccer.evaluation.tokenise import JAVA_REMEDY, find_java, one_line, package_folder

__all__ = ["Meteor", "combine_meteor"]

_JAVA_OPTIONS = ("-Dfile.encoding=UTF-8", "-Duser.language=en", "-Xmx2G")
_METEOR_OPTIONS = ("-", "-", "-stdio", "-l", "en", "-norm")
# METEOR 1.5's parameters for English: α, β, γ, δ, and a weight for each matcher (exact, stem, synonym, paraphrase).
_ALPHA, _BETA, _GAMMA, _DELTA = 0.85, 0.2, 0.6, 0.75
_WEIGHTS = np.array([1.0, 0.6, 0.8, 0.6])


class Meteor:
    """The package's scorer around a process of ours, because its own leaves pipes open and follows the locale."""

    def __init__(self) -> None:
        java = find_java()
        if java is None:
            raise UsageError("METEOR needs Java", remedy=JAVA_REMEDY)
        folder = package_folder("meteor")
        from pycocoevalcap.meteor.meteor import METEOR_JAR
        from pycocoevalcap.meteor.meteor import Meteor as PackageMeteor

        self._messages: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 - closed by close(); a pipe could fill and block
        try:
            self._process = subprocess.Popen(
                [java, *_JAVA_OPTIONS, "-jar", METEOR_JAR, *_METEOR_OPTIONS],
                cwd=folder,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._messages,
            )
        except OSError as error:
            self._messages.close()
            raise StreamSoccerError(f"Java cannot be started: {error}", where=java, remedy=JAVA_REMEDY) from error
        # The constructor would start a second process; its methods only need these two attributes.
        self._scorer: Any = PackageMeteor.__new__(PackageMeteor)
        self._scorer.meteor_p = self._process
        self._scorer.lock = threading.Lock()

    def score(
        self, predictions: Sequence[str], references: Sequence[Sequence[str]], *, patience_s: float = 120.0
    ) -> tuple[float, NDArray[np.float64], NDArray[np.float64]]:
        """The corpus score, a score for each text, and the 23 counts of each text that the corpus score is made of."""
        counts: list[str] = []
        ask = type(self._scorer)._stat

        def remember(hypothesis: str, references: list[str]) -> str:
            counts.append(ask(self._scorer, hypothesis, references))
            return counts[-1]

        self._scorer._stat = remember
        # The protocol is one line a text with ||| between fields: a break or bar in a text would shift all answers.
        res = {i: [one_line(text)] for i, text in enumerate(predictions)}
        gts = {i: [one_line(text).replace("|||", " ") for text in texts] for i, texts in enumerate(references)}
        watch = threading.Timer(patience_s + 0.05 * len(res), self._process.kill)
        watch.daemon = True
        watch.start()
        try:
            corpus, each = self._scorer.compute_score(gts, res)
            rows = np.array([[float(number) for number in line.split()] for line in counts])
        except (ValueError, OSError) as error:
            message = self._last_message()
            self.close()
            raise StreamSoccerError(
                f"METEOR's Java process failed: {message}", remedy="see that `java -version` runs and 2 GB are free"
            ) from error
        finally:
            watch.cancel()
            watch.join()
        # METEOR adds no chunk to the corpus for a text that matches as a whole: such a text has no penalty.
        whole = (rows[:, 21] == rows[:, 0]) & (rows[:, 22] == rows[:, 1]) & (rows[:, 20] == 1)
        rows[whole, 20] = 0
        return float(corpus), np.array(each, dtype=np.float64), rows

    def _last_message(self) -> str:
        self._messages.seek(0)
        lines = self._messages.read().decode("utf-8", "replace").strip().splitlines()
        return lines[-1] if lines else "it ended without a message"

    def close(self) -> None:
        """End the Java process and close its pipes; a second call does nothing."""
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout, self._messages):
            if pipe is not None and not pipe.closed:
                with suppress(BrokenPipeError):  # what was still buffered has no reader any more
                    pipe.close()
        if (
            self._scorer.lock.locked()
        ):  # an error inside compute_score leaves it locked, and its __del__ would wait for ever
            self._scorer.lock.release()

    def __enter__(self) -> Meteor:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def combine_meteor(sums: NDArray[np.float64]) -> NDArray[np.float64]:
    """Corpus METEOR from summed counts (..., 23): F_mean of weighted P and R, times 1 - γ (chunks / matches)^β.

    Counts: words and function words of the output and reference, then for each matcher content and function matches on
    both sides, then chunks and matched words. Java does this for a whole corpus; the bootstrap needs it per replicate.
    """
    words_out, words_ref, function_out, function_ref = (sums[..., i] for i in range(4))
    stages = sums[..., 4:20].reshape(*sums.shape[:-1], 4, 4)
    chunks, matched_out, matched_ref = (sums[..., i] for i in (20, 21, 22))

    def weighted(content: NDArray[np.float64], function: NDArray[np.float64]) -> NDArray[np.float64]:
        return _DELTA * content + (1 - _DELTA) * function

    found_out = (weighted(stages[..., 0], stages[..., 2]) * _WEIGHTS).sum(-1)
    found_ref = (weighted(stages[..., 1], stages[..., 3]) * _WEIGHTS).sum(-1)
    with np.errstate(divide="ignore", invalid="ignore"):
        precision = found_out / weighted(words_out - function_out, function_out)
        recall = found_ref / weighted(words_ref - function_ref, function_ref)
        mean = precision * recall / (_ALPHA * precision + (1 - _ALPHA) * recall)
        penalty = _GAMMA * (chunks / ((matched_out + matched_ref) / 2)) ** _BETA
    return np.asarray(np.nan_to_num(mean * (1 - penalty), nan=0.0))
