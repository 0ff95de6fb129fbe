"""How fouls, cards and offsides are told."""

TEXT = """
@foul with no card
*2 {P} {fouls}. {free}
*2 {P} {fouls}, and {ref} {whistles}. {free}
{Ref!} {P} {fouls}.
{ref:cap} {whistles} after {P} {fouled}. {free}
Foul by {P}. {free}
Foul by {P} on {F}. {free}
{A.challenge} by {P} on {F}, and {ref} {whistles} for a foul.
{A.challenge} by {P}, and {ref} {whistles} for a foul. {free}
{F} is fouled by {P}. {free}
{F} goes down after a foul by {P}. {free}
{P} is penalised for a foul on {F}. {free}
{P} is penalised. {free}
{P} gets to {F} late and {ref} {whistles} for the foul.
~ {P} {fouls} and pleads innocence with open palms. {free}
~ {Ref!} {P} {fouls}, a cynical way to halt the move. {free}
[third=attacking] {P}, high up the pitch, {fouls}. {free}
[danger] {P} {fouls} within sight of goal. {free}
~ [danger] Playing with fire, {P} {fouls} a short distance from the box. {free}
[offensive] {P} commits a foul in attack. {free}
[hand] {P} handles the ball and {ref} {whistles}. {free}

@fouls
[F] fouls {F}
[F] commits a foul on {F}
[F] brings {F} down
[F] trips {F}
[F] pulls {F} back
[F] bundles {F} over
[F] clatters into {F} and concedes a foul
[F] catches {F} late with a foul
[F] mistimes his tackle on {F} and commits a foul
[F] leans on {F} and is penalised
[F] barges into {F} and gives away a foul
~ [F] brings down {F} with a clumsy foul
[F] lunges at {F} and commits a foul
[F] commits a foul by tugging at the shirt of {F}
~ [F] steps across {F} and is penalised for the foul
[F] upends {F}
~ [F] commits a foul by clipping the heels of {F}
~ [F] scythes through {F} with a foul
commits a foul
goes in too hard and commits a foul
makes a clumsy challenge and is penalised
arrives late and commits a foul
fouls his opponent

@fouled
[F] fouled {F}
[F] committed a foul on {F}
[F] brought {F} down with a foul
[F] fouled {F} in the tackle
committed a foul
had committed a foul
~ [F] flattened {F} with a foul

@Ref!
[freekick] Free kick.
The whistle goes.
The referee blows.
~ Play is stopped.
~ Stoppage.
That is a foul.
No doubt about that one.
~ Peep!
~ A halt in proceedings.

@ref
{referee}
{referee}
the referee
the man in the middle
the official

@ref:cap
{referee}
{referee}
The referee
~ The arbiter

@whistles
blows his whistle
blows
stops play
~ reaches for his whistle
points the other way
~ signals at once
calls it
intervenes
spots it
~ halts proceedings
has seen enough

@A.challenge
A clumsy challenge
A late challenge
A rash tackle
A hard tackle
A shove in the back
An untidy challenge
~ A sliding challenge
A careless tackle
A needless challenge
A heavy challenge
~ An agricultural challenge
~ A reckless lunge
A mistimed tackle
An over-eager tackle
A tug of the shirt

@free
Free kick to {T2}.
{T2} have a free kick.
{T2} win a free kick.
{T2} get a free kick.
{T2} are awarded a free kick.
A free kick is given to {T2}.
{T2} will restart with a free kick.
{T2} have a free kick {free.where}.
~ {T2} get the free kick {free.where}.
The free kick goes to {T2}.
The free kick is for {T2}, {free.where}.
{foul.remark}
{foul.remark}
~ The decision, a free kick to {T2}, brooks no argument.

@free.where
[danger] in a dangerous position
[danger] from a promising position
[danger] within shooting range
[danger] close to the penalty area
[third2=middle] in the middle of the park
[third2=middle] around the halfway line
[third2=defensive] deep in their own half
[third2=defensive] near their own area
[third2=attacking] in the final third
[third2=attacking] in opposition territory
and will take it in a moment
and take their time over it

@foul.remark
A fair call.
Momentum carried him into it.
A niggle that has been brewing.
The challenge bordered on the reckless.
Verbal exchanges follow, handshakes come later.
Nobody needs a magnifying glass for that one.
A legitimate grievance for the man on the ground.
Irritation is visible on both benches.
A bruise, no more than that.
The victim dusts himself down.
Robust, to be charitable.
~ His explanation falls on deaf ears.
Fatigue breeds clumsiness.
~ An unnecessary invitation to the opposition.
Cunning was not involved.
Studs were showing, if only briefly.
An elbow may have been involved.
It was a question of timing rather than intent.
~ The bench protests, mostly out of habit.
~ A nuisance more than a menace.
The advantage rule was of no use here.
Frustration is creeping in.
He offers an apology and a handshake.
Contact was minimal but sufficient.
It breaks up a counter before it can gather pace.
Clever, in a professional sort of way.
The game has become a little scrappy.
He could hardly have been clumsier.
Both players went for it, only one was fair.
Over-enthusiasm is no defence.
~ The letter of the law leaves no wiggle room.
~ A schoolboy error in that zone.
~ He will plead mitigating circumstances in vain.
~ No complaints.
Little doubt about it.
~ He knew what he was doing.
It disrupts the rhythm of the game.
The official had a clear view of it.
More clumsy than malicious.
A touch unlucky, perhaps.
~ That was needless.
The tackle was honest, the timing was not.
~ Petulant rather than dangerous.
~ Not a subtle piece of work.
Silly, given where it happened.
Tempers stay in check.
{F} gets back to his feet.
A tactical one, one suspects.

@foul with no card.tail
[fouls>=3,fouls<=19] That is the {fouls:th} foul by {T}.
[player fouls>=2] For {p} it is the {player fouls:th} foul of the match.
[player fouls>=3] The {player fouls:th} foul by {p}, and patience is wearing thin.
[booked] {p} was booked earlier and must be careful.
[booked] {p}, already on a yellow card, is walking a tightrope.
[booked] {p} is on a booking, which makes it risky.
[fouls>=5,fouls<=19] {T} have now committed {fouls:n} fouls.
The card stays in the pocket.
A word of warning, nothing more.
No card this time.
A talking-to is all he gets.
{foul.remark}
{foul.remark}
~ [booked] Discretion would be advisable, since {p} was booked earlier.

@yellow card
*2 {P} {fouls} and {is booked}.
*2 {P} {is booked} {reason}.
{ref:cap} shows a yellow card to {P} {reason}.
~ {ref:cap} shows {P} a yellow card {reason}.
~ {ref:cap} books {P} {reason}.
Yellow card for {P} {reason}.
Yellow card. {P} {is booked} {reason}.
[F] {A.challenge} on {F}, and {P} {is booked}.
[F] {A.challenge} by {P} on {F} earns him a yellow card.
{A.challenge} by {P}, and {ref} shows him a yellow card.
[F] {P} fouls {F}, and {ref} has no choice but to show the yellow card.
[F] {F} is fouled by {P}, who {is booked}.
[dissent] {P} {is booked} for complaining.
~ {P} joins the list of the cautioned {reason}.
~ Out comes the card: {P} {is booked} {reason}.
~ A customary shake of the head from {P}, who {is booked} {reason}.
{P} can have no complaints as he {is booked} {reason}.
~ There is the booking: {P} {is booked} {reason}.

@is booked
is booked
is shown a yellow card
gets a yellow card
picks up a yellow card
goes into the book
receives a yellow card
~ is cautioned
~ sees yellow
earns a yellow card
collects a booking
is given a yellow card
~ is handed a yellow card
~ finds his way into the referee's book

@reason
[F] for a foul on {F}
[F] for bringing down {F}
[F] for a late tackle on {F}
[F] for tripping {F}
[F] for catching {F}
~ [F] after a hard challenge on {F}
[F] after stopping {F} illegally
~ for a foul
for a reckless challenge
after a bad tackle
for the foul
~ for a robust challenge
[dissent] for dissent
[dissent] for arguing

@yellow card.tail
[yellows=1] It is the first yellow card for {T}.
[yellows>=2,yellows<=9] That is the {yellows:th} yellow card for {T}.
[yellows>=2,yellows<=9] {T} have now collected {yellows:n} yellow cards.
[all yellows>=2,all yellows<=14] It is the {all yellows:th} yellow card of the match.
[all yellows=1] It is the first booking of the match.
[player fouls>=2] It was the {player fouls:th} foul of the match by {p}.
Justice is served promptly.
An avoidable smear on his record.
His afternoon becomes more complicated.
Consistency from the official, at least.
[player fouls>=3] The {player fouls:th} foul by {p}, so it was coming.
{free}
{free}
A deserved punishment.
He protests mildly and gives up.
~ Recklessness rarely pays.
Restraint is required from here.
An overdue sanction, some would argue.
The tariff for such offences is well known.
It was crude rather than malicious.
He had been warned about his conduct.
~ Discipline is slipping.
His next challenge will be watched closely.
The suspension list beckons if this goes on.
Any manager would call it unnecessary.
~ He shrugs and jogs away.
~ The referee consults nobody and delays nothing.
~ A lesson in how not to tackle.
He must watch his step from now on.
~ A strict decision, yet a correct one.
~ No arguments.
~ He accepts it.
~ One more and he is off.
~ A yellow of the sort that referees cherish.
He will have to tread carefully.
The temperature rises a little.

@second yellow card
{P} {fouls} and receives a second yellow card. He is sent off!
A second yellow card for {P}! {T} are down to {men} men.
{ref:cap} shows {P} a second yellow card and then the red. {T} must go on with {men}.
~ He was booked earlier, and now {P} is shown a second yellow card. {T} are left with {men}.
~ Folly from {P}: a second yellow card, and off he goes, head bowed.
~ Off goes {P} after a second yellow card {reason}.
{P} is sent off after a second yellow card {reason}.

@red card
{P} {fouls} and is shown a straight red card!
Red card! {P} is sent off {reason}. {T} are down to {men} men.
~ {ref:cap} shows {P} a red card {reason}. {T} have {men} men left.
Straight red for {P}! {T} will have to cope with {men}.
~ {P} is sent off {reason}. An early bath for him.
~ Madness from {P}, who is shown a straight red card {reason}.

@off side
*2 {P} {strays} and {flag}.
*2 {P} is {caught} offside.
*2 {flag:cap} {P} is offside.
{P} is {caught} offside {run}.
{flag:cap} {P} is {caught} offside {run}.
{P} goes too {early} and is {caught} offside.
Offside against {P}. {offside.remark}
The flag is up against {P}, offside.
{P} {strays}. {flag:cap} Offside.
{P} is offside. {offside.remark}
[Q] {Q} looks for {P}, who is {caught} offside.
[Q] {Q} plays the ball forward, but {P} is {caught} offside.
~ [Q] {Q} {supplies} {P}, but {P:he} is {caught} offside.
~ [Q] {P} {strays} as {Q} plays the pass, and {flag}.
[Q] A {weighted} pass from {Q} is in vain, as {P} is {caught} offside.
~ [Q] {P} is {caught} offside by the time {Q} lets go of the pass.
{P} is {caught} offside, and {O} get a free kick.
The attack of {T} ends with {P} {caught} offside.
~ {P} jumps the gun and is {caught} offside.
~ [Q] Half a stride, no more: {P} is {caught} offside from the pass by {Q}.
~ {P} is {caught} offside, arms outstretched in disbelief.

@P:he
he

@strays
makes his run too {early}
strays beyond the last defender
times his run badly
starts a yard too {early}
bends his run a fraction too {late}
sneaks in behind
is a step ahead of the defence
gets in behind
~ gambles on the shoulder of the last man
~ cannot hold his run

@early
early
soon
~ eagerly
hastily
~ impetuously

@late
late
little

@caught
caught
flagged
given
adjudged
~ ruled
deemed to be
found to be
~ rightly flagged
correctly flagged
~ signalled

@flag
is flagged offside
the flag goes up for offside
the assistant flags for offside
the assistant raises his flag for offside
the linesman signals offside
the move ends with an offside flag
is given offside
~ the assistant, ever watchful, flags for offside

@flag:cap
The flag goes up.
Up goes the flag.
The assistant raises his flag.
The linesman has his flag in the air.
The game is interrupted.
The whistle goes.
Play is halted.
~ Not so fast.
False alarm.

@run
when making his run
as he bursts forward
behind the back line
running in behind
looking for the space behind the defence
~ on the blind side of his marker
~ in a promising area

@off side.tail
[offsides>=2,offsides<=12] That is the {offsides:th} offside for {T}.
[offsides>=3,offsides<=12] {T} have been caught offside {offsides:n} times.
[player offsides=2] It is the second offside of the match for {p}.
[player offsides>=2,player offsides<=9] For {p} it is the {player offsides:th} offside of the match.
[player offsides=2] {p} has now been caught offside twice.
{free2}
{free2}
{offside.remark}
{offside.remark}

@free2
Free kick to {O}.
{O} have a free kick.
{O} will restart with a free kick.
~ {O} restart with the free kick.

@offside.remark
The back line held its nerve.
Greed got the better of him.
His anticipation ran ahead of the pass.
The synchronisation was poor.
He lingered in forbidden territory.
A glance along the line would have told him.
Ambition outpaced caution.
The replay will settle arguments.
Fractions decide such things.
Enthusiasm is no excuse.
The pass was played a heartbeat too late.
His marker simply stopped and pointed.
Curiously, nobody protests.
A wiser run would have been diagonal.
~ Level would have been enough.
The cameras will examine that one at length.
~ Momentary impatience, and the chance evaporates.
The defence had pushed up in unison.
Everything about it was right except the timing.
~ A toenail, perhaps.
~ The choreography of that back line is a joy.
A tight call.
The line of {O} was immaculate.
~ It looked marginal.
The assistant was perfectly placed.
A matter of inches.
The timing has to be better.
{O} step up well.
Well drilled from {O}.
No arguments from the attackers.
~ The trap worked to perfection.
~ Geometry was against him.
A promising move comes to an end.
He was half a yard too keen.
"""
