"""The live text of the simulated league: true, varied, causal, and in SoccerNet's own shape."""

from __future__ import annotations

import re
import statistics
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest

import results
from falsify import falsified
from scripted_match import ScriptedMatch, scripted_match
from streamsoccer.claims import claims
from streamsoccer.clock import MatchTime
from streamsoccer.data.captions import classify, pick_time
from streamsoccer.data.placeholders import tokens
from streamsoccer.league import captions
from streamsoccer.league.evidence import sheet, truth
from streamsoccer.league.grammar import Person, load, polish
from streamsoccer.league.match import Match
from streamsoccer.league.moments import moments
from streamsoccer.league.telling import tell
from streamsoccer.settle import Finding, check

REAL_SHARES = {
    "corner": 13.9, "clearance": 12.7, "shot off target": 11.5, "foul with no card": 11.0, "lead to corner": 9.8,
    "substitution": 7.9, "saved by goal-keeper": 6.5, "yellow card": 6.1, "off side": 4.9, "goal": 4.3,
    "ball possession": 3.8, "injury": 2.8, "free kick": 2.0, "penalty": 1.0, "ball out of play": 0.8, "red card": 0.3,
    "throw in": 0.3, "second yellow card": 0.2, "show added time": 0.1, "start of half game": 0.1,
    "end of half game": 0.0,
}  # fmt: skip


@cache
def matches(world: str, count: int, seed: int = 11) -> tuple[ScriptedMatch, ...]:
    return tuple(scripted_match(seed, world=world, index=index) for index in range(count))


@cache
def files(world: str, count: int, seed: int = 11) -> tuple[dict[str, Any], ...]:
    return tuple(captions.write(match) for match in matches(world, count, seed))


def words(text: str) -> list[str]:
    return re.findall(r"[a-z0-9]+", text.lower())


def four_grams(rows: Iterable[dict[str, Any]]) -> list[tuple[str, ...]]:
    lists = (re.findall(r"\[?[a-z0-9']+\]?", row["anonymized"].lower()) for row in rows)
    return [tuple(each[at : at + 4]) for each in lists for at in range(len(each) - 3)]


def text_figures(written: Sequence[dict[str, Any]], held_out: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """The figures that ../shared/DATA.md gives of the real text."""
    rows = [row for each in written for row in each["annotations"]]
    figures: dict[str, Any] = {"matches": len(written), "captions_a_match": len(rows) / len(written)}
    for key in ("description", "anonymized"):
        texts = Counter(row[key] for row in rows)
        figures[f"{key}_repeated"] = sum(count for count in texts.values() if count > 1) / len(rows)
        lengths = sorted(len(words(row[key])) for row in rows)
        figures[f"{key}_words_median"] = statistics.median(lengths)
        figures[f"{key}_words_p95"] = lengths[int(0.95 * len(lengths))]
    figures["vocabulary"] = len({word for row in rows for word in words(row["anonymized"])})
    seen = {gram for each in written for gram in four_grams(each["annotations"])}
    shares = [np.mean([gram in seen for gram in four_grams(each["annotations"])]) for each in held_out]
    figures["held_out_4_grams_seen"] = float(np.mean(shares))
    classes = Counter(row["class"] for row in rows)
    figures["class_shares"] = {kind: round(100 * count / len(rows), 2) for kind, count in classes.most_common()}
    return figures


def agreement(played: Iterable[Any]) -> tuple[Counter[str], list[str]]:
    """How all claims of all sentences fare against what happened, and the sentences that say something false."""
    found, false = Counter[str](), []
    for match in played:
        names = sheet(match.fixture)
        for told in tell(match.fixture, match.halves):
            known = truth(match.fixture, match.halves, told)
            for each in claims(told.sentence.description, sheet=names):
                finding = check(each, known)
                found[finding.value] += 1
                if finding is not Finding.AGREES:
                    false.append(f"{told.sentence.description} [{each.text}]")
    return found, false


def caught(played: Iterable[Any], enough: int) -> tuple[Counter[str], Counter[str], list[str]]:
    """How many falsified sentences there were by kind, how many were caught, and those that were not."""
    tried, hit, missed = Counter[str](), Counter[str](), []
    for match in played:
        if tried.total() >= enough:
            break
        names = sheet(match.fixture)
        for told in tell(match.fixture, match.halves):
            known = truth(match.fixture, match.halves, told)
            for kind, text in falsified(told.sentence.description, names):
                tried[kind] += 1
                if any(check(each, known) is Finding.CONTRADICTS for each in claims(text, sheet=names)):
                    hit[kind] += 1
                else:
                    missed.append(f"{kind}: {text}")
    return tried, hit, missed


def test_every_claim_of_every_sentence_is_true() -> None:
    found, false = agreement([*matches("train", 12), *matches("validation", 4), *matches("test", 8)])
    assert not false, false[:5]
    assert set(found) == {"agrees"} and found["agrees"] > 2500


def test_falsified_sentences_are_caught() -> None:
    tried, hit, missed = caught([*matches("train", 13), *matches("test", 13)], 10_000)
    assert tried.total() >= 5000 and set(tried) == {"side", "outcome", "count", "score"}
    assert hit.total() >= 0.99 * tried.total(), missed[:10]


def test_text_is_as_varied_as_the_real_one() -> None:
    written = files("train", 40)
    figures = text_figures(written, files("train", 4, 99))
    # How many captions a match has is asked of played matches alone: these scripts hold more corners and chances.
    assert figures["description_repeated"] <= 0.03
    assert figures["anonymized_repeated"] <= 0.59
    assert figures["vocabulary"] >= 1400
    assert 18 <= figures["anonymized_words_median"] <= 22 and 36 <= figures["anonymized_words_p95"] <= 42
    assert 0.75 <= figures["held_out_4_grams_seen"] <= 0.88


def test_a_fifth_of_the_phrasings_is_for_the_test_world_alone() -> None:
    lines = [line for rule in load().rules.values() for line in rule]
    assert len(lines) > 2000
    assert 0.18 <= sum(line.new for line in lines) / len(lines) <= 0.22
    train, test = (
        {gram for each in files(world, 8) for gram in four_grams(each["annotations"])} for world in ("train", "test")
    )
    assert len(test - train) > 0.15 * len(test)


def test_whatever_happens_can_be_told_in_every_world() -> None:
    """No moment is left without a sentence because no phrase fits it."""
    for world in ("train", "validation", "test"):
        for match in matches(world, 3):
            possible = sum(len(moments(trace)) for trace in match.halves)
            assert possible > 100
            for trace in match.halves:
                for moment in moments(trace):
                    assert _told(match, trace, moment) is not None, moment


def _told(match: ScriptedMatch, trace: Any, moment: Any) -> Any:
    from streamsoccer.league.telling import _write

    past = [(trace.half, deed) for deed in trace.deeds[: max(moment.deeds) + 1]]
    return _write(match.fixture, trace, moment, past, [], np.random.default_rng(1))


def test_the_same_seed_gives_the_same_words_and_another_seed_others() -> None:
    one, again, other = (captions.write(scripted_match(seed, index=3)) for seed in (5, 5, 6))
    assert one == again
    assert {row["description"] for row in one["annotations"]}.isdisjoint(
        {row["description"] for row in other["annotations"]}
    )


@pytest.mark.parametrize("half", [1, 2])
def test_the_past_alone_decides(half: int) -> None:
    """Without all that happens after a moment, what was written up to then is the same, word for word."""
    match = scripted_match(21, index=2)
    whole = tell(match.fixture, match.halves)
    for second in (500.0, 1111.0, 2050.0):
        cut = [
            replace(trace, deeds=tuple(deed for deed in trace.deeds if trace.half < half or deed.at <= second))
            for trace in match.halves
            if trace.half <= half
        ]
        expected = [each for each in whole if each.half < half or (each.half == half and each.moment.known <= second)]
        made = tell(match.fixture, cut)
        made = [each for each in made if each.half < half or each.moment.known <= second]
        assert [each.sentence for each in made] == [each.sentence for each in expected] and expected


def test_the_file_has_the_shape_of_soccernet() -> None:
    match = matches("train", 1)[0]
    written = files("train", 1)[0]
    assert written["gameHomeTeam"] == match.fixture.home.name and len(written["lineup"]["home"]["players"]) == 18
    hashes = {player["hash"] for side in ("home", "away") for player in written["lineup"][side]["players"]}
    assert len(hashes) == 36
    for row in written["annotations"]:
        at, key = pick_time(row)
        assert at is not None and key == "contrastive_aligned_gameTime"
        assert classify(row, row["anonymized"])[2] is None  # a class that is known
        shown = MatchTime.parse(row["gameTime"])
        assert row["important"] in ("true", "false") and int(row["position"]) == shown.seconds * 1000
        assert tokens(re.sub(r"_[^\]\s]*\]", "]", row["identified"])) == tokens(row["anonymized"])
        assert set(re.findall(r"\[PLAYER_([^\]]+)\]", row["identified"])) <= hashes
        assert "[" not in row["description"] and "{" not in row["anonymized"] and "  " not in row["description"]
    times = [row["gameTime"] for row in written["annotations"]]
    assert times == sorted(times)


def test_times_are_jittered_like_live_text_and_aligned_near_the_action() -> None:
    near, late = [], []
    for match, written in zip(matches("train", 10), files("train", 10), strict=True):
        at = {(told.half, told.sentence.description): told.moment.at for told in tell(match.fixture, match.halves)}
        for row in written["annotations"]:
            half = int(row["gameTime"][0])
            minutes, seconds = row["gameTime"][4:].split(":")
            aligned = row["contrastive_aligned_gameTime"][4:].split(":")
            action = at[half, row["description"]]
            late.append(int(minutes) * 60 + int(seconds) - action)
            near.append(abs(int(aligned[0]) * 60 + int(aligned[1]) - action))
    assert 5 < statistics.median(late) < 40
    assert statistics.median(near) < 5


def test_articles_and_capitals_are_right() -> None:
    player = Person("PLAYER", "Orsini", "h1")
    made = polish(f"a early shot from {player.mark()}. it is a one-two, a hour ago")
    assert made.description.startswith("An early shot from Orsini. It is a one-two")
    assert made.identified.startswith("An early shot from [PLAYER_h1].")
    assert made.anonymized.startswith("An early shot from [PLAYER].")


@pytest.mark.acceptance
def test_words_of_simulated_matches() -> None:
    """The same promises on matches that were played; their class shares against the real ones."""
    played = [Match(7, index=index) for index in range(40)]
    found, false = agreement(played)
    tried, hit, missed = caught(played, 5000)
    figures = text_figures([captions.write(each) for each in played], [captions.write(Match(8, index=50))])
    figures |= {"claims": dict(found), "falsified": dict(tried), "caught": dict(hit)}
    apart = {kind: figures["class_shares"].get(kind, 0.0) - share for kind, share in REAL_SHARES.items()}
    figures["class_shares_less_real"] = {kind: round(each, 2) for kind, each in apart.items()}
    results.record("league_words", figures, "pytest tests/test_league_words.py -m acceptance")
    assert not false and set(found) == {"agrees"}, (found, false[:5])
    assert hit.total() >= 0.99 * tried.total() and tried.total() >= 5000, missed[:10]
    assert 59 <= figures["captions_a_match"] <= 71
    assert figures["description_repeated"] <= 0.03 and figures["anonymized_repeated"] <= 0.59
    assert figures["vocabulary"] >= 1400 and 0.75 <= figures["held_out_4_grams_seen"] <= 0.88
    assert max(abs(each) for each in apart.values()) <= 3.0, apart
