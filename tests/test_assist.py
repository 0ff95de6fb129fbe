"""A model may rephrase and nothing else: a real local server that obeys, one that lies, and one that is not there."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from small_corpus import write_corpus
from streamsoccer.data.assist import Assistant, frozen_part
from streamsoccer.data.fidelity import tag, untag, what_changed
from streamsoccer.data.manifests import read_samples
from streamsoccer.data.pipeline import build
from streamsoccer.domain import SampleRow
from streamsoccer.errors import UsageError


@contextmanager
def model(answer: Callable[[str], str], status: int = 200) -> Iterator[tuple[str, list[dict[str, object]]]]:
    """A chat-completions endpoint on this machine that answers each sentence by a function."""
    seen: list[dict[str, object]] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            seen.append({"path": self.path, "key": self.headers.get("Authorization"), **body})
            reply = {"choices": [{"message": {"content": answer(body["messages"][-1]["content"])}}]}
            content = json.dumps(reply).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *args: object) -> None:
            del args

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1", seen
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("root")
    write_corpus(root, matches=3, captioned=3)
    return root


def samples(out: Path) -> list[SampleRow]:
    return list(read_samples(out))


def test_an_obedient_model_changes_words_and_only_words(corpus: Path, tmp_path: Path) -> None:
    build(corpus, tmp_path / "plain")
    with model(lambda text: text[:-1] + ", as we have seen.") as (url, seen):
        assistant = Assistant(url, "kind", tmp_path / "memory.jsonl", key="secret")
        made = build(corpus, tmp_path / "out", assistant=assistant)
    plain, rephrased = samples(tmp_path / "plain"), samples(tmp_path / "out")
    assert made.assisted == {"rephrased": len(plain)}
    assert [frozen_part(each) for each in plain] == [frozen_part(each) for each in rephrased]
    for before, after in zip(plain, rephrased, strict=True):
        assert after.target == before.target[:-1] + ", as we have seen."
        assert (after.rules_target, after.writer, after.placeholders) == (before.target, "kind", before.placeholders)
        assert "as we have seen" in after.named
    assert seen[0]["path"] == "/v1/chat/completions"
    assert seen[0]["key"] == "Bearer secret"
    assert seen[0]["model"] == "kind"


LIES: dict[str, Callable[[str], str]] = {
    "placeholder": lambda text: text.replace("[TEAM_", "[CLUB_").replace("[PLAYER_", "[MAN_"),
    "number": lambda text: text + " Three of them now, in all twelve.",
    "score": lambda text: text + " It is 7-1.",
    "time": lambda text: text + " All this in extra time.",
    "action": lambda text: text + " What an injury and what a red card and save!",
    "negation": lambda text: text + " Or perhaps not.",
    "name": lambda text: text[:-1] + ", says Beckham.",
    "no_sentence": lambda text: f"Sure!\n{text}",
}


@pytest.mark.parametrize("reason", LIES)
def test_a_lying_model_is_caught_counted_and_overruled(corpus: Path, tmp_path: Path, reason: str) -> None:
    build(corpus, tmp_path / "plain")
    with model(LIES[reason]) as (url, _):
        made = build(corpus, tmp_path / "out", assistant=Assistant(url, "liar", tmp_path / "memory.jsonl"))
    assert samples(tmp_path / "out") == samples(tmp_path / "plain")
    assert made.assisted == {f"kept.{reason}": len(samples(tmp_path / "plain"))}
    assert made.summary["assist"][f"kept.{reason}"] == made.assisted[f"kept.{reason}"]


def test_teams_may_not_be_exchanged() -> None:
    told = "In the last three minutes, [TEAM_1] have had two corners, while [TEAM_2] have committed a foul."
    swapped = "In the last three minutes, [TEAM_2] have had two corners, while [TEAM_1] have committed a foul."
    assert what_changed(told, told) is None
    assert what_changed(told, swapped) == "team"
    moved = "[TEAM_1] have had two corners in the last three minutes; [TEAM_2] have committed one foul."
    assert what_changed(told, moved) is None
    counts = "In the last three minutes, [TEAM_1] have had a corner, while [TEAM_2] have committed two fouls."
    assert what_changed(told, counts) == "team"


@pytest.mark.parametrize(
    ("told", "reply", "reason"),
    [
        ("Another corner for [TEAM_1], the third of the match.", "A third corner of the match for [TEAM_1].", None),
        ("Another corner for [TEAM_1], the third of the match.", "A match's fourth corner for [TEAM_1].", "number"),
        ("Another corner for [TEAM_1], the third of the match.", "Three corners of the match for [TEAM_1].", "number"),
        ("[TEAM_1] have had two shots on target.", "[TEAM_1] have had two shots off target.", "action"),
        ("[TEAM_1] are shown a yellow card.", "[TEAM_1] are shown a red card.", "action"),
        ("It is 2-1 to [TEAM_1].", "It is 1-2 to [TEAM_1].", "score"),
        ("It is 2-1 to [TEAM_1].", "It stands at 2–1 to [TEAM_1].", None),
        ("[TEAM_1] score. It is 1-1.", "[TEAM_1] score. It is 1-1 [TEAM_1].", "placeholder"),
        ("[TEAM_1] win a corner.", "[TEAM_1] win a corner and goal kick.", None),
        ("An earlier one came about four minutes ago.", "An earlier one came about four hours ago.", "time"),
        ("A foul by [TEAM_1].", "", "no_sentence"),
    ],
)  # fmt: skip
def test_single_changes_are_named(told: str, reply: str, reason: str | None) -> None:
    assert what_changed(told, reply) == reason


def test_tags_number_the_placeholders_and_come_off_again() -> None:
    target = "[PLAYER] ([TEAM]) beats [PLAYER]."
    assert tag(target) == "[PLAYER_1] ([TEAM_2]) beats [PLAYER_3]."
    assert untag(tag(target)) == (target, [0, 1, 2])
    assert untag("[PLAYER_3] is beaten by [PLAYER_1] ([TEAM_2]).")[1] == [2, 0, 1]


def test_sides_move_with_their_placeholders(corpus: Path, tmp_path: Path) -> None:
    def turn(text: str) -> str:
        return re.sub(r"^(\[PLAYER_1\]) \((\[TEAM_2\])\) (.*)\.$", r"\2's \1 \3.", text)

    with model(turn) as (url, _):
        build(corpus, tmp_path / "out", assistant=Assistant(url, "kind", tmp_path / "memory.jsonl"))
    turned = [each for each in samples(tmp_path / "out") if each.target.startswith("[TEAM]'s [PLAYER]")]
    assert turned
    assert all([place.token for place in each.placeholders] == ["[TEAM]", "[PLAYER]"] for each in turned)
    assert all(each.placeholders[0].name in ("Northtown", "Southport") for each in turned)


def test_a_build_that_was_interrupted_asks_only_for_the_rest(corpus: Path, tmp_path: Path) -> None:
    memory = tmp_path / "memory.jsonl"
    with model(lambda text: text) as (url, seen):
        build(corpus, tmp_path / "out", assistant=Assistant(url, "kind", memory))
        asked = len(seen)
        lines = memory.read_text().splitlines()
        assert len({json.loads(line)["key"] for line in lines}) == len(lines)
        memory.write_text("\n".join(lines[: len(lines) // 2]) + "\n" + lines[-1][:20])  # the kill cut a line short
        build(corpus, tmp_path / "out", assistant=Assistant(url, "kind", memory))
        assert len(seen) - asked == len(lines) - len(lines) // 2
        again = len(seen)
        build(corpus, tmp_path / "out", assistant=Assistant(url, "kind", memory))
        assert len(seen) == again


def test_an_absent_or_failing_endpoint_leaves_the_rules_and_is_given_up_soon(corpus: Path, tmp_path: Path) -> None:
    build(corpus, tmp_path / "plain")
    with model(lambda text: text, status=500) as (url, seen):
        made = build(corpus, tmp_path / "out", assistant=Assistant(url, "m", tmp_path / "a.jsonl", workers=1))
        assert len(seen) == 10  # two tries for each of five sentences, and no more
    total = len(samples(tmp_path / "plain"))
    assert set(made.assisted) == {"kept.call_failed", "kept.call_given_up"}
    assert sum(made.assisted.values()) == total
    made = build(corpus, tmp_path / "out", assistant=Assistant(url, "m", tmp_path / "b.jsonl", workers=1))
    assert sum(made.assisted.values()) == total
    assert samples(tmp_path / "out") == samples(tmp_path / "plain")
    with model(lambda text: text) as (url, _):
        server_without_choices = Assistant(url + "?", "m", tmp_path / "c.jsonl")
        assert server_without_choices.url.endswith("/chat/completions")
    with pytest.raises(UsageError, match="no endpoint"):
        Assistant("ftp://x", "m", tmp_path / "d.jsonl")
