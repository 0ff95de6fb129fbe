"""How fast a match is played and written down, on one core, beside the time it lasts; prints ratios.

python benchmarks/league.py [--matches 3]
"""

from __future__ import annotations

import argparse
import cProfile
import pstats

from streamsoccer.clock import WallClock
from streamsoccer.league.labels import label_file
from streamsoccer.league.match import Match


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--matches", type=int, default=3)
    parser.add_argument("--profile", action="store_true", help="where the time goes, instead")
    asked = parser.parse_args()
    if asked.profile:
        profile = cProfile.Profile()
        profile.enable()
        Match(0).halves  # noqa: B018
        profile.disable()
        pstats.Stats(profile).sort_stats("tottime").print_stats(25)
        return
    clock = WallClock()
    steps, seconds, best = 0, 0.0, 1e9
    for seed in range(asked.matches):
        match = Match(seed)
        start = clock.now()
        halves = match.halves
        took = clock.now() - start
        count = sum(trace.steps for trace in halves)
        steps, seconds, best = steps + count, seconds + took, min(best, took / count)
    start = clock.now()
    label_file(match)
    writing = clock.now() - start
    lasts = steps / 5
    print(f"a step of the simulation   {seconds / steps * 1e3:7.3f} ms mean, {best * 1e3:.3f} ms in the fastest match")
    print(f"a clip of 4 s              {seconds / steps * 20 * 1e3:7.2f} ms of play alone")
    print(f"a match                    {seconds / asked.matches:7.2f} s, {lasts / seconds:,.0f} times faster than real")
    print(f"labels and direction       {writing:7.2f} s a match")


if __name__ == "__main__":
    main()
