"""What a line tells of earlier, and what it lists: read as claims and settled."""

from __future__ import annotations

import pytest

from streamsoccer.actions import Label
from streamsoccer.claims import Act, Claim, Kind, Outcome, claims
from streamsoccer.clock import MatchTime
from streamsoccer.domain import Action, Placeholder, Side, Tally
from streamsoccer.settle import Fact, Finding, Truth, check

H, A = Side.HOME, Side.AWAY


def said(text: str, *sides: Side) -> list[Claim]:
    return claims(text, placeholders=[Placeholder(token="[TEAM]", side=side) for side in sides])


def told(text: str, *sides: Side) -> list[tuple[Kind, Act | None, Side, int | None, float | None]]:
    return [(each.kind, each.act, each.side, each.count, each.minutes) for each in said(text, *sides)]


@pytest.mark.parametrize(
    "text",
    [
        "Another corner for [TEAM], about six minutes after an earlier one; it is their third of the match.",
        "[TEAM] take another corner: their third of the match, about six minutes after an earlier one.",
        "[TEAM] take another corner. It is their third of the match, and an earlier one came about six minutes ago.",
        "[TEAM] take another corner, and that makes three corners in the match; an earlier one was six minutes ago.",
        "Another corner for [TEAM], the third for them in this match, about six minutes on from an earlier one.",
    ],
)
def test_the_next_of_its_kind_its_number_and_the_one_before(text: str) -> None:
    assert sorted(told(text, A), key=repr) == sorted(
        [
            (Kind.ACTION, Act.CORNER, A, None, None),
            (Kind.COUNT, Act.CORNER, A, 3, None),
            (Kind.EARLIER, Act.CORNER, A, None, 6.0),
        ],
        key=repr,
    )


def test_labels_and_cards_are_counted_as_what_they_are() -> None:
    text = "Another shot on target from [TEAM]: their fourth of the match, about nine minutes after an earlier one."
    count = next(each for each in said(text, H) if each.kind is Kind.COUNT)
    assert (count.act, count.outcome, count.label) == (Act.SHOT, Outcome.ON_TARGET, Label.SHOT_ON_TARGET)
    assert (Kind.COUNT, Act.CARD, H, 3, None) in told("Another card for [TEAM]. It is their third of the match.", H)


def test_lists_of_the_last_minutes_are_read_thing_by_thing() -> None:
    text = (
        "In the last two minutes, [TEAM] have had a shot off target and two throw-ins, while [TEAM] have had a corner."
    )
    assert sorted(told(text, H, A), key=repr) == sorted(
        [
            (Kind.ACTION, Act.SHOT, H, None, None),
            (Kind.COUNT, Act.THROW_IN, H, 2, 2.0),
            (Kind.ACTION, Act.CORNER, A, None, None),
        ],
        key=repr,
    )
    # A card of an earlier time is no list of minutes.
    assert all(each.kind is not Kind.COUNT for each in said("[TEAM] have had a corner.", H))


def test_what_is_told_of_earlier_is_settled_by_the_past() -> None:
    corners = [Fact(act=Act.CORNER, side=A, half=1, second=at, label=Label.CORNER) for at in (100.0, 900.0, 1300.0)]
    tally = Tally()
    for each in corners:
        at = MatchTime(1, each.second)
        tally = tally.plus(Action(label=Label.CORNER, side=A, at=at, available_at=at))
    truth = Truth(facts=(corners[-1],), past=tuple(corners), tally=tally, complete=True, at=(1, 1310.0))

    def findings(text: str, side: Side = A) -> dict[Kind, Finding]:
        return {each.kind: check(each, truth) for each in said(text, side)}

    right = "Another corner for [TEAM], about seven minutes after an earlier one; it is their third of the match."
    assert set(findings(right).values()) == {Finding.AGREES}
    assert set(findings(right, H).values()) == {Finding.CONTRADICTS}
    late = findings(right.replace("seven", "twelve"))
    assert late[Kind.EARLIER] is Finding.CONTRADICTS and late[Kind.COUNT] is Finding.AGREES
    assert findings(right.replace("third", "fourth"))[Kind.COUNT] is Finding.CONTRADICTS
    first = Truth(facts=(corners[0],), past=(corners[0],), at=(1, 110.0))
    (claim,) = (each for each in said("Another corner for [TEAM].", A) if each.kind is Kind.EARLIER)
    assert check(claim, first) is Finding.CONTRADICTS and check(claim, truth) is Finding.AGREES
    assert check(claim, Truth()) is Finding.UNKNOWN


def test_counts_of_minutes_end_when_they_are_said() -> None:
    fouls = tuple(Fact(act=Act.FOUL, side=H, half=1, second=at, label=Label.FOUL) for at in (300.0, 380.0))
    (claim,) = said("In the last two minutes, [TEAM] have committed two fouls.", H)
    assert check(claim, Truth(past=fouls, at=(1, 400.0))) is Finding.AGREES
    assert check(claim, Truth(past=fouls, at=(1, 430.0))) is Finding.CONTRADICTS
