"""How substitutions and injuries are told."""

TEXT = """
@substitution
*2 Substitution for {T}. {P} replaces {Q}.
*2 {Q} is replaced by {P}.
*2 {P} comes on for {Q}.
{coach} makes a change. {P} replaces {Q}.
~ {coach} {decides} and {P} comes on for {Q}.
~ {coach} {decides}: {Q} {leaves} and is replaced by {P}.
{coach} turns to his bench and brings on {P} for {Q}.
{coach} sends on {P} in place of {Q}, who {leaves}.
Substitution. {Q} {leaves} and is replaced by {P}.
Substitution. {P} is on for {Q}.
Here is a change. {P} replaces {Q}, who {leaves}.
The board goes up: {P} replaces {Q}.
The fourth official holds up the board. {P} comes on for {Q}.
{Q} makes way for {P}.
{Q} {leaves} and {P} comes on in his place.
{T} make a substitution. {P} replaces {Q}.
{T} bring on {P} as a substitute for {Q}.
~ {T} freshen things up, with {P} replacing {Q}.
Fresh legs for {T}: {P} replaces {Q}.
[like] A straight swap, {role} for {role}: {P} comes on for {Q}.
[role] {P}, a {role}, comes on for {Q}.
[role] {coach} brings on a {role}: {P} replaces {Q}.
[injured] *6 {Q} cannot continue because of an injury and is replaced by {P}.
[injured] *6 {coach} is forced into a substitution. {Q} is injured and {P} comes on.
[injured] *6 Injury ends the afternoon of {Q}, who is replaced by {P}.
[injured] *6 {P} comes on for the injured {Q}.
[half time] *4 A change at the break: {P} replaces {Q}.
[half time] *4 {P} comes on for {Q} at the start of the half.
~ {coach} rolls the dice, with {P} replacing {Q}.
~ {coach} shuffles his pack: {P} comes on for {Q}.
~ {Q} trudges off and is replaced by {P}.
~ The number of {Q} lights up in red. {P} comes on for him.

@decides
has seen enough
decides to act
looks to change the game
wants fresh energy
reacts
makes his move
rings the changes
goes to his bench
~ rejigs his side
freshens his side up

@leaves
leaves the field
walks off
goes off
trots to the touchline
departs
takes his place on the bench
jogs off
heads for the bench
hands over
leaves the pitch to polite applause
~ traipses off
makes his way to the touchline

@substitution.tail
[subs>=2,subs<=6] It is the {subs:th} substitution for {T}.
[subs>=2,subs<=6] That is the {subs:th} change by {T}.
[subs=3] {T} have used three substitutes.
[subs=1] It is the first change for {T}.
[Q goals=1,!injured] {Q} goes off with a goal to his name.
[Q booked,!injured] {Q} was booked earlier, which may have played a part.
[Q booked,!injured] {Q} was on a booking, so it may be wise.
[margin=-1] {T} are chasing an equaliser.
A warm ovation accompanies the switch of shirts.
Tactical whiteboards are being consulted.
The newcomer sprints straight into position.
Stamina is becoming an issue for several players.
Reinforcements, then.
[margin=-1] {T}, a goal behind, need a spark.
[margin<=-2] At {score}, {T} have little to lose.
[margin=1] {T} lead {own} and want to keep it that way.
[margin>=2] With a lead of {own}, {T} can afford it.
[level] It is {score}, and a fresh pair of eyes might find the answer.
[minute>=75] There is not much time to make an impression.
[minute>=60] Energy levels have been dropping.
Let us see what he can offer.
He gets his final instructions from the touchline.
No rush to leave.
~ A tactical alteration.
The formation may be tweaked as well.
He joins the fray with plenty of enthusiasm.
~ Versatility is his trademark.
An injection of pace, in theory.
Rotation is part of the plan.
The crowd acknowledges an industrious shift.
~ A chance to impress.
Minutes have been hard to come by for him lately.
The warm-up is over, the real thing begins.
Instructions are passed on to the captain.
It has been coming, judging by the activity on the touchline.
~ An embrace between the two on the line.
His legs had gone.
Squad depth matters on days like this.
The tracksuit is off.
~ A gamble, albeit a calculated one.
~ The dressing room awaits.
A pat on the back and on he goes.
~ A bold roll of the dice, some might say.
~ He shakes hands with everybody in reach.
He has been warming up for a while.
~ A curious decision, on the face of it.
[!injured] {Q} gave his all.
[!injured] {Q} had been fading.

@injury
*2 {P} is down {hurt}. {treatment}
{P} stays down {hurt}. {treatment}
{P} {holds} and needs treatment.
{P} {holds}. {treatment}
There is a problem for {P}, who {holds}. {treatment}
The game is interrupted because {P} {holds}. {treatment}
{P} has picked up an injury. {treatment}
~ {P} grimaces and clutches his leg. {treatment}

@injury over
[plays on] {P} is back on his feet after receiving treatment.
[plays on] After some treatment for an injury, {P} is able to carry on.
[plays on] {P} had looked injured, but he is moving freely again.
~ [plays on] Good news: the injury to {P} is not serious and he continues.
[goes off] {P} is in pain and it does not look good. {treatment}
[goes off] {P} limps towards the touchline with an injury. His day is done.
[goes off] The injury to {P} looks bad, and he signals to the bench.
~ [plays on] A cold sponge works its magic and the injury scare for {P} is over.

@hurt
injured
with an injury
and clearly in pain
after a knock and in pain
on the turf with an injury
~ holding himself gingerly, in pain

@holds
is feeling his ankle
is holding his knee
~ is rubbing his calf
is in discomfort
is clearly in pain
has gone to ground in pain
is struggling with an injury
has taken a knock
signals to the bench
~ is wincing
feels his hamstring

@treatment
The physio comes on.
The physio is called for.
The physio has a look at him.
The medical staff are on the pitch.
The physios attend to him.
He receives treatment.
{referee} stops the game so that he can receive treatment.
~ {referee} calls for the physio.
Treatment is needed.
~ Out comes the magic sponge, so to speak: treatment is under way.
The stretcher is not needed, it seems, only treatment.

@injury.tail
Let us hope it is nothing serious.
Both sets of players take a drink.
The bench looks concerned.
A limping gait tells its own story.
[plays on] He will try to run it off.
[goes off] {T} prepare a change.
[subs>=2,goes off] {T} have already made {subs:n} substitutions.
~ A worry for {coach}.
He tests the joint gingerly.
~ Sympathetic applause from all sides.
~ Nobody wants to see that.
~ The diagnosis will have to wait.
A precaution, one hopes.
Ice and strapping are at the ready.
~ A furrowed brow or two on the bench.
The crowd wait patiently.
The break in play suits the tired.
The pause is a welcome breather for some.
"""
