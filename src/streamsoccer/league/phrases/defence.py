# ruff: noqa: E501
"""How broken-down attacks are told: crosses cleared, passes cut out, dribbles stopped, shots blocked, balls out of play."""

TEXT = """
@clearance
[by=cross] *3 {P} {sends cross}, but {stopped}.
[by=cross] *2 {P} {sends cross}. {Stopped}.
[by=cross] {A cross} from {P} is {beaten}.
[by=cross] {A cross} from {P} {nowhere}. {Stopped}.
[by=cross,X] {X} {clears} after {P} {sent cross}.
[by=cross,flank=left] From the left, {P} {sends cross}, but {stopped}.
[by=cross,flank=right] From the right, {P} {sends cross}, but {stopped}.
~ [by=cross] {P} {sends cross} more in hope than expectation; {stopped}.
~ [by=cross] Bodies flood the box as {P} {sends cross}, but {stopped}.
[by=pass] *3 {P} {tries pass}, but {cut}.
[by=pass] *2 {P} {tries pass}. {Cut}.
[by=pass] {A pass} from {P} is {read}.
[by=pass] {A pass} from {P} {nowhere}. {Cut}.
[by=pass,Q] {P} {aims} {Q}, but {cut}.
[by=pass,Q] {P} and {Q} are not on the same wavelength, and {cut}.
[by=pass,X] {X} {cuts} after {P} {tried pass}.
[by=pass,third=attacking] In the final third, {P} {tries pass}, but {cut}.
[by=pass,third=middle] In midfield, {P} {tries pass}, but {cut}.
~ [by=pass] {P} {tries pass} without looking, and {cut}.
~ [by=pass,Q] A telepathic understanding was needed between {P} and {Q}; instead {cut}.
[by=dribble] *2 {P} {runs}, but {tackled}.
[by=dribble] {P} {runs}. {Tackled}.
[by=dribble,X] {X} {dispossesses} {P}, who {ran}.
[by=dribble,flank=left] Down the left, {P} {runs}, but {tackled}.
[by=dribble,flank=right] Down the right, {P} {runs}, but {tackled}.
~ [by=dribble] {P} {runs}; alas for him, {tackled}.
[by=shot] *2 {P} {meets} and {strikes}, but {blocked}.
[by=shot] *2 {P} {strikes}, but {blocked}.
[by=shot,Q] {Q} {supplies} {P}, who {strikes}. {Blocked}.
[by=shot,zone=edge] {P} {strikes} from the edge of the area, but {blocked}.
[by=shot,zone=box] {P} {strikes} inside the box, but {blocked}.
[by=shot,zone=far] {P} {strikes} from {metres} metres, but {blocked}.
~ [by=shot] Brave defending: {P} {meets} and {strikes}, but {blocked}.
[by=other,X] *2 {X} ({O}) {clears} as {T} {press.v}.
~ [by=other,X] {T} {press.v}, but {X} ({O}) {clears}.
[by=other,X] {O} are under the cosh, but {X} ({O}) {clears}.
[by=other,X] {X} ({O}) {clears} under pressure from {P}.
[by=other] {T} {press.v}, but {stopped}.
~ [by=other,X] Safety first from {X} ({O}), who {clears}.

@sends cross
sends a {teasing} cross into the box
swings a {teasing} cross into the area
puts a {teasing} cross into the middle
delivers a {teasing} cross
crosses towards the penalty spot
~ whips a {teasing} cross over
lifts a {teasing} cross towards the far side of the box
looks up and crosses
hits an early cross
gets his cross in
~ lofts a {teasing} cross goalwards
aims a {teasing} cross at his forwards
~ slings over a {teasing} cross
~ hoists a {teasing} cross skywards
tries to reach his strikers with a {teasing} cross
pings a {teasing} cross into the mix
goes down the outside and crosses
[flank=left] cuts the ball back from the left with a {teasing} cross
[flank=right] cuts the ball back from the right with a {teasing} cross

@sent cross
sent a {teasing} cross into the box
crossed from the flank
~ delivered a {teasing} cross
put a {teasing} cross into the area
~ had swung over a {teasing} cross
~ served up a {teasing} cross

@A cross
{A.a} {teasing} cross
The {teasing} cross
This {teasing} cross
Another cross
A promising cross
~ One more cross

@A.a
A
A
A rather
A somewhat
A fairly

@beaten
[end=cleared] {cleared}
[end=cleared] {cleared} by the defence
[end=cleared,X] {cleared} by {X}
[end=cleared] dealt with, as a defender {clears}
[end=cut,X] intercepted by {X}
[end=cut] intercepted by the defence
[end=cut] cut out
[end=claimed,K] claimed by {K}
[end=claimed] caught by the goalkeeper
[end=out] overhit and out of play
[end=none] wasted
~ [end=cleared,X] emphatically cleared by {X}

@stopped
[end=cleared,X] {X} {clears}
[end=cleared,X] {X} is in the right place and {clears}
[end=cleared,X] it is {cleared} by {X}
[end=cleared] one of the defenders {clears}
[end=cleared] the opposition's defence {clears}
[end=cleared] a defender {clears}
~ [end=cleared] it is {cleared}
~ [end=cleared] {O} have it {cleared}
[end=cleared] the back line stays alert and {clears}
~ [end=cleared,X] the vigilant {X} {clears}
[end=cut,X] {X} {cuts}
[end=cut,X] it is intercepted by {X}
[end=cut] the defence intercepts the ball
[end=cut] a defender cuts it out
[end=claimed,K] {K} {claims} it
[end=claimed,K] {K} comes off his line and {claims} the ball
[end=claimed,K] {K} {claims} it {easily}
[end=claimed] the goalkeeper {claims} it {easily}
[end=out] it is too {heavy} and goes out of play
[end=out] nobody gets there and the ball runs out of play
[end=none] it {nowhere}

@Stopped
{stopped}
[end=cleared,X] {X} {clears}
[end=cleared] The defence {clears}
[end=cut,X] {X} {cuts}
[end=claimed,K] {K} {claims} it {easily}
[end=out] It is too {heavy} and the attack is over
[end=none] It {nowhere}

@nowhere
comes to nothing
leads nowhere
~ finds nobody
~ lacks accuracy
misses its intended target
~ yields nothing
~ goes begging
comes to grief

@tries pass
tries a {weighted} pass
attempts a {weighted} pass
looks for a {weighted} ball through the middle
plays a {weighted} pass forward
goes for a {weighted} pass
tries to release a team-mate with a {weighted} pass
plays it long
hits a long ball forward
sprays a long pass across the field
attempts to split the defence with a {weighted} pass
sends a {weighted} pass towards the front men
tries to pick the lock with a {weighted} pass
threads a {weighted} pass between the lines
~ hazards a {weighted} pass
~ gambles on a {weighted} pass
lifts a {weighted} ball over the top of the defence
slides a {weighted} pass down the channel
wants to switch play with a long pass
looks for the runner with a {weighted} pass

@tried pass
tried a {weighted} pass
attempted a {weighted} pass
went long
looked for a {weighted} ball forward
~ had played a {weighted} pass
~ telegraphed a {weighted} pass

@aims
looks for
aims for
tries to find
attempts to pick out
tries to release
~ wants to play in
~ goes long towards
searches for
attempts a one-two with
~ scans the pitch for

@A pass
{A.a} {weighted} pass
The {weighted} pass
A long ball
This {weighted} ball
~ Yet another {weighted} pass

@read
[end=cut,X] intercepted by {X}
[end=cut,X] cut out by {X}
~ [end=cut,X] read by {X}
[end=cut,X] picked off by {X}
[end=cut] intercepted
[end=cut] cut out
[end=cut] intercepted by the defence
[end=cleared] {cleared}
[end=cleared,X] {cleared} by {X}
[end=claimed,K] swept up by {K}
[end=out] overhit and out of play
[end=none] wayward
~ [end=none] well short of the mark

@cut
[end=cut,X] {X} {cuts}
[end=cut,X] {X} is wise to it and {cuts}
~ [end=cut,X] it is intercepted by {X}
[end=cut,X] it is read by {X}
~ [end=cut] an opponent {cuts}
[end=cut] one of the defenders {cuts}
[end=cut] the opposition's defence {cuts}
[end=cut] it is intercepted
~ [end=cut] it goes straight to an opponent
[end=cleared,X] {X} {clears}
[end=cleared] one of the defenders {clears}
[end=claimed,K] {K} {claims} the ball
[end=claimed,K] {K} is off his line quickly to gather
[end=out] it is overhit and goes out of play
[end=out] there is too much on it and the ball runs out of play
[end=none] the ball {nowhere}
[end=none] nobody reads his intentions
~ [end=cut,X] {X}, sniffing danger, {cuts}

@Cut
{cut}
[end=cut,X] {X} {cuts}
[end=cut] An opponent {cuts}
[end=cleared,X] {X} {clears}
[end=out] It is overhit and goes out of play
[end=claimed,K] {K} {claims} it {easily}
[end=none] It {nowhere}

@cuts
intercepts
intercepts the pass
cuts it out
~ steps in and intercepts
~ reads it and intercepts
steps across to intercept
sticks out a leg and intercepts
nips in to intercept
wins the ball back
steals the ball
picks it off
cuts out the pass
anticipates it and intercepts
~ gobbles it up
~ pilfers the ball
gets a toe in to intercept
intercepts on the slide

@runs
takes on his man
tries to go past his opponent
sets off on a solo run
runs at the defence
~ tries to dribble his way through
~ attempts a trick
looks to break free
~ drives forward with the ball at his feet
attempts to beat his marker
tries a step-over
dips inside
~ attempts a nutmeg
~ tries to burn off his man
goes it alone
pushes the ball past his marker
slaloms forward

@ran
took on too much
tried to dribble through
held on to it too long
had set off on a run
wanted too many touches
~ dawdled

@tackled
[X] {X} {dispossesses} him
[X] he is dispossessed by {X}
[X] {X} makes a {clean} tackle
[X] {X} stays on his feet and makes a {clean} tackle
~ [X] {X} times the tackle well
[X] he runs into {X}
an opponent makes a {clean} tackle
he is crowded out
he loses the ball
~ [X] {X} shepherds him into a cul-de-sac

@Tackled
{tackled}
[X] A {clean} tackle by {X} ends the run
[X] {X} {dispossesses} him

@dispossesses
dispossesses
robs
halts
stops
outmuscles
~ crowds out
outwits
~ pickpockets
~ mugs
bests

@clean
clean
strong
~ timely
sliding
perfect
superb
crunching
~ fair
textbook
~ bone-rattling
~ well-timed
firm

@blocked
[X] it is blocked by {X}
[X] {X} blocks the {effort}
[X] {X} throws himself in the way to block the {effort}
[X] his {effort} is blocked by {X}
his {effort} is blocked
the {effort} is {bravely} blocked
the {effort} is blocked by a defender
a defender gets in the way to block the {effort}
the {effort} is charged down
~ [X] {X} puts his body on the line to block the {effort}

@Blocked
{blocked}
[X] {X} blocks the {effort}
His {effort} is {bravely} blocked

@bravely
bravely
well
superbly
~ quickly
desperately
bodily
~ heroically
painfully
crucially

@press.v
press forward
push numbers forward
build pressure
come forward again
~ keep knocking on the door
throw men forward
attack in waves
~ turn the screw
look for a way through
commit players forward

@clearance.tail
[end=cleared/cut/claimed] {defence remark}
[end=cleared/cut/claimed] {defence remark}
[by=shot] {defence remark}
{attack remark}

@defence remark
{Good} defending.
{Good} work at the back by {O}.
{O} stay compact.
[X] {Good} anticipation from {X}.
[X] {X} has read that like a book.
A commanding presence in that department.
Discipline without the ball, that is the recipe.
The holding midfielder dropped in to assist.
The offensive plan hits a wall again.
Firmly dealt with, no questions asked.
Cool under fire.
The angles were covered from every direction.
Unspectacular, yet priceless.
He swept up like a veteran.
Good habits, drilled over many mornings.
No way through for {T}.
{O} defend in numbers.
~ A defender's job, done properly.
~ The shape of {O} holds firm.
A textbook reading of the situation.
Vigilance is a virtue at this level.
Immaculate timing from the defender.
~ The screening in front of the area is excellent.
Numerical superiority did the trick.
Calm heads prevail.
He was glued to his opponent.
The invitation to panic is declined.
~ Sheer determination settled that duel.
Nothing fancy, everything effective.
A little bit of guile and plenty of muscle.
Mopping up is half the job.
Communication was the key there.
The covering runner had it under control.
Experience tells in moments like that.
~ He never took his eyes off the ball.
The distances between the lines were perfect.
Stubborn resistance from {O}.
That was dealt with before it became urgent.
Concentration levels remain high at the back.
The partnership in the centre looks solid.
A lovely bit of positional play.
Rugged rather than refined.
Hesitation would have been fatal.
He sensed the danger early.
The rearguard earns its wages.
~ A fortress, for the time being.
~ Belt and braces from {O}.
~ Parsimonious, this defence.
The danger passes.
~ An unglamorous but invaluable contribution.
~ {O} have bolted the door for now.
[end=cut] {O} can go the other way now.
[end=cleared] It buys {O} a little time.
Organised, disciplined, effective.
[level] Neither side gives an inch at {score}.
[margin=-1] {O} have a lead to protect and look determined to protect it.

@Good
Good
Fine
Alert
Sound
Solid
Attentive
Clever
Tidy
Committed
~ Resolute
~ Stout
Wholehearted
~ Diligent

@attack remark
The final ball was missing.
{T} must be more patient there.
~ The runner in support was ignored.
Tempo without precision is merely haste.
The final third is proving a puzzle.
Supporters urge them to shoot on sight.
A moment of indecision ruined it.
Nobody gambled on the knockdown.
They are running into congested avenues.
Inspiration is at a premium.
A gentle reminder that patience pays.
The touch was heavy, the recovery slow.
Isolated up there, and it shows.
~ Overcomplicated, that.
The striker gestures for the ball to be played earlier.
~ A tighter grip on the ball is needed.
~ Cutting edge is what this side lacks.
Their combinations have been wayward.
~ An overlap was available on the outside.
Momentum is lost again.
~ The cleverest option is often the plainest.
It unravels just when it promised something.
Ponderous in the build-up.
Telepathy was required and telepathy was absent.
A lack of ideas is beginning to show.
The understanding up front is not there yet.
Intelligent in thought, sloppy in practice.
It was on for a moment, then it was gone.
The angle was closed quickly.
A little disguise would have helped.
They have tried that route several times.
~ Imagination is in short supply.
The weight was wrong by a yard.
Too elaborate for its own good.
Someone in the middle throws up his hands.
~ The rhythm of {T} is stuttering.
~ They need width, and they need it soon.
It lacked conviction from start to finish.
The runner checked his stride and the moment vanished.
A blind alley, in effect.
~ Lateral thinking wanted.
~ Huff and puff, no house blown down.
~ The blueprint is fine, the bricklaying is not.
~ The idea was right.
Too predictable from {T}.
He had better options.
[by=cross] The cross needed more height.
[by=cross] Little quality in that delivery.
[by=cross] The forwards were waiting for something better.
[by=pass] The pass was telegraphed.
[by=pass] He tried to force it.
[by=pass] A safer ball was on.
[by=pass] There was a gap, but only just.
[by=dribble] One touch too many.
[by=dribble] Numbers were against him.
[by=dribble] His team-mates wanted it earlier.
[by=shot] He had options either side.
[by=shot] A crowd in front of him, no clear line.
[level] At {score}, one good pass could settle it.
[margin=-1] {T} are a goal behind and will need better than that.
[margin<=-2] At {score}, {T} need something out of nothing.
~ Flattering to deceive, as the saying goes.
~ The wheels came off at the crucial juncture.
[minute>=75] Legs are getting heavy out there.
[minute<=12] Early days, plenty of nerves.

@ball out of play
[by=pass] A pass by {P} goes out of play.
[by=pass] {P} {tries pass}, but it is overhit and goes out of play.
[by=cross] {P} {sends cross}, but it is too {heavy} and goes out of play.
[by=other] The ball goes out of play off {P}.
The ball is out of play after a loose touch by {P}.
~ {P} loses control and the ball trickles out of play.

@ball out of play.tail
[throw] {throw}
[throw] {throw}
[goalkick] {goalkick}
[goalkick] {goalkick}

@throw
Throw-in to {O}.
{O} will have a throw-in.
{O} take over with a throw-in.
"""
