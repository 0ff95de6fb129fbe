"""How possession, phases of play, starts and ends of halves and added time are told."""

TEXT = """
@ball possession
*2 {T} {keep}. {poss.remark}
*2 {T} {keep}.
~ {T} {keep}, {looking}.
{Patient} build-up play from {T}, {looking}.
{Patient} build-up play by {T}. {poss.remark}
{T} are enjoying a spell of possession. {poss.remark}
A spell of possession for {T}, {looking}.
[P] {P} sets the tempo as {T} {keep}.
[P] With {P} at the heart of it, {T} {keep}. {poss.remark}
[P,R] {P} and {R} exchange short passes as {T} {keep}.
[passes>=8] {T} string together {passes} passes in possession, {looking}.
[passes>=10] {passes} passes without losing possession: {T} {keep}.
[third=defensive] {T} keep possession deep in their own half, {looking}.
[third=attacking] {T} keep possession in the final third, {looking}.
[third=middle] {T} keep possession in midfield, {looking}.
~ Metronomic stuff from {T}, who {keep}.
~ The ball is a magnet to {T}, who {keep}. {poss.remark}

@keep
keep the ball {nicely}
are passing the ball around {nicely}
keep possession {nicely}
hold on to possession {nicely}
move the ball around {nicely}
knock the ball about {nicely}
exchange short passes
exchange a series of {weighted} passes
are in control of possession
are dominating possession at the moment
circulate possession {nicely}
~ are stroking the ball around {nicely}
~ hog possession
are monopolising possession
pass the ball around from side to side
~ spread their passes from flank to flank in possession

@nicely
nicely
patiently
~ calmly
with confidence
with assurance
neatly
in triangles
across the back
without hurry
in midfield
methodically
~ hypnotically
comfortably
~ with purpose
with authority

@Patient
Patient
Careful
Neat
Considered
Measured
~ Composed
~ Painstaking
Deliberate
~ Unhurried

@looking
looking for a gap
waiting for an opening
looking to unlock the defence
waiting for the right moment to attack
trying to draw {O} out
probing for weaknesses
inviting {O} to press
biding their time
making {O} run
trying to tire {O} out
~ lulling {O} to sleep
looking for space between the lines
~ shifting {O} from side to side

@poss.remark
{O} sit back and wait.
{O} are chasing shadows.
~ {O} keep their shape.
Geometry on grass.
Every lateral pass invites a yawn or a roar.
Elegance over urgency.
{O} are not tempted to press.
~ Patience is the key.
~ Ball speed is what is missing.
Cautious, calculating football.
~ Probing without penetrating.
The spectators grow restless.
Recycling the ball is an underrated skill.
Economical movement, generous passing.
The full-backs are practically wingers.
It is chess rather than football at the moment.
The midfield is the engine of all this.
Sideways, backwards, sideways again.
A rest with the ball is the best kind of rest.
Nobody presses, nobody panics.
The opposing block stays narrow.
Somebody has to take a risk eventually.
~ The rhythm is theirs to dictate.
Vision is needed more than velocity.
~ Hypnosis by passing.
~ A symphony in a minor key.
A gap will come, they believe.
[level] At {score}, nobody wants to make the first mistake.
[margin=1] {T} lead {own} and see no reason to hurry.
[margin=1] Leading {own}, they let the ball do the work.
[margin>=2] At {score}, this is game management.
[margin=-1] {T} are a goal behind, so something must come of it.
[margin<=-2] At {score}, possession alone will not help {T}.
The tempo is slow.
The pace has dropped.
The movement off the ball is good.
Every pass is met with an arm pointing somewhere.
[minute>=70] Tired minds make mistakes, and {T} know it.
[minute<=15] Both sides are still feeling each other out.
~ A rondo on a grand scale.
~ Pretty, if not yet penetrating.
The crowd want something more direct.

@start of half game
[half=1] The first half gets underway.
[half=1] {T} kick off and the first half is underway.
[half=1] {ref:cap} blows his whistle and the first half gets underway.
[half=2] The second half gets underway.
[half=2] {T} kick off and the second half is underway.
[half=2,level] The second half gets underway at {score}.
[half=2] {ref:cap} gets the second half underway, with the score at {score}.
~ [half=2] Refreshed or not, the players are back and the second half gets underway.

@end of half game
[half=1] The first half ends. The score is {score}.
[half=1] It is the end of the first half, with the score at {score}.
[half=1] {ref:cap} blows the half-time whistle. It is {score}.
[half=2] The final whistle goes. It ends {score}.
[half=2] It is over. {ref:cap} blows the final whistle and the score is {score}.
[half=2,margin>=1] The final whistle goes, and {T} win {own}.
[half=2,margin=0] The final whistle goes and the points are shared at {score}.
~ [half=2] That's all, folks: the final whistle goes at {score}.

@show added time
[added=1] There will be one minute of added time.
[added=1] One minute of added time is shown.
[added>=2] There will be {added:n} minutes of added time.
[added>=2] The fourth official shows {added:n} minutes of added time.
[added>=2] {added:n:cap} minutes of added time to be played.
[added>=2,level] {added:n:cap} minutes of added time, and it is still {score}.
~ [added>=2] The board says {added:n} minutes of added time; some fans groan, some cheer.

@statistics and summary
[margin>=1] {T} lead {own} and {shots lead}.
[level] It is {score} after {minute} minutes. {shots lead:cap}.
[level] {minute} minutes gone, and the score is {score}. {shots lead:cap}.
[margin>=1] {minute} minutes gone and {T} lead {own}. {shots lead:cap}.
[corners>=2,corners<=12,margin=0] It is {score}, although {T} have had {corners:n} corners.
[corners>=3,corners<=12] {T} have had {corners:n} corners so far, with the score at {score}.
[fouls>=5,fouls<=19] {T} have committed {fouls:n} fouls so far.
[all yellows>=2,all yellows<=14,T yellows>=2] {T} have {T yellows:n} yellow cards to their name so far.

@shots lead
look comfortable
deserve it so far
can be pleased so far

@shots lead:cap
There is little between the two sides
A fair reflection so far
Everything is still open
"""
