"""How corners, free kicks, penalties and throw-ins are told."""

TEXT = """
@corner
[end=cleared/claimed/out/none] *2 {P} {swings} the corner {in}, but {corner.end}.
[end=cleared/claimed/out/none] *2 {P} takes the corner, but {corner.end}.
*2 {P} takes the corner. {Corner.end}.
{P} {swings} the corner {in}. {Corner.end}.
The corner from {P} {corner.verb}.
{P}'s {teasing} corner {corner.verb}.
~ A {teasing} corner from {P} {corner.verb}.
The resulting corner, taken by {P}, {corner.verb}.
[flank=left,end=cleared/claimed/out/none] From the left, {P} {swings} the corner {in}, but {corner.end}.
[flank=right,end=cleared/claimed/out/none] From the right, {P} {swings} the corner {in}, but {corner.end}.
[flank=left] {P} trots over to the left to take the corner. {Corner.end}.
[flank=right] {P} trots over to the right to take the corner. {Corner.end}.
~ {P} places the ball in the quadrant and {swings} the corner {in}; {corner.end}.
~ [end=cleared/claimed/out/none] Bodies jostle as {P} {swings} the corner {in}, but {corner.end}.
[end=short] *2 {P} {takes short}.
[end=short] *2 {P} {takes short} rather than {swinging}.
[end=short] {T} {take short}, looking for a better angle.
[end=short] No cross this time: {P} {takes short}.
[end=shot,R] {P} {swings} the corner {in} and finds {R}, who has a go at goal.
[end=shot,R] The corner from {P} reaches {R}, who tries his luck.
[end=shot,R] {P}'s {teasing} corner picks out {R}.
~ [end=shot,R] {R} is the target as {P} {swings} the corner {in}.
[end=goal,R] {P}'s {teasing} corner leads to a goal.
[end=won,R] {P} {swings} the corner {in} and {R} gets to it first.
[end=won,R] {P}'s {teasing} corner finds {R}, and {T} keep the attack alive.
[end=out] {P} {swings} the corner {in}, but it is too {heavy} and goes straight out of play.
[end=out] {P} takes the corner, but it is too {heavy} and drops behind.

@takes short
takes the corner short
plays a short corner
works the corner short
opts for a short corner
keeps it short from the corner
rolls the corner to a team-mate nearby
~ goes short with the corner
taps the corner to the nearest shirt

@take short
take a short corner
play the corner short
work the corner short
~ try a rehearsed short corner

@swinging
swinging it over
launching it into the box
lofting it into the middle
crossing first time
~ slinging it into the mixer
trying his luck in the air

@swings
swings
whips
sends
curls
floats
~ drives
delivers
lofts
bends
clips
fires
hangs
~ arcs
~ dispatches
~ lifts
drops

@in
in
into the box
into the penalty area
towards the near post
~ towards the far post
to the penalty spot
into the six-yard area
into a crowded area
into the middle
deep
into the danger zone
~ into the melee
under the bar

@heavy
heavy
long
strong
high
deep
~ ambitious
firm
flat

@corner.end
[end=cleared,X] {X} {clears}
[end=cleared,X] {X} {clears} for {O}
[end=cleared,X] it is {cleared} by {X}
[end=cleared] a defender {clears}
[end=cleared] the defence {clears}
[end=cleared] one of the defenders {clears}
[end=cleared] it is {cleared}
~ [end=cleared] it is {cleared} by the defence
~ [end=cleared] it is {cleared} without a backward glance
~ [end=claimed,K] {K} {claims} it
[end=claimed,K] {K} comes off his line and {claims} it
[end=claimed,K] {K} {claims} the ball {easily}
[end=claimed,K] {K} rises above the crowd and {claims} it
[end=claimed] the goalkeeper {claims} it {easily}
[end=out] it is too {heavy} and sails out of play
[end=out] it is too {heavy} and nobody can reach it
[end=none] nothing comes of it
~ [end=none] it comes to nothing
~ [end=none] {O} deal with it
[end=none] {O} stand firm
[end=none] nobody can apply the finishing touch
~ [end=none] it amounts to very little
[end=none] the chance fizzles out
[end=shot,R] {R} is the one to reach it and has a go
[end=won,R] {R} is the one to reach it

@Corner.end
{corner.end}
{corner.end}
[end=cleared] The defence {clears}
[end=cleared] {easy!}, as a defender {clears}
[end=claimed,K] {K} {claims} it {easily}
[end=none] It comes to nothing

@easy!
No panic
Little danger
No problem
Textbook defending
~ Job done

@corner.verb
[end=cleared] is {cleared}
[end=cleared] is {cleared} by the defence
[end=cleared,X] is {cleared} by {X}
[end=cleared] does not cause any panic and is {cleared}
[end=cleared] is {cleared} before it can cause any trouble
[end=claimed,K] is claimed by {K}
[end=claimed,K] drops into the arms of {K}
[end=claimed] is gathered by the goalkeeper
[end=out] is {heavy} and drifts out of play
[end=none] comes to nothing
[end=none] creates no chance
~ [end=none] peters out
[end=shot,R] reaches {R}
[end=won,R] is won by {R}
[end=goal] leads to a goal

@clears
clears
clears the ball {away}
heads it clear
heads the ball {away}
hacks it clear
boots it clear
gets it clear
clears his lines
clears the danger
heads clear
~ averts the danger
clears with {ease}
clears {easily}
hooks the ball clear
~ belts it clear
~ lumps it clear
thumps it clear
makes a {good} clearance
heads away

@ease
ease
conviction
the minimum of fuss
a mighty header
a swing of the boot
~ gusto
no nonsense

@away
away
to safety
out of danger
upfield
~ up the pitch
~ into midfield
downfield

@good
good
timely
~ towering
firm
~ decisive
hurried
strong
vital
~ no-frills
desperate
well-timed
~ crucial
thumping
untidy

@cleared
cleared
headed clear
headed away
cleared {away}
easily cleared
hacked clear
hurriedly cleared
well cleared
comfortably cleared
booted clear
~ unceremoniously cleared
hooked clear
smartly cleared

@claims
claims
gathers
catches
collects
plucks
grabs
punches
~ snaffles

@corner.tail
{corner count}
{corner count}
{set piece}
{set piece}

@corner count
[corners>=2,corners<=12] For {T} that was the {corners:th} corner of the match.
[corners>=2,corners<=12] It was the {corners:th} corner for {T}.
[corners>=2,corners<=12] {T} have now had {corners:n} corners.
[corners=1] {T} have had their first corner of the game.
[corners=1] That was the first corner for {T}.
[corners lately>=2] {T} have had their {corners lately:th} corner in {lately} minutes.
[corners lately>=3] That is the {corners lately:th} corner for {T} in the last {lately} minutes.
~ [corners>=2,corners<=12] {T} bring their tally to {corners:n} corners.
[corners half>=2,corners<=12] {T} are on their {corners half:th} corner of the half.

@set piece
Set pieces have been a theme.
[end=cleared/claimed/none/out] The blocking runs were cleverly disguised.
[end=cleared/claimed/none/out] The trajectory was too flat to be useful.
[end=cleared/claimed/none/out] Traffic in the box prevented anything cleaner.
Jostling throughout, but the whistle stayed silent.
Variation would make these more dangerous.
The analysts will not be impressed with that.
The screening player did his duty.
Neither creative nor harmful.
Careful organisation beats improvisation.
The captain demands more aggression from the attackers.
An unorthodox routine, if it was one.
~ Somebody ought to have gambled at the back stick.
Physical battles are breaking out everywhere.
~ [end=cleared/claimed/none/out] The aerial specialists were well shackled.
Repetition has made it predictable.
~ Plenty of grappling, nothing illegal.
[end=cleared/claimed/none/out] A crowd of shirts, a forest of arms.
[end=cleared/claimed/none/out] The taker looks disappointed with his contact.
[end=cleared/claimed/none/out] An outswinger might have asked more questions.
[end=cleared/claimed/none/out] The wind held it up a little.
[end=cleared/claimed/none/out] There was a queue at the far post.
[end=cleared/claimed/none/out] Height is not everything, as that proved.
Delivery is an art, and this was a sketch.
[end=cleared/claimed/none/out] The markers stuck to their task.
[end=cleared/claimed/none/out] A decoy run fooled no one.
The goalmouth was congested.
~ The second ball is just as important.
Rehearsed or improvised, it did not come off.
Every set piece is an invitation, few are accepted.
The stands rose in anticipation, then sat down again.
~ The choreography needs polishing.
~ A masterclass in how to mark space.
~ Pure pinball in there.
The big men had come up for it.
The routine looked rehearsed.
[level] At {score}, such moments matter.
[margin=-1] {T}, a goal behind, needed more from that.
[margin=1] {T} lead {own}, and nobody is in a hurry.
~ The delivery (could have been better|left something to be desired|deserved more|was hardly a threat).
[end=cleared] {O} defended that zonally, and it worked.
[end=cleared] First contact matters, and {O} made it.
[end=claimed] The goalkeeper is commanding in the air.
[end=claimed] Aerial duels like that are bread and butter for him.
~ [end=cleared] Back to the drawing board.
~ The training ground will hear about that one.
[end=cleared/claimed/none/out] Nobody attacked the near post.
~ [end=cleared/claimed/none/out] Only a modest delivery.

@lead to corner
*2 {P} {corner.won}. {won.corner}
*2 {P} {corner.try}, but {corner.stop}. {won.corner}
{corner.stop:cap} after {P} {corner.tried}. {won.corner}
[by=shot] *2 {P} {meets} and {strikes}, but {shot.behind}. {won.corner}
[by=shot] {P} {strikes}, but {shot.behind}. {won.corner}
[by=shot,Q] {Q} {supplies} {P}, who {strikes}, but {shot.behind}. {won.corner}

@corner.won
[by=cross,X] sees his {teasing} cross turned behind by {X}
[by=cross] sees his {teasing} cross blocked and deflected out
[by=pass,X] sees his {weighted} pass diverted behind by {X}
[by=pass] cannot find the killer ball, but it spins out off an opponent
[by=pass] has his {weighted} pass deflected over the goal line
[by=dribble,X] runs at {X}, who sticks out a leg and concedes the corner
[by=dribble,X] is tackled by {X} near the byline
[by=dribble] takes on his man down the {flank} and forces the ball behind
[by=other,X] gets no change out of {X}, who sends it behind
[by=other] forces the issue and the ball goes behind off an opponent
~ [by=cross] sends in a {teasing} cross and gains a yard of territory, the ball clipping a shin on its way out
~ [by=pass] probes with a {weighted} pass that strikes a heel and rolls out
[by=shot,outcome=blocked] has a go and the ball flies out off a defender
[by=shot,outcome=blocked] sees his {fierce} shot blocked, and it spins behind
[by=shot,outcome=blocked,X] shoots, and a block by {X} sends the ball behind
[by=shot,outcome=saved,K] forces {K} to turn a {fierce} effort behind
[by=shot,outcome=saved,K] draws a {fine} save from {K}, and it drops behind

@corner.try
[by=cross] sends in a {teasing} cross
[by=cross] {swings} a {teasing} cross {in}
[by=cross] looks for a head in the middle with a {teasing} cross
[by=cross,flank=left] crosses from the left
[by=cross,flank=right] crosses from the right
[by=pass] tries to {slide} a {weighted} pass into the area
[by=pass] attempts a {weighted} pass
[by=pass] looks for a team-mate with a {weighted} pass
[by=dribble] sets off on a run
[by=dribble] tries to go past his man
[by=dribble] takes on his marker
[by=other] presses forward
[by=other] tries to make something happen
[by=shot] tries a {fierce} shot
~ [by=cross] hangs up a {teasing} ball from out wide
~ [by=dribble] drops his shoulder and drives at the back line

@slide
slide
thread
squeeze
force
~ poke
slip
~ smuggle
play
stroke
work

@corner.stop
[X] {X} puts it behind
[X] {X} gets a touch and concedes the corner
[X] {X} turns it behind
[X] {X} knocks it out
[X] {X} slides in and puts it out
[X] {X} intervenes at the last moment
[X] {X} sticks out a boot
~ a defender puts it behind
a defender gets there first and knocks it out
one of the defenders turns it behind
the ball is deflected out
~ [X] {X} takes no chances and lashes it out

@corner.stop:cap
[X] {X} is forced to put the ball behind
[X] {X} comes across to cover
[X] {X} has to intervene
The ball runs behind off a defender
~ [X] {X} stretches to make contact

@corner.tried
[by=cross] sent in a {teasing} cross
[by=cross] crossed {in}
[by=pass] tried a {weighted} pass
[by=dribble] tried to burst through
[by=other] pressed forward
[by=shot] let fly

@shot.behind
[outcome=blocked,X] his {effort} is blocked by {X}
[outcome=blocked] his {effort} is blocked
[outcome=blocked] the {effort} is blocked by a defender
[outcome=blocked,X] {X} blocks the {effort}
[outcome=saved,K] {K} makes a {fine} save
[outcome=saved,K] {K} saves and turns it behind
[outcome=saved,K] it is saved by {K}
[outcome=saved,K] {K} tips it behind

@won.corner
{T} have a corner.
{T} win a corner.
Corner to {T}.
Corner kick for {T}.
{T} will have a corner.
{T} earn a corner.
{T} are awarded a corner.
~ The referee points to the flag: corner to {T}.
The assistant signals a corner for {T}.
~ {T} force a corner.
The reward is a corner for {T}.
It ends with a corner to {T}.
{T} get a corner and send the tall men up.
~ {T} gladly take the corner.
~ {O} concede a corner.
{O} concede a corner, and {T} will load the box.
{T} win a corner from which to build.

@lead to corner.tail
[corners>=1,corners<=12] It will be their {corners+1:th} of the match.
[corners lately>=2] They have been camped around that area.
Pressure is building.
Relentless stuff.
An awkward bounce did not help the defender.
The bench applauds the effort.
Necessary, if inelegant.
~ The tempo has gone up a notch.
They smell an opportunity.
The bombardment goes on.
~ An uncomfortable phase for the defence.
A reward for persistence.
The defenders are gasping for breath.
It was that or something worse.
He had few other choices.
The full-back had to hurry.
~ A sensible piece of emergency work.
Territory is being gained bit by bit.
Another wave is on its way.
There is no respite for {O}.
~ The siege continues.
~ {T} pack the box.
The centre-backs jog forward.
A chance to test {O} in the air.
~ Sustained pressure, this.
Can they make it count?
{O} bring everybody back.
Hands are waved and markers assigned.

@free kick
[shot=blocked] *2 {P} {lines} the free kick, but it is blocked by the wall.
[shot=blocked] {P} goes for goal from the free kick and hits the wall.
[shot=blocked] The wall does its job as the free kick from {P} is blocked.
[shot=blocked] {P} fails to get the free kick past the wall.
[end=cleared] *2 {P} {swings} the free kick {in}, but it is {cleared}.
[end=cleared,X] {P} {swings} the free kick {in}, but {X} {clears}.
[end=cleared] The free kick from {P} is {cleared}.
[end=claimed,K] {P} {swings} the free kick {in}, but {K} {claims} it.
[end=claimed,K] {K} {claims} the free kick from {P}.
[end=out] {P} {swings} the free kick {in}, but it is too {heavy} and goes out of play.
[end=short] {P} takes the free kick quickly with a short pass.
[end=short] {P} plays the free kick short.
[end=short] {T} take a short free kick, content to keep hold of the ball.
[end=none] {P} {swings} the free kick {in}, but nothing comes of it.
[end=none] Nothing comes of the free kick from {P}.
[end=won,R] {P} {swings} the free kick {in} and finds {R}.
~ [end=cleared] Heads it out, says the textbook, and the free kick from {P} is duly {cleared}.
~ [end=short] A quick free kick by {P} catches a few players napping.
[end=shot,R] {P} {swings} the free kick {in} for {R}, who goes for goal.
[metres>=1] The free kick from {P}, {metres} metres out, {free.verb}.

@free.verb
[end=cleared] is {cleared}
[end=claimed,K] is claimed by {K}
[shot=blocked] is blocked by the wall
[end=none] comes to nothing
[end=short] is played short
[end=out] goes out of play
[end=won,R] reaches {R}
[end=shot,R] reaches {R}

@free kick.tail
{set piece}

@penalty
{Ref!} {P} {fouls} in the box. It's a penalty for {T2}!
{P} {fouls} inside the area and {ref} points to the spot. Penalty to {T2}!
Penalty to {T2}! {P} {fouls} in the box.
~ No hesitation from {ref}: {P} {fouls} in the area and {T2} have a penalty.
{T2} are awarded a penalty after a foul by {P} on {F}.

@penalty kick
{P} is going to take the penalty.
{P} places the ball on the spot and will take the penalty for {T}.
~ All eyes on {P}, who takes the responsibility of the penalty.

@throw in
Throw-in to {T}.
{T} have a throw-in.
It's a throw-in for {T} {where}.
The ball has crossed the touchline and {T} will take the throw-in.
{P} takes the throw-in for {T} {where}.
The assistant signals a throw-in for {T}.
{T} get a throw-in {where}, and the game draws breath.
~ {P} dries the ball on his shirt before taking a throw-in for {T}.

@where
[third=attacking] deep in opposition territory
[third=attacking] high up the pitch
[third=middle] near the halfway line
[third=middle] in midfield
[third=defensive] deep inside their own half
[third=defensive] in front of their own dugout or thereabouts
"""
