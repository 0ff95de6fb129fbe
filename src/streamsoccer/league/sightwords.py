"""The wordings of clip captions.

{S} is a side (plural), {P} one of its players, {G} its goalkeeper; {O}, {OP} and {OG} the others'; {s} and {o} short.
{at} a place, {way} a direction, {end} left or right, {near} near or far: all as the picture has them; {d} metres.
"""

from __future__ import annotations

__all__ = ["BEATS", "CATCHWORDS", "CLOSE", "POSES", "STATES"]


def _lines(text: str) -> dict[str, tuple[str, ...]]:
    """'key: wording | wording', one key a line; a line that begins with '|' goes on."""
    rows = (line.partition(": ") for line in text.strip().replace("\n    |", " |").splitlines())
    return {key.strip(): tuple(each.strip() for each in lines.split(" | ")) for key, _, lines in rows}


BEATS = _lines("""
pass.one: {S} pass it {way} | {P} passes {way} | a pass {way} by {S} | {P} plays a short pass {way}
pass.more: {S} play {n} passes, moving {way} | {n} passes by {S}, {way} | {S} pass it around, {n} passes
    | {S} work it {way} with {n} passes
pass.long: {P} hits a long ball {way} | a long ball {way} from {S} | {S} play a high ball {way}
    | a long high pass by {S} goes {way}
pass.header: {P} heads it on | {S} head it {way} | a header by {S} goes {way}
pass.keeper throw: {G} throws it out | {G} rolls it out to a player {way} | the ball is thrown out by {G}
pass.keeper long: {G} kicks it long {way} | a long kick {way} by {G} | {G} launches it {way}
pass.keeper short: {G} passes it out {way} | a short pass by {G}
cross: {P} crosses from the {near} side | a cross into the area on the {end} by {S}
    | {S} cross from the {near} side on the {end} | a cross by {S} comes in from the {near} side
interception: {S} cut the pass out | {P} intercepts | {S} win it with an interception | the pass is intercepted by {S}
dribble: {P} goes past a man | {P} dribbles past {OP} | {P} beats {OP}
tackle.won: {P} wins the ball with a tackle | a tackle by {S} wins the ball | {S} win it with a tackle
tackle.lost: {P} pokes the ball loose | a challenge by {S} knocks the ball loose
clearance: {S} clear | {P} clears the ball {way} | a clearance by {S} | {S} kick it clear
clearance.header: {S} head it clear | {P} heads it away | a headed clearance by {S}
block: {S} block it | {P} blocks the ball | it is blocked by {S}
claim.held: {G} gathers the ball | {G} catches it | the ball is caught by {G}
claim.punched: {G} punches it clear | the ball is punched away by {G}
save.held: {G} holds a shot by {O} | a shot by {O} is caught by {G} | a save: {G} holds on to the shot by {O}
save.parried: {G} parries a shot by {O} | a shot by {O} is saved and pushed out by {G}
    | a save by {G} from {O}, the ball is loose
save.tipped: {G} tips a shot by {O} past the post | a shot by {O} is turned wide by {G}
    | a save: {G} pushes the shot by {O} aside
goal: the ball is in the net, a goal for {S} | {S} score, the ball hits the net | goal for {S} on the {end}
goal.own goal: the ball ends in the net off {OP}, a goal for {S} | own goal, {S} score
shot: {P} shoots {d} | a shot by {S} {d} | {S} shoot {d} | {P} strikes at goal {d}
shot.held: {P} shoots {d} and {OG} holds it | a shot by {S} {d} is caught by {OG} | {S} shoot, saved by {OG}
shot.parried: {P} shoots {d} and {OG} parries | a shot by {S} {d} is saved, {OG} pushes it out
    | {S} shoot {d}, saved by {OG}, the ball is loose
shot.tipped: {P} shoots {d} and {OG} tips it past the post | a shot by {S} {d} is turned aside by {OG}, a save
shot.blocked: {P} shoots {d} and {OP} blocks | a shot by {S} {d} is blocked by {O} | {S} shoot {d}, blocked
shot.goal: {P} shoots {d} and scores | a shot by {S} {d} goes in, a goal | goal for {S}: a shot {d} hits the net
    | {S} score with a shot {d}
shot.wide: {P} shoots {d}, wide of the goal | a shot by {S} {d} goes wide | {S} shoot {d} and miss, wide
    | {P} shoots past the post {d}
shot.over: {P} shoots {d}, over the bar | a shot by {S} {d} goes over | {S} shoot over the bar {d}
shot.post: {P} shoots {d} and hits the frame of the goal | a shot by {S} {d} comes back off the post
header: {P} heads at goal | a header at goal by {S} | {S} head towards goal
header.held: {P} heads at goal and {OG} holds it | a header by {S} is caught by {OG} | a header by {S}, saved by {OG}
header.parried: {P} heads at goal and {OG} parries | a header by {S} is saved and pushed out by {OG}
header.tipped: {P} heads at goal and {OG} tips it aside | a header by {S} is turned wide by {OG}, a save
header.blocked: a header by {S} is blocked by {O} | {P} heads at goal, {OP} blocks
header.goal: {P} heads in, a goal | a header by {S} goes in, a goal | goal for {S}: a header hits the net
header.wide: {P} heads wide | a header by {S} goes wide of the goal | {S} head it past the post
header.over: {P} heads over the bar | a header by {S} goes over
header.post: a header by {S} hits the frame of the goal | {P} heads against the post
free: {P} shoots from the free kick {d} | {S} shoot straight from the free kick {d}
free.held: the free kick by {S} is shot at goal, {OG} holds it | {P} shoots from the free kick {d}, saved by {OG}
free.parried: {P} shoots from the free kick {d}, {OG} pushes it out
    | the shot from the free kick by {S} is saved by {OG}
free.tipped: {P} shoots from the free kick {d}, {OG} tips it aside
    | the shot from the free kick by {S} is saved by {OG}
free.blocked: {P} shoots from the free kick {d} into the wall | the shot from the free kick by {S} is blocked by {O}
free.goal: {P} scores from the free kick {d} | goal for {S}, straight from the free kick
free.wide: {P} shoots the free kick wide {d} | the shot from the free kick by {S} goes wide
free.over: {P} shoots the free kick over the bar {d} | the shot from the free kick by {S} goes over
free.post: the shot from the free kick by {S} hits the frame of the goal
late.wide: a shot by {S} goes wide of the goal on the {end} | the ball flies past the post, a shot by {S}
late.over: a shot by {S} flies over the bar on the {end} | the ball goes over the bar, a shot by {S}
penalty: {P} takes a penalty on the {end} | a penalty by {S}
penalty.held: {P} takes a penalty, saved by {OG} | the penalty by {S} is saved, {OG} holds it
penalty.parried: {P} takes a penalty, saved by {OG} | the penalty by {S} is saved and pushed out by {OG}
penalty.tipped: {P} takes a penalty, saved by {OG} | the penalty by {S} is turned aside by {OG}
penalty.goal: {P} scores the penalty | the penalty by {S} goes in, a goal | goal for {S} from the penalty spot
penalty.wide: {P} puts the penalty wide | the penalty by {S} goes wide
penalty.over: {P} puts the penalty over the bar | the penalty by {S} goes over
penalty.post: the penalty by {S} hits the frame of the goal
out.touch: the ball goes out over the {near} touchline, off {S} | off {S} it goes out on the {near} side
    | out for a throw-in to {O} on the {near} side | {S} put it out over the {near} touchline
out.goal kick: the ball goes behind on the {end}, off {S} | it runs out over the {end} goal line, off {S}
    | out for a goal kick to {O} on the {end}
out.corner: the ball goes behind on the {end}, off {S} | off {S} it goes behind for a corner to {O}
    | {S} put it behind, a corner on the {end} for {O}
throw: {P} takes a throw-in {at} | a throw-in for {S} on the {near} side
    | {S} throw in from the {near} touchline, {at} | a throw-in by {S} {at}
corner: {S} take a corner from the {end}, {near} side | a corner by {S} on the {end}, from the {near} side
    | {P} takes the corner on the {end}
corner.cross: {S} swing in a corner from the {near} side on the {end}
    | a corner by {S} from the {end}, {near} side, comes into the area | {P} crosses the corner in on the {end}
corner.short: {S} take a short corner on the {end}, {near} side | a corner by {S} on the {end} is played short
goal kick: {G} takes a goal kick on the {end} | a goal kick for {S} on the {end}
goal kick.long: {G} takes a long goal kick from the {end} | a goal kick by {S} on the {end} goes long
    | a long goal kick {way} by {G}
goal kick.short: {G} plays a short goal kick on the {end} | a goal kick by {S} on the {end} is played short
free kick: {S} take a free kick {at} | a free kick by {S} {at}
free kick.cross: {S} swing a free kick into the area from {at0} | a free kick by {S} {at} is crossed in
    | {P} crosses a free kick towards goal on the {end}
free kick.short: {S} take a short free kick {at} | a free kick by {S} {at}, played short
    | {P} plays the free kick short {at}
free kick.long: {S} hit a free kick long {at} | a long free kick by {S} {at}
kick-off: {S} kick off from the centre spot | kick-off by {S} | a kick-off, {S} start
foul: a foul by {S}, {OP} goes down {at} | {P} fouls {OP} {at} | {OP} is brought down by {P}, a foul {at}
    | the referee blows for a foul by {S} {at}
foul.area: a foul by {S} in the area on the {end}, {OP} goes down | {P} brings {OP} down in the penalty area, a foul
offside: the flag is up, {S} are offside | offside, the assistant flags against {S} | {P} is flagged offside {at}
yellow: the referee shows a yellow card to {P} | a yellow card for {S} | yellow card, {P} is booked
second: the referee shows a second yellow card to {P}, then a red | {P} is sent off with a second yellow card
red: the referee shows a red card to {P} | a red card for {S}, {P} is sent off
substitution: the fourth official holds up the board for a change by {S} | a change for {S}, the board is up
""")

# The same in two or three words.
CATCHWORDS = _lines("""
pass.one: pass {s} {way}
pass.more: {n} passes {s}
pass.long: long ball {s} {way}
pass.header: header on {s}
pass.keeper throw: keeper {s} throws out
pass.keeper long: keeper {s} kicks long
pass.keeper short: keeper {s} passes out
cross: cross {s}, {near} side
interception: interception {s}
dribble: dribble {s}
tackle.won: tackle won {s}
tackle.lost: challenge {s}
clearance: clearance {s}
clearance.header: headed clearance {s}
block: block {s}
claim.held: keeper {s} catches
claim.punched: keeper {s} punches
save.held: save {s}, held
save.parried: save {s}, parried
save.tipped: save {s}, tipped wide
goal: goal {s}
goal.own goal: own goal, goal {s}
shot: shot {s}
header: header at goal {s}
free: shot from free kick {s}
late: shot {s}
penalty: penalty {s}
out.touch: out {near} side, off {s} | throw-in to {o}
out.goal kick: out behind {end}, off {s} | out, goal kick {o}
out.corner: out behind {end}, off {s} | out, corner to {o}
throw: throw-in {s}, {near} side
corner: corner {s}, {end} {near} side
corner.cross: corner {s}, {end} {near} side, swung in
corner.short: short corner {s}, {end}
goal kick: goal kick {s}, {end}
goal kick.long: long goal kick {s}
goal kick.short: short goal kick {s}
free kick: free kick {s} {at}
free kick.cross: free kick {s} crossed in
free kick.short: short free kick {s} {at}
free kick.long: long free kick {s}
kick-off: kick-off {s}
foul: foul by {s} {at}
foul.area: foul by {s} in the area, {end}
offside: offside {s}, flag up
yellow: yellow card {s}
second: second yellow card {s}, sent off
red: red card {s}
substitution: change {s}, board up
held: saved, held
parried: saved, parried
tipped: saved, tipped wide
blocked: blocked
goal!: goal
wide: wide
over: over
post: off the post
""")

STATES = _lines("""
play: {S} have the ball {at} | {S} in possession {at} | {P} on the ball {at} | the ball is with {S} {at}
play.moves: {S} have the ball {at} and move {way} | {S} carry it {way}, {at} | {P} runs {way} with the ball {at}
    | {S} in possession {at}, going {way}
flight: the ball flies {way} | a ball in the air goes {way} | the ball travels {way}
loose: the ball is loose {at} | nobody has the ball {at}
keeper: {G} has the ball in his hands | {G} holds the ball | the ball is in the hands of {G} on the {end}
stopped: play is stopped | the game stands still, players walk | a pause, the players walk to their places
    | play has stopped {at}
joy: {S} celebrate | players of {S} celebrate together
down: {P} lies on the ground {at} | play is stopped, {P} is down
ready.throw: {P} waits to take a throw-in on the {near} side | {S} hold the ball for a throw-in {at}
    | throw-in for {S} about to be taken, {near} touchline
ready.corner: {S} are about to take a corner on the {end}, {near} side
    | players wait in the area for a corner by {S} on the {end} | a corner for {S} is set on the {end}
ready.goal kick: {G} waits to take a goal kick on the {end} | a goal kick for {S} is set on the {end}
    | the ball lies ready for a goal kick by {S}
ready.free kick: {S} stand over a free kick {at} | a free kick for {S} is set {at}
    | the ball lies ready for a free kick by {S} {at}
ready.penalty: {P} waits to take a penalty on the {end}
    | the ball is on the penalty spot on the {end}, a penalty for {S}
ready.kick-off: {S} are ready to kick off | the ball lies on the centre spot, kick-off for {S}
""")

CLOSE = _lines("""
player: a close-up of {P}{pose} | close-up: {P}{pose} | {P} in close-up{pose} | a close view of {P}{pose}
keeper: a close-up of {G}{pose} | close-up: {G}{pose} | {G} in close-up{pose}
referee: a close-up of the referee{pose} | close-up: the referee{pose}
board: a close-up of the fourth official with the substitution board
    | close-up: the fourth official holds up the board for a change
""")

POSES = _lines("""
walk: walking | on the move
run: running
stand: standing
celebrate: celebrating | celebrating with raised arms
lie: lying on the ground
protest: protesting | arguing
hold: with the ball in his hands
point: pointing
card.yellow: showing a yellow card | who shows a yellow card
card.red: showing a red card | who shows a red card
""")
