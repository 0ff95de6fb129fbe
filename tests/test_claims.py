"""What claims.py reads out of football English, and what the truth says of it."""

from __future__ import annotations

import json
import random
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from streamsoccer.actions import Label
from streamsoccer.claims import Act, Claim, Kind, Outcome, claims
from streamsoccer.clock import MatchTime
from streamsoccer.data.placeholders import find
from streamsoccer.domain import Action, MatchSheet, Placeholder, Player, Side, Tally
from streamsoccer.settle import Fact, Finding, Truth, check, facts_of

H, A = Side.HOME, Side.AWAY
SHEET = MatchSheet(
    home="Northfield United",
    away="Porto Lindo",
    players=(
        Player(hash="a", name="Okafor", side=H),
        Player(hash="b", name="Lindqvist", side=H),
        Player(hash="c", name="Marchetti", side=A),
        Player(hash="d", name="Dupont", side=A),
    ),
)


def said(text: str, *sides: Side) -> list[Claim]:
    return claims(text, sheet=SHEET, placeholders=[Placeholder(token="", side=side) for side in sides])


def acts(text: str, *sides: Side) -> set[tuple[Act | None, Outcome | None, Side]]:
    return {(each.act, each.outcome, each.side) for each in said(text, *sides) if each.kind is Kind.ACTION}


def action(label: Label, side: Side, half: int = 1, second: float = 10.0) -> Action:
    at = MatchTime(half, second)
    return Action(label=label, side=side, at=at, available_at=at)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Okafor (Northfield United) takes the corner.", {(Act.CORNER, None, H)}),
        ("Corner to Porto Lindo.", {(Act.CORNER, None, A)}),
        ("Dupont concedes a corner.", {(Act.CORNER, None, H)}),
        ("Okafor shoots into the bottom corner of the goal.", set()),
        ("Okafor hits a low drive, but it goes wide of the left post.", {(Act.SHOT, Outcome.WIDE, H)}),
        ("Marchetti blazes it over the bar.", {(Act.SHOT, Outcome.OVER, A)}),
        ("The ball from Marchetti rattles the post.", {(Act.SHOT, Outcome.WOODWORK, A)}),
        ("Okafor fires at goal, but Dupont makes a fine save.", {(Act.SHOT, Outcome.SAVED, H)}),
        ("Dupont pulls off a superb save to deny Okafor.", {(Act.SHOT, Outcome.SAVED, H)}),
        ("Okafor's shot is blocked.", {(Act.SHOT, Outcome.BLOCKED, H)}),
        ("Lindqvist scores from close range!", {(Act.GOAL, Outcome.GOAL, H)}),
        ("Lindqvist fails to score.", set()),
        ("No cross this time: Okafor plays the corner short.", {(Act.CORNER, None, H)}),
        ("Okafor waits without a cross.", set()),
        ("Okafor fouls Marchetti. Free kick to Porto Lindo.", {(Act.FOUL, None, H), (Act.FREE_KICK, None, A)}),
        ("Marchetti is fouled by Okafor.", {(Act.FOUL, None, H)}),
        ("Marchetti is flagged offside.", {(Act.OFFSIDE, None, A)}),
        ("The referee shows a yellow card to Dupont.", {(Act.YELLOW, None, A)}),
        ("Dupont receives his second yellow card and is sent off.", {(Act.SECOND_YELLOW, None, A), (Act.RED, None, A)}),
        ("The referee could have shown Dupont a yellow card.", set()),
        ("Lindqvist comes on for Okafor.", {(Act.SUBSTITUTION, None, H)}),
        ("Okafor crosses, but one of the defenders heads it clear.", {(Act.CROSS, None, H), (Act.CLEARANCE, None, A)}),
        ("Porto Lindo press forward, but it is cleared by Okafor.", {(Act.CLEARANCE, None, H)}),
        ("Northfield United attack, but Okafor clears.", {(Act.CLEARANCE, None, H), (Act.CLEARANCE, None, A)}),
        ("Porto Lindo pour forward, but to no avail.", set()),
        ("Marchetti is in the right place to score.", {(Act.GOAL, Outcome.GOAL, A)}),
        ("Okafor scores an own goal.", {(Act.GOAL, Outcome.GOAL, A)}),
        ("Marchetti shoots, but one of the defenders stops his effort.", set()),
        ("Marchetti plays a one-two with Dupont.", set()),
        ("Goal kick for Porto Lindo.", {(Act.GOAL_KICK, None, A)}),
        ("Penalty to Northfield United!", {(Act.PENALTY, None, H)}),
        ("Okafor (Northfield United) is in the penalty area near the penalty spot.", set()),
    ],
)  # fmt: skip
def test_who_does_what_with_which_outcome(text: str, expected: set[tuple[Act, Outcome | None, Side]]) -> None:
    assert acts(text) == expected


def test_placeholders_carry_sides() -> None:
    text = "[PLAYER] ([TEAM]) fouls an opponent. [TEAM] win a free kick."
    assert acts(text, A, A, H) == {(Act.FOUL, None, A), (Act.FREE_KICK, None, H)}


def test_each_claim_has_the_span_it_was_read_from() -> None:
    text = "Okafor is booked. Corner to Porto Lindo, their third corner."
    for each in said(text):
        assert text[slice(*each.span)] == each.text and each.text


def test_counts_with_their_owner_and_window() -> None:
    (count,) = (
        each for each in said("Porto Lindo win a corner, their third corner in ten minutes.") if each.kind is Kind.COUNT
    )
    assert (count.act, count.count, count.side, count.minutes) == (Act.CORNER, 3, A, 10.0)
    (team,) = (each for each in said("That is the second yellow card for Porto Lindo.") if each.kind is Kind.COUNT)
    assert (team.act, team.count, team.side) == (Act.YELLOW, 2, A)
    (brace,) = (each for each in said("A brace for Okafor!") if each.kind is Kind.COUNT)
    assert (brace.act, brace.count, brace.player, brace.by_player) == (Act.GOAL, 2, "Okafor", True)
    assert not any(each.kind is Kind.COUNT for each in said("Okafor plays on in the second half."))


def test_scores_and_leads() -> None:
    goal = Tally().plus(action(Label.GOAL, A)).plus(action(Label.GOAL, A)).plus(action(Label.GOAL, H))
    truth = Truth(tally=goal)
    right = [
        "It is 1-2.",
        "Porto Lindo lead 2-1.",
        "Porto Lindo take the lead.",
        "Northfield United are chasing an equaliser.",
    ]
    wrong = [
        "It is 1-1.",
        "Northfield United lead 2-1.",
        "Porto Lindo are two goals up.",
        "Northfield United are level.",
    ]
    for text in right:
        assert {check(each, truth) for each in said(text)} == {Finding.AGREES}, text
    for text in wrong:
        assert Finding.CONTRADICTS in {check(each, truth) for each in said(text)}, text


def test_a_name_under_the_wrong_team_is_a_contradiction() -> None:
    (member,) = (each for each in said("Okafor (Porto Lindo) takes a throw-in.") if each.kind is Kind.MEMBER)
    assert member.player == "Okafor" and check(member, Truth()) is Finding.CONTRADICTS


def test_a_side_does_not_clear_its_own_attack() -> None:
    truth = Truth(facts=(Fact(act=Act.CLEARANCE, side=H, player="Okafor"),), complete=True)
    findings = {check(each, truth) for each in said("Northfield United attack, but it is cleared by Okafor.")}
    assert Finding.CONTRADICTS in findings
    findings = {check(each, truth) for each in said("Porto Lindo attack, but it is cleared by Okafor.")}
    assert findings == {Finding.AGREES}


def test_what_happened_earlier_is_looked_up_in_the_past() -> None:
    booked = Fact(act=Act.YELLOW, side=A, player="Dupont", half=1, second=100.0)
    foul = Fact(act=Act.FOUL, side=A, player="Dupont", half=2, second=50.0)
    told = said("Foul by Dupont. He was booked earlier.")
    assert {check(each, Truth(facts=(foul,), past=(booked, foul))) for each in told} == {Finding.AGREES}
    assert Finding.CONTRADICTS in {check(each, Truth(facts=(foul,), past=(foul,))) for each in told}


def test_what_labels_cannot_tell_is_unknown() -> None:
    (shot,) = said("Okafor's shot is saved.")
    blocked = Truth(facts=facts_of([action(Label.SHOT_ON_TARGET, H)]))
    assert check(shot, blocked) is Finding.AGREES
    assert check(shot, Truth(facts=facts_of([action(Label.SHOT_OFF_TARGET, H)]))) is Finding.CONTRADICTS
    assert check(shot, Truth()) is Finding.UNKNOWN
    assert check(shot, Truth(complete=True)) is Finding.CONTRADICTS


@given(st.text(max_size=200))
@settings(max_examples=60, deadline=None)
def test_any_text_is_read_without_harm(text: str) -> None:
    for each in claims(text, sheet=SHEET):
        assert 0 <= each.span[0] < each.span[1] <= len(text)
        check(each, Truth(complete=True))


def captions_with_actions(folder: Path) -> list[tuple[dict[str, str], MatchSheet, list[Action]]]:
    """Real captions that lie within 10 s of labelled actions, with those within 20 s."""
    found = []
    for path in sorted(folder.rglob("Labels-caption.json")):
        labels = json.loads((path.parent / "Labels-v2.json").read_text(encoding="utf-8"))
        sheet = MatchSheet(home=labels["gameHomeTeam"], away=labels["gameAwayTeam"])
        actions = [
            action(Label(each["label"]), Side(each["team"]), int(each["gameTime"][0]), int(each["position"]) / 1000)
            for each in labels["annotations"]
        ]
        for row in json.loads(path.read_text(encoding="utf-8"))["annotations"]:
            at = MatchTime.parse(row["contrastive_aligned_gameTime"])
            near = [each for each in actions if each.at.half == at.half and abs(each.at.seconds - at.seconds) <= 20]
            found.append((row, sheet, near))
    return found


def test_real_captions_are_read_and_fit_their_class(soccernet: Path) -> None:
    """What a caption claims must fit the class that MatchTime gave it, on nearly all of those with such a claim."""
    wanted = {
        "corner": Act.CORNER, "off side": Act.OFFSIDE, "yellow card": Act.YELLOW, "substitution": Act.SUBSTITUTION,
        "foul with no card": Act.FOUL, "injury": Act.INJURY, "lead to corner": Act.CORNER,
    }  # fmt: skip
    read, fitting = Counter[str](), Counter[str]()
    for row, sheet, _ in captions_with_actions(soccernet):
        if row["class"] in wanted:
            placeholders = find(row["anonymized"], sheet, row["description"])
            made = {each.act for each in claims(row["anonymized"], placeholders=placeholders)}
            read[row["class"]] += 1
            fitting[row["class"]] += wanted[row["class"]] in made
    for kind in ("corner", "off side", "yellow card", "lead to corner"):
        assert fitting[kind] >= 0.9 * read[kind], (kind, fitting[kind], read[kind])
    for kind in ("substitution", "foul with no card", "injury"):
        assert fitting[kind] >= 0.7 * read[kind], (kind, fitting[kind], read[kind])


def test_real_claims_name_the_side_that_the_labels_name(soccernet: Path) -> None:
    """Near a labelled action of its kind, a real caption's claim has that action's side far more often than chance."""
    same = Counter[bool]()
    for row, sheet, near in captions_with_actions(soccernet):
        placeholders = find(row["anonymized"], sheet, row["description"])
        truth = Truth(facts=facts_of(near))
        for each in claims(row["anonymized"], placeholders=placeholders):
            kinds = {fact.side for fact in truth.facts if fact.act is each.act}
            if (
                each.act in (Act.CORNER, Act.OFFSIDE, Act.YELLOW, Act.GOAL)
                and len(kinds) == 1
                and each.side is not Side.NONE
            ):
                same[each.side in kinds] += 1
    assert same.total() > 500
    assert same[True] >= 0.95 * same.total(), same


def test_a_swapped_side_is_caught_on_real_captions(soccernet: Path) -> None:
    """The same captions with their sides exchanged contradict the labels."""
    rows = captions_with_actions(soccernet)
    random.Random(3).shuffle(rows)
    caught = Counter[bool]()
    for row, sheet, near in rows:
        placeholders = find(row["anonymized"], sheet, row["description"])
        truth = Truth(facts=facts_of(near))
        if not any(
            check(each, truth) is Finding.AGREES and each.side is not Side.NONE
            for each in claims(row["anonymized"], placeholders=placeholders)
        ):
            continue
        swapped = [Placeholder(token=each.token, side=each.side.other) for each in placeholders]
        findings = {check(each, truth) for each in claims(row["anonymized"], placeholders=swapped)}
        caught[Finding.CONTRADICTS in findings] += 1
    assert caught.total() > 500
    assert caught[True] >= 0.8 * caught.total(), caught
