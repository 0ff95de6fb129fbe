"""Optional rephrasing of targets by a language model behind an OpenAI-compatible endpoint, and nothing but rephrasing.

All that is not text is settled and hashed before the model is asked, and the hash is taken again afterwards. The model
is given one sentence with numbered placeholders; its reply stands only where fidelity.py finds the same teams,
numbers, times, actions and score in it. Where a call or a check fails, the deterministic sentence stays, and the reason
is counted.
"""

from __future__ import annotations

import hashlib
import json
import os
import threading
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from streamsoccer.data.fidelity import tag, untag, what_changed
from streamsoccer.data.manifests import encode
from streamsoccer.data.placeholders import fill
from streamsoccer.domain import SampleRow
from streamsoccer.errors import DataError, UsageError

__all__ = ["KEY_VARIABLE", "Assistant", "frozen_part"]

KEY_VARIABLE = "STREAMSOCCER_ASSIST_KEY"
_PROMPT = (
    "Rephrase one sentence of live soccer commentary in natural English. Keep its meaning exactly: every bracketed"
    " placeholder as it is and in the same order, every number, time, score and action, and which team did what. Add"
    " nothing: no name, no reason, no outcome. Reply with the sentence alone."
)
_TRIES = 2
_GIVE_UP_AFTER = 5  # failed calls in a row: the endpoint is not there


class _Answer(NamedTuple):
    reply: str
    failure: str = ""


def frozen_part(row: SampleRow) -> str:
    """All of a sample that a rewriter may not touch, as text."""
    return encode(replace(row, target="", named="", placeholders=(), writer="", rules_target=None))


class Assistant:
    """Asks the model, remembers its replies in a file so that an interrupted build goes on, and counts what became."""

    def __init__(
        self, url: str, model: str, memory: Path, *, workers: int = 4, timeout: float = 60.0, key: str | None = None
    ) -> None:
        if not url.startswith(("http://", "https://")):
            raise UsageError(f"{url!r} is no endpoint", remedy="give a URL like http://localhost:8000/v1")
        url = url.rstrip("/")
        self.url = url if url.endswith("/chat/completions") else f"{url}/chat/completions"
        self.model = model
        self.counts: Counter[str] = Counter()
        self.frozen = hashlib.sha256()
        self._key = os.environ.get(KEY_VARIABLE, "") if key is None else key
        self._workers = workers
        self._timeout = timeout
        self._memory = memory
        self._lock = threading.Lock()
        self._failures = 0
        self._replies = _remembered(memory)

    def rephrase_all(self, rows: Sequence[SampleRow]) -> list[SampleRow]:
        """The same samples with their targets rephrased where the reply keeps to the facts."""
        before = [frozen_part(row) for row in rows]
        sentences = sorted({tag(row.target) for row in rows})  # equal sentences are asked for once
        with ThreadPoolExecutor(max_workers=self._workers) as pool:
            replies = dict(zip(sentences, pool.map(self._reply, sentences), strict=True))
        done = [self._rephrase(row, replies[tag(row.target)]) for row in rows]
        if [frozen_part(row) for row in done] != before:
            raise DataError("rephrasing changed more than the text of a sample", remedy="report this as a defect")
        for part in before:
            self.frozen.update(part.encode())
        return done

    def _rephrase(self, row: SampleRow, answer: _Answer) -> SampleRow:
        changed = answer.failure or what_changed(tag(row.target), answer.reply)
        if changed:
            self.counts[f"kept.{changed}"] += 1
            return row
        target, order = untag(answer.reply)
        placeholders = tuple(row.placeholders[place] for place in order)
        self.counts["rephrased"] += 1
        return replace(
            row,
            target=target,
            named=fill(target, placeholders),
            placeholders=placeholders,
            writer=self.model,
            rules_target=row.target,
        )

    def _reply(self, tagged: str) -> _Answer:
        key = hashlib.sha256("\0".join((self.model, _PROMPT, tagged)).encode()).hexdigest()
        with self._lock:
            if (known := self._replies.get(key)) is not None:
                return _Answer(known)
            if self._failures >= _GIVE_UP_AFTER:
                return _Answer("", "call_given_up")
        reply = next((each for _ in range(_TRIES) if (each := self._call(tagged)) is not None), None)
        with self._lock:
            if reply is None:
                self._failures += 1
                return _Answer("", "call_failed")
            self._failures = 0
            self._replies[key] = reply
            self._memory.parent.mkdir(parents=True, exist_ok=True)
            with self._memory.open("a", encoding="utf-8") as file:
                file.write(json.dumps({"key": key, "reply": reply}, ensure_ascii=False) + "\n")
        return _Answer(reply)

    def _call(self, tagged: str) -> str | None:
        """The model's sentence, or None where the endpoint does not answer with one."""
        import http.client  # only where a model is asked
        import urllib.request

        body = {
            "model": self.model,
            "temperature": 0,
            "max_tokens": 192,
            "messages": [{"role": "system", "content": _PROMPT}, {"role": "user", "content": tagged}],
        }
        headers = {"Content-Type": "application/json"}
        if self._key:
            headers["Authorization"] = f"Bearer {self._key}"
        request = urllib.request.Request(self.url, data=json.dumps(body).encode(), headers=headers, method="POST")
        try:
            with urllib.request.urlopen(request, timeout=self._timeout) as response:
                answer: Any = json.load(response)
            text = answer["choices"][0]["message"]["content"]
        except (OSError, http.client.HTTPException, ValueError, LookupError, TypeError):
            return None  # counted by the caller
        return text.strip().strip('"').strip() if isinstance(text, str) else None


def _remembered(path: Path) -> dict[str, str]:
    """The replies of earlier builds; a line that a kill cut short is asked for again."""
    replies: dict[str, str] = {}
    if not path.is_file():
        return replies
    text = path.read_text(encoding="utf-8", errors="replace")
    if text and not text.endswith("\n"):
        with path.open("a", encoding="utf-8") as file:
            file.write("\n")  # so that the next reply does not join the broken line
    for line in text.splitlines():
        try:
            row = json.loads(line)
            replies[row["key"]] = row["reply"]
        except (ValueError, LookupError, TypeError):
            continue
    return replies
