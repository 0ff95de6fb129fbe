"""How shots that miss are told, and the words for any shot."""

TEXT = """
@shot off target
*3 {P} {meets} and {strikes}, but {missed}.
*3 {P} {meets} and {strikes}. {Missed}.
*2 {chance!} {P} {meets} and {strikes}, but {missed}.
{P} {strikes}, but {missed}.
*2 {P} {meets}, {strikes} and watches as {missed}.
{P} {strikes} after {meeting}. {Missed}.
[Q] {Q} {supplies} {P}, who {strikes}. {Missed}.
[Q] {Q} {supplies} {P}, but {missed}.
~ [Q] A {tidy} move ends with {P}, who {strikes}, yet {missed}.
[how=header] {P} {leaps} and {strikes}, but {missed}.
~ {P} {strikes}; {missed}, and the goalkeeper need not move a muscle.
[zone=far] {P} fancies his chances from {metres} metres. {Missed}.
[zone=far] From {metres} metres, {P} {strikes}. {Missed}.
[zone=far] {chance!} {P} {strikes} from {metres} metres out, but {missed}.
~ [zone=far] Nothing ventured, nothing gained: {P} {strikes} from all of {metres} metres, though {missed}.
[zone=edge] {P} {meets} on the edge of the area and {strikes}. {Missed}.
[zone=edge] {P} finds a pocket of space outside the box and {strikes}, but {missed}.
[zone=box] {P} {meets} inside the area and {strikes}, but {missed}.
[zone=box] Working room for himself in the box, {P} {strikes}. {Missed}.
~ [zone=box] {P} pulls away from his marker in the area and {strikes}, only to see that {missed}.
[zone=close] From close range, {P} {strikes}, but {missed}.
[zone=close] {P} {meets} a few yards out and {strikes}. Somehow {missed}.
[free] {P} {lines} the free kick. {Missed}.
[free] {P} goes for goal from the free kick, but {missed}.
~ [free] Up and over the wall, but {P} cannot bring the free kick down in time and {missed}.
[big] {P} has only the goalkeeper to beat and {strikes}. {Missed}.
[big] What an opening for {P}! He {strikes}, but {missed}.

@shot off target.tail
{regret}
{regret}
{regret}
[goalkick] {goalkick}
[goalkick] {goalkick}
[!goalkick] {regret}

@regret
A let-off for {O}.
He glances at the turf as if to blame it.
The stands let out a collective sigh.
Composure deserted him.
Careless, considering the space he had.
The stadium gasps, then groans.
A gasp, a murmur, and play resumes.
His balance was betrayed by the pace of the ball.
Twice the patience would have brought twice the reward.
Spectacular in intent, pedestrian in effect.
A wayward finish to a promising passage of play.
He stands motionless, staring at the spot.
A scuff here, a slip there.
~ Rusty in front of goal, it seems.
The trajectory was never right.
Eagerness got in the way.
He clasps his head in both hands.
That one will feature in nobody's album.
The laces met the ball, the accuracy did not follow.
Sloppy, by his standards.
A glimmer of promise for {T}.
A more selfless player would have squared it.
The backswing was long, the outcome short.
~ An instinctive effort more than a considered one.
The swerve deceived nobody.
The spectators behind the goal ducked.
A better first touch would have made it simpler.
The shape of the body was all wrong.
His stride pattern let him down.
~ He opened up his body too early.
~ The keeper shepherded it out with his eyes.
It had menace, if not direction.
He was off balance as he struck it.
It took a wicked bobble just before contact.
The wind may have played its part.
~ Hardly a shot to remember.
An adventurous choice, an ordinary result.
His frustration is plain to see.
A striker in better form buries that.
Credit the movement, if not the finish.
The build-up merited more.
~ A spoonful of luck would have helped.
~ His radar needs recalibrating.
~ It had more ambition than geometry.
~ The execution belied his reputation.
The technique deserved a better finish.
He will want that one back.
~ He knows he should have done better.
Plenty of power, precious little precision.
~ The idea was sound, the execution less so.
~ He leaned back at the crucial instant.
Snatched at, in truth.
A wasted opportunity for {T}.
~ That was a (presentable|decent|rare|genuine|respectable|handsome) chance.
~ {T} rue their profligacy.
He had more time than he thought.
He took his eye off it.
Ambitious, perhaps too ambitious.
An option in the middle was begging for the pass.
~ Not his finest hour in front of goal.
It never looked like troubling the keeper.
There was little backlift and even less accuracy.
The goalkeeper had it covered all the way.
The angle was (tight|awkward|unkind|acute), but still.
He struck it with the outside of his boot, and it showed.
~ A couple of inches of composure were missing there.
Rushed, with options either side of him.
~ The contact was scruffy and the outcome inevitable.
[how=header] He got too much forehead on it.
[how=header] The timing of the leap was right, the direction was not.
[how=header] Neck muscles strained, to no avail.
[zone=far] A speculative effort, to put it kindly.
[zone=far] From that range it needed to be perfect.
[zone=close] It seemed easier to score.
[zone=close] That one will haunt him for a while.
[how=volley] Volleys are unforgiving, and so was this.

@goalkick
{O} restart with a goal kick.
Goal kick to {O}.
The ball runs out of play and {O} have a goal kick.
It will be a goal kick for {O}.
~ {O} will get the game going again from a goal kick.
~ Their rivals can breathe again, goal kick for {O}.

@chance!
What a chance!
So close!
Nearly!
~ Ooh!
Oh, that was near!
Inches away!
[big] A gilt-edged opening!
[big] A glorious chance goes begging!
Danger here.
Here is an opening.
~ A sight of goal.
~ Hearts in mouths!
Not far off.
Hold on, space here.

@tidy
neat
slick
flowing
crisp
well-worked
patient
lively
incisive
swift
clever
polished
smart
~ silky
~ rapid-fire
sweeping

@leaps
rises above his marker
hangs in the air
leaps
climbs highest
outjumps everyone
stretches every sinew
springs up
gets up well
~ towers over the crowd
soars

@meets
[from=cross,Q] meets (the|a) {teasing} cross from {Q}
[from=cross,Q] gets on the end of {Q}'s {teasing} cross
[from=cross,Q] attacks {Q}'s {teasing} delivery
~ [from=cross,Q] reaches {Q}'s {teasing} ball from the flank
~ [from=cross,Q] ghosts in to meet {Q}'s {teasing} centre
[from=corner,Q] gets to {Q}'s {teasing} corner
[from=corner,Q] is first to the corner from {Q}
[from=corner] loses his marker at the corner
[from=corner] finds room as the corner comes over
~ [from=corner,Q] peels off his man as {Q}'s corner drops
[from=free,Q] gets to {Q}'s {teasing} free kick
[from=free,Q] is first to the free kick from {Q}
[from=free] breaks from the pack as the free kick comes over
[from=pass,Q] collects {Q}'s {weighted} pass
[from=pass,Q] takes {Q}'s pass in his stride
[from=pass,Q] latches on to a {weighted} ball from {Q}
[from=pass,Q] receives the ball from {Q}
~ [from=pass,Q] is picked out by {Q}
~ [from=pass,Q] runs on to {Q}'s {weighted} pass
~ [from=pass,Q] takes a touch to kill {Q}'s {weighted} pass
[from=pass,Q] links up with {Q}
[from=pass,Q] is teed up by {Q}
~ [from=pass,Q] cushions {Q}'s {weighted} pass
~ [from=pass,Q] gratefully accepts {Q}'s {weighted} pass
[from=dribble,D] glides past {D}
~ [from=dribble,D] leaves {D} for dead
[from=dribble,D] wriggles away from {D}
[from=dribble,D] outfoxes {D}
[from=dribble] dances through a challenge
[from=dribble] turns his marker inside out
~ [from=dribble] weaves his way through traffic
[from=rebound] pounces on the loose ball
[from=rebound] is quickest to react to the rebound
[from=rebound] gets to the second ball first
~ [from=rebound] feeds off the scraps
~ [from=none,how=kick] spots a gap
[from=none,how=kick] looks up
[from=none,how=kick] gathers momentum
[from=none,how=kick] shifts the ball on to his stronger side
~ [from=none,how=kick] carries the ball forward
[from=none,how=kick] takes aim
[from=none,how=kick] gets the ball out of his feet
[from=none,how=kick] needs no second invitation
~ [from=none,how=kick] sizes up the target
~ [from=none,how=kick] backs himself
[from=none,how=header] gets his head to it
[from=none,how=header] wins the aerial duel
[from=none,how=header] goes up for the ball
[from=none,how=volley] waits for the ball to drop
[from=none,how=volley] keeps his eye on the dropping ball
[from=set] steps up to the free kick
[from=set] takes charge of the free kick
[from=set] eyes the wall
~ [from=set] sizes up the wall at the free kick

@meeting
[from=cross,Q] a {teasing} cross from {Q}
[from=corner,Q] a {teasing} corner from {Q}
[from=free,Q] a {teasing} free kick from {Q}
[from=pass,Q] a {weighted} pass from {Q}
[from=pass,Q] an exchange with {Q}
[from=dribble,D] a run at {D}
[from=dribble] a mazy run
[from=rebound] a scramble
[from=rebound] a kind ricochet
[from=none,how=kick] a moment of hesitation around him
[from=none,how=kick] a spell of probing
[from=none,how=header] an aerial battle
[from=none,how=volley] a moment of suspense
[from=set] a short run-up
[from=set] a long wait
[from=pass/cross/dribble] a {tidy} move
~ [from=pass/cross/dribble] some {tidy} approach work

@teasing
teasing
inviting
~ whipped
~ curling
looping
~ dangerous
measured
floated
deep
~ inswinging
wicked
~ tantalising
hanging
~ swerving
~ early
dinked
~ arrowed
~ devilish
~ driven
accurate
~ fizzing

@weighted
well-weighted
precise
clever
short
neat
simple
incisive
crisp
perceptive
delicate
threaded
first-time
~ sideways
angled
square
probing
reverse
~ disguised
~ visionary
forward
~ slide-rule
cute
measured

@supplies
feeds
picks out
finds
plays in
~ sets up
tees up
releases
~ spots the run of
slips the ball to
lays it off for
squares it for
threads one through to
rolls it into the path of
~ conjures an opening for
~ serves it up for
prods it towards
works it to

@strikes
[how=header] heads {towards}
[how=header] directs a {fierce} header {towards}
[how=header] glances it {towards}
[how=header] sends a {fierce} header {towards}
[how=header] nods the ball {towards}
[how=header] plants a {fierce} header {towards}
~ [how=header] twists to head the ball {towards}
~ [how=header] thumps a header {towards}
[how=volley] volleys {towards}
~ [how=volley] meets it on the volley
[how=volley] catches it on the volley, sending it {towards}
[how=volley] lashes a {fierce} volley {towards}
~ [how=volley] unfurls a {fierce} volley {towards}
[how=kick] shoots {towards}
~ [how=kick] pulls the trigger
[how=kick] fires a {fierce} shot {towards}
[how=kick] lets fly
[how=kick] curls one {towards}
[how=kick] sends a {fierce} drive {towards}
[how=kick] unleashes a {fierce} effort {towards}
[how=kick] drills the ball {towards}
[how=kick] drags a {fierce} shot {towards}
[how=kick] hits a {fierce} strike {towards}
[how=kick] tries his luck
~ [how=kick] swings a boot at it
[how=kick] prods the ball {towards}
[how=kick] side-foots it {towards}
[how=kick] whips a {fierce} shot {towards}
[how=kick,foot=left] swings his left foot at it
[how=kick,foot=left] strikes it with his left
[how=kick,foot=right] swings his right foot at it
[how=kick,foot=right] strikes it with his right
~ [how=kick] stabs the ball {towards}
~ [how=kick] rifles a shot {towards}
[how=kick] goes for {power}
[how=kick] opts for {power}

@power
power
placement
~ the spectacular
precision
accuracy over force
~ sheer force

@fierce
fierce
[height=low] low
firm
powerful
vicious
dipping
rasping
hopeful
~ tame
crisp
swerving
[height=high] rising
~ [height=low] skidding
[height=low] bouncing
~ venomous
~ stinging
~ speculative
snap
first-time
~ clean
scuffed
[height=low] bobbling
measured
bending
ferocious
weak
solid
thunderous
meaty
~ thumping

@towards
[aim=left] towards the left post
[aim=left] at the left-hand side of the goal
[aim=left] in the direction of the left corner
[aim=right] towards the right post
[aim=right] at the right-hand side of the goal
[aim=right] in the direction of the right corner
[aim=middle] straight down the middle
[aim=middle] at the centre of the goal
towards goal
goalwards
at goal
on goal
~ at the target

@missed
[outcome=wide,aim=left] the ball {drifts} wide of the left post
[outcome=wide,aim=left] it goes {just} wide on the left
[outcome=wide,aim=right] the ball {drifts} wide of the right post
[outcome=wide,aim=right] it goes {just} wide on the right
[outcome=wide] the ball {drifts} {just} wide
[outcome=wide] it {drifts} past the post
[outcome=wide] his {effort} {drifts} wide of the {upright}
[outcome=wide] the {effort} goes {just} wide
[outcome=wide] his {effort} is {just} wide of the {upright}
~ [outcome=wide] the {effort} shaves past the upright
~ [outcome=wide] the {effort} is dragged wide
~ [outcome=wide] he pulls it wide
~ [outcome=wide] he cannot keep it from going wide
[outcome=over] the ball {sails} {just} over the bar
[outcome=over] it {sails} over the crossbar
~ [outcome=over] his {effort} {sails} over the top
[outcome=over] the {effort} goes {just} over the crossbar
~ [outcome=over] he {lifts} it over the bar
[outcome=over] he {lifts} the ball {just} over the crossbar
[outcome=over] the {effort} {sails} into the stands
~ [outcome=over] the {effort} disappears into row Z
[outcome=over] it is {just} over the bar
[outcome=post,bar] the ball {cannons} the crossbar
[outcome=post,bar] it {cannons} the bar
[outcome=post,!bar] the ball {cannons} the post
[outcome=post,!bar] it {cannons} the upright
[outcome=post] his {effort} {cannons} the woodwork
[outcome=post] the {effort} {cannons} the frame of the goal
[outcome=post,!bar] the post comes to the rescue as the ball hits the woodwork

@Missed
{missed}
{missed}
[outcome=wide] It {drifts} {just} wide
[outcome=wide] {Sadly}, it is wide
[outcome=over] {Sadly}, it is over the bar
[outcome=over] Over the bar, and not by (much|a little|a whisker)
[outcome=over] {Sadly}, it {sails} over the top
[outcome=post] It {cannons} the woodwork
[outcome=post] {Sadly} for him, it {cannons} the woodwork

@Sadly
Sadly
Alas
Unluckily
In the end
Frustratingly
~ Agonisingly
~ Predictably
~ For all that

@upright
post
upright
target
near post
far post
goal
~ mark

@drifts
drifts
flies
goes
rolls
skids
slides
~ curls
trickles
fizzes
whistles
~ bounces
~ bends
~ meanders
swerves
spins
dribbles
skips
~ bobbles
streaks

@just
just
well
~ narrowly
harmlessly
a fraction
comfortably
inches
some way
yards
marginally
~ miles
~ tantalisingly

@effort
effort
shot
attempt
[how=header] header
[how=volley] volley
[how=kick] strike
[how=kick] drive
~ [how=kick] piledriver
[how=kick,height=low] low shot

@sails
sails
flies
goes
soars
rises
loops
balloons
rockets
climbs
~ rears up
floats
whistles

@lifts
lifts
blazes
scoops
hooks
balloons
skies
lofts
~ steers
nudges
clips
~ spoons
sends
puts
thrashes

@cannons
rattles
strikes
thuds against
~ crashes against
comes back off
smacks against
bounces off
hits
clips
~ rebounds off
~ kisses
shakes

@lines
curls
whips
bends
~ steps up and strikes
addresses
blasts
~ caresses
goes direct with
"""
