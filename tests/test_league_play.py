"""The simulated match keeps the laws, repeats itself, and never lets the future touch the past."""

import subprocess
import sys
from collections import Counter
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from streamsoccer.actions import Label
from streamsoccer.clock import MatchTime
from streamsoccer.domain import Side
from streamsoccer.errors import UsageError
from streamsoccer.league.ball import Ball, flight_speed, ground_speed, path, shot_velocity
from streamsoccer.league.labels import label_file
from streamsoccer.league.match import Match
from streamsoccer.league.names import WORDS, WorldName
from streamsoccer.league.pitch import chance
from streamsoccer.league.truth import HZ, Deed, DeedKind, Outcome, Pose, Trace
from streamsoccer.league.world import FORMATIONS, Role, fixture, world

MINUTES = 8.0


@cache
def played(seed: int = 5) -> Match:
    match = Match(seed, minutes=MINUTES)
    assert match.halves
    return match


def deeds(match: Match) -> list[tuple[Trace, Deed]]:
    return [(trace, deed) for trace in match.halves for deed in trace.deeds]


def fingerprint(match: Match) -> str:
    import hashlib

    digest = hashlib.sha256()
    for trace in match.halves:
        for array in (trace.ball, trace.people, trace.facing, trace.pose, trace.live, trace.holder):
            digest.update(array.tobytes())
        digest.update(repr(trace.deeds).encode())
    return digest.hexdigest()


# --- worlds ----------------------------------------------------------------------------------------------------------


def test_the_three_worlds_share_no_part_of_a_name_and_no_club() -> None:
    for part in ("first", "stems", "endings", "places", "place_endings", "countries", "clubs"):
        lists = [{each.lower() for each in getattr(words, part)} for words in WORDS.values()]
        for n, mine in enumerate(lists):
            for theirs in lists[n + 1 :]:
                assert not mine & theirs, part
    clubs = [{club.name for club in world(name).clubs} for name in WorldName]
    assert sum(map(len, clubs)) == len(set().union(*clubs))


def test_a_squad_is_eleven_of_the_formation_and_a_bench() -> None:
    for club in world(WorldName.TRAIN).clubs:
        roles = [player.role for player in club.squad]
        assert len(roles) == 18
        assert roles[0] is Role.GOALKEEPER
        assert roles[1:11] == [role for role, _, _ in FORMATIONS[club.formation]]
        assert len({player.number for player in club.squad}) == 18
        assert len({player.hash for player in club.squad}) == 18
        assert sum(player.captain for player in club.squad) == 1


def test_a_league_repeats_no_fixture_before_all_have_met() -> None:
    pairs = {(each.home.name, each.away.name) for each in (fixture(WorldName.TEST, 3, n) for n in range(200))}
    assert len(pairs) == 200
    assert fixture(WorldName.TEST, 3, 7) == fixture(WorldName.TEST, 3, 7)


# --- the ball --------------------------------------------------------------------------------------------------------


def test_a_rolling_ball_slows_down_and_stops() -> None:
    ball = Ball()
    ball.kick(12.0, 0.0)
    way = path(ball, 150)
    assert np.all(np.diff(way[:, 0]) >= 0)
    assert way[-1, 0] - way[-2, 0] < 0.01
    assert 20 < way[-1, 0] < 57


@pytest.mark.parametrize("distance", [8.0, 20.0, 35.0, 50.0])
@pytest.mark.parametrize("degrees", [38, 46])
def test_a_lofted_ball_comes_down_where_it_was_meant(distance: float, degrees: int) -> None:
    speed = flight_speed(distance, degrees)
    ball = Ball()
    ball.put(-25.0, 0.0)
    ball.kick(speed * np.cos(np.radians(degrees)), 0.0, speed * np.sin(np.radians(degrees)))
    way = path(ball, 60)
    rise = np.diff(way[:, 2])
    bounce = int(np.argmax((rise[:-1] < 0) & (rise[1:] >= 0))) + 1
    assert abs(way[bounce, 0] + 25.0 - distance) < 5.0


@given(st.floats(3, 50), st.floats(2, 15))
def test_a_pass_along_the_ground_is_struck_harder_the_farther(distance: float, arrive: float) -> None:
    assert ground_speed(distance + 1, arrive) > ground_speed(distance, arrive) >= arrive


@given(st.floats(6, 22), st.floats(-3, 3), st.floats(0.2, 2.2), st.floats(20, 30))
@settings(max_examples=40)
def test_a_shot_arrives_where_it_was_aimed(distance: float, y: float, z: float, speed: float) -> None:
    vx, vy, vz, seconds = shot_velocity((52.5 - distance, 0.0), (52.5, y, z), speed)
    ball = Ball()
    ball.put(52.5 - distance, 0.0)
    ball.kick(vx, vy, vz)
    x0, y0, z0 = ball.x, ball.y, ball.z
    for _ in range(int(seconds * HZ) + 2):
        ball.step()
        if ball.x >= 52.5:
            part = (52.5 - x0) / (ball.x - x0)
            assert abs(y0 + part * (ball.y - y0) - y) < 0.8
            assert abs(z0 + part * (ball.z - z0) - z) < 0.9
            return
        x0, y0, z0 = ball.x, ball.y, ball.z
    raise AssertionError("it never got there")


def test_a_chance_is_better_nearer_and_more_central() -> None:
    assert chance(46, 0) > chance(40, 0) > chance(30, 0)
    assert chance(42, 0) > chance(42, 12)


# --- the match -------------------------------------------------------------------------------------------------------


def test_arrays_fit_and_bodies_move_as_bodies_can() -> None:
    for trace in played().halves:
        steps = trace.steps
        assert steps >= MINUTES * 60 * HZ
        assert trace.people.shape == (steps, 25, 2)
        assert np.nanmax(np.abs(trace.people[..., 0])) <= 58
        assert np.nanmax(np.abs(trace.people[..., 1])) <= 38.6
        moved = np.linalg.norm(np.diff(trace.people, axis=0), axis=2) * HZ
        assert np.nanquantile(moved, 0.9999) < 10.5, "faster than any sprinter"
        assert (trace.pose <= max(Pose)).all()
        assert {int(each) for each in np.unique(trace.holder)} <= set(range(-1, 22))


def test_state_is_whole_millimetres() -> None:
    trace = played().halves[0]
    rounded = np.round(trace.ball.astype(np.float64), 3).astype(np.float32)
    assert np.array_equal(rounded, trace.ball)


def test_deeds_come_in_order_and_name_people_who_are_there() -> None:
    for trace in played().halves:
        steps = [deed.step for deed in trace.deeds]
        assert steps == sorted(steps)
        for deed in trace.deeds:
            if deed.slot is not None and deed.kind not in (DeedKind.RED, DeedKind.SECOND_YELLOW):
                assert deed.player is not None
            assert 0 <= deed.at <= trace.seconds
        assert trace.deeds[0].label is Label.SUBSTITUTION or trace.deeds[0].kind is DeedKind.KICK_OFF
        assert trace.deeds[-1].kind is DeedKind.PERIOD_END


def test_the_score_is_the_goals_and_tallies_never_fall() -> None:
    match = played()
    goals = Counter(deed.side for _, deed in deeds(match) if deed.kind is DeedKind.GOAL)
    assert match.score == (goals[Side.HOME], goals[Side.AWAY])
    before = [0] * 2
    for _, deed in deeds(match):
        for n, tally in enumerate(deed.tallies):
            total = sum(getattr(tally, name) for name in tally.__dataclass_fields__)
            assert total >= before[n]
            before[n] = total
            assert tally.goals == deed.score[n]
            assert tally.substitutions <= 3


@pytest.mark.parametrize("seed", [5, 6])
def test_what_follows_a_stoppage_is_what_the_laws_say(seed: int) -> None:
    restarts = {
        DeedKind.THROW_IN,
        DeedKind.CORNER,
        DeedKind.GOAL_KICK,
        DeedKind.FREE_KICK,
        DeedKind.PENALTY,
        DeedKind.KICK_OFF,
    }
    stops = {DeedKind.BALL_OUT, DeedKind.FOUL, DeedKind.OFFSIDE, DeedKind.GOAL}
    for trace in played(seed).halves:
        stop: Deed | None = None
        for deed in trace.deeds:
            if deed.kind in stops and not deed.detail.get("stopped"):
                stop = deed
            elif deed.kind in restarts and stop is not None:
                if stop.kind is DeedKind.BALL_OUT:
                    line = stop.detail["line"]
                    assert deed.side is not stop.side or deed.kind is DeedKind.GOAL_KICK
                    assert deed.kind in (
                        {DeedKind.THROW_IN} if line == "touch" else {DeedKind.CORNER, DeedKind.GOAL_KICK}
                    )
                elif stop.kind is DeedKind.GOAL:
                    assert deed.kind is DeedKind.KICK_OFF
                    assert deed.side is stop.side.other
                else:
                    assert deed.kind in (DeedKind.FREE_KICK, DeedKind.PENALTY)
                    assert deed.side is stop.side.other
                stop = None


def test_no_pass_goes_to_a_man_who_was_sent_off_and_nobody_plays_twice() -> None:
    for trace in played().halves:
        on: dict[int, int | None] = {}
        for shirt in trace.shirts:
            on[shirt.slot] = shirt.player
        for side in (0, 1):
            numbers = [on[slot] for slot in range(11 * side, 11 * side + 11) if on[slot] is not None]
            assert len(numbers) == len(set(numbers))


def test_a_label_is_of_the_side_that_soccernet_names() -> None:
    for _, deed in deeds(played()):
        if deed.label is Label.BALL_OUT:
            assert deed.label_side is Side.NONE
        elif deed.label is not None:
            assert deed.label_side is deed.side is not Side.NONE
        if deed.kind is DeedKind.GOAL_KICK:
            assert deed.label is Label.CLEARANCE, "SoccerNet's Clearance is the goal kick"
        if deed.kind is DeedKind.CLEARANCE:
            assert deed.label is None


def test_a_goal_comes_with_its_shot_on_target() -> None:
    for seed in (5, 6):
        for trace in played(seed).halves:
            for n, deed in enumerate(trace.deeds):
                if deed.kind is DeedKind.GOAL and not deed.detail["own_goal"] and deed.detail.get("distance"):
                    shot = next(each for each in reversed(trace.deeds[:n]) if each.kind is DeedKind.SHOT)
                    assert shot.label is Label.SHOT_ON_TARGET
                    assert shot.outcome is Outcome.GOAL
                    assert deed.step - shot.step < 4 * HZ


# --- the same again, and nothing from the future ---------------------------------------------------------------------


def test_the_same_seed_plays_the_same_match_in_another_process() -> None:
    code = (
        "import sys; sys.path.insert(0, 'tests'); from test_league_play import fingerprint, MINUTES; "
        "from streamsoccer.league.match import Match; print(fingerprint(Match(5, minutes=MINUTES)))"
    )
    root = __file__.rpartition("/tests/")[0]
    other = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=root)
    assert other.stdout.strip() == fingerprint(played())
    assert fingerprint(Match(7, minutes=2)) != fingerprint(Match(8, minutes=2))


def known(trace: Trace, step: int) -> list[object]:
    return [(each.step, each.kind, each.slot, each.label, each.score) for each in trace.deeds if each.step < step]


def early_labels(match: Match, seconds: float) -> list[dict[str, str]]:
    rows = label_file(match)["annotations"]
    return [row for row in rows if row["gameTime"].startswith("1") and int(row["position"]) < seconds * 1000]


@pytest.mark.parametrize("seconds", [61.0, 200.2, 401.4])
def test_what_comes_later_changes_nothing_before(seconds: float) -> None:
    plain = played().halves[0]
    other_match = Match(5, minutes=MINUTES, perturb_at=MatchTime(1, seconds))
    other = other_match.halves[0]
    step = round(seconds * HZ)
    for name in ("ball", "people", "facing", "pose", "live", "holder"):
        mine, theirs = getattr(plain, name)[:step], getattr(other, name)[:step]
        assert np.array_equal(mine, theirs, equal_nan=mine.dtype.kind == "f"), name
    assert not np.array_equal(plain.ball[step:][:600], other.ball[step:][:600]), "the perturbation did something"
    # What a deed came to may be known later; that it happened, and its label, may not.
    keep = [(each.step, each.kind, each.slot, each.label, each.score) for each in plain.deeds if each.step < step]
    assert keep == [
        (each.step, each.kind, each.slot, each.label, each.score) for each in other.deeds if each.step < step
    ]
    cut = seconds * 1000 - 1000
    rows, others = (
        [r for r in label_file(m)["annotations"] if r["gameTime"][0] == "1"] for m in (played(), other_match)
    )
    early = [row for row in rows if int(row["position"]) < cut]
    assert early == [row for row in others if int(row["position"]) < cut]


@pytest.mark.parametrize(
    "given_",
    [{"seed": -1}, {"seed": 1, "minutes": 0}, {"seed": 1, "minutes": 90}, {"seed": 1, "world": "moon"}],
)
def test_a_match_that_cannot_be_is_refused(given_: dict[str, object]) -> None:
    with pytest.raises(UsageError):
        Match(**given_)  # type: ignore[arg-type]
