"""How saves, goals and missed penalties are told."""

TEXT = """
@saved by goal-keeper
*3 {P} {meets} and {strikes}, but {saves}.
*3 {P} {meets} and {strikes}. {Saves}.
*2 {P} {strikes}, but {saves}.
~ {chance!} {P} {meets} and {strikes}, but {saves}.
~ [K] {K} denies {P}, who {meets} and {strikes}.
[K] {K} comes up with a {fine} save to deny {P} after {meeting}.
[K] {P} {strikes}, forcing {K} into a {fine} save.
[K] {fine} goalkeeping! {P} {meets} and {strikes}, but {saves}.
~ [K] {P} brings the best out of {K}, who makes a {fine} save after {meeting}.
~ [K] A {fine} save by {K} denies {P}, who {meets} and {strikes}.
[Q] {Q} {supplies} {P}, who {strikes}. {Saves}.
[zone=far] From {metres} metres, {P} {strikes}. {Saves}.
[zone=far] {P} chances his arm from {metres} metres out, but {saves}.
[zone=edge] {P} {strikes} from the edge of the area, but {saves}.
[zone=box] {P} {meets} in the box and {strikes}, but {saves}.
[zone=close] {P} {strikes} from point-blank range, but {saves}.
[how=header] {P} {leaps} and {strikes}, but {saves}.
[free] {P} {lines} the free kick, but {saves}.
~ [zone=close] It looks a certainty when {P} {strikes} from a few yards, but {saves}.
[big] One on one, {P} {strikes}, but {saves}.

@saves
[K,save=held] {K} makes a {fine} save
[K,save=held] {K} saves and holds on
[K] {K} produces a {fine} save
~ [K] {K} pulls off a {fine} save
[K] {K} is equal to it and saves
[K] it is saved by {K}
[K] the {effort} is saved by {K}
[K,save=held] {K} saves {easily} and clutches the ball to his chest
[K,save=parried] {K} saves and pushes it back into play
[K,save=parried] {K} parries
[K,save=parried] {K} parries the {effort} {easily}
[K,save=tipped] {K} saves with his fingertips
[K,save=tipped] {K} makes a {fine} fingertip save
[K] {K} {dives} to make a {fine} save
[K] {K} stands tall and saves
~ [K] {K} gets his angles spot on and saves
~ [K,save=held] {K} saves {easily}, no drama at all
~ [K] {K} reads it and makes the save
[K] {K} keeps it out with a {fine} stop
the goalkeeper makes a {fine} save
the keeper saves {easily}
[save=parried] the keeper parries {easily}

@Saves
{saves}
{saves}
{saves}
[K] A {fine} save by {K} {keeps}
~ [K] A {fine} save from {K} {keeps}

@keeps
preserves the status quo
keeps {T} at bay
spoils the moment
~ frustrates the attackers
thwarts {T}
~ is the riposte

@easily
easily
comfortably
~ calmly
with ease
without fuss
smartly
well
sharply
~ confidently
~ nonchalantly
cleanly
at the second attempt
~ bravely

@dives
dives
flings himself across
gets down {easily}
springs across his line
scrambles across
spreads himself
throws himself sideways
reacts in a flash
adjusts his feet
~ stretches
~ contorts his body
shuffles across

@fine
fine
routine
brilliant
sharp
superb
smart
comfortable
wonderful
reflex
diving
solid
stunning
outstanding
~ sprawling
low
sound
~ stupendous
~ acrobatic
straightforward
one-handed
brave
instinctive
vital
terrific
~ magnificent
splendid
alert

@saved by goal-keeper.tail
[corner] {won.corner}
[corner] {won.corner}
[saves>=3,K] That is the {saves:th} save {K} has been called upon to make.
[saves>=4,K] {K} is having a busy time of it.
Authority is written all over that save.
A clean pair of hands steadies everyone around him.
Bravery and technique, neatly combined.
His parents would be proud of that.
Sturdy goalkeeping, nothing theatrical.
A dress rehearsal for tougher examinations.
The score stays {score}.
[level] It remains {score}.
{O} have their goalkeeper to thank.
Good hands.
His positioning made it look routine.
A goalkeeper in supreme condition.
Agility and anticipation in equal measure.
The palms must be tingling.
Stern resistance from the last man.
He earns a grateful slap on the shoulder.
Textbook footwork on the line.
Vital, given how the game is poised.
The reflexes of a cat.
He barely had time to blink.
Strong wrists were required.
His concentration has been flawless.
The angle was narrowed cleverly.
A save that looks better in slow motion.
He makes himself enormous.
~ No rebound, no second bite.
The shot was venomous, the response unflappable.
A defence relies on moments such as this.
Confidence must be flowing through his gloves.
He barks at his defenders afterwards.
The effort deserved nothing less than that save.
Hardly a save for the highlights, but an honest one.
~ Elastic limbs and a cool head.
~ The gloves are warm now.
An important intervention.
The defenders offered little protection.
A striker's instinct, a goalkeeper's answer.
~ Worth the admission fee on its own.
[zone=far] He saw it all the way.
[zone=close] Astonishing reactions at that range.
[how=header] The header lacked conviction.
A yard either side and it was a different story.
He hit it too close to the keeper.
The first real test of the keeper's wrists for a while.
~ Safe as houses.
He guessed correctly which way it was going.
{T} keep asking questions.

@goal
*2 {GOAL!} {P} {meets} and {scores}. {state}
*2 {GOAL!} {P} {scores}. {state}
[Q] *2 {GOAL!} {Q} {supplies} {P}, who {scores}. {state}
{P} {scores} after {meeting}! {state}
[Q,from=pass] {GOAL!} {P} {meets} and {scores}. {state}
[Q] {P} {scores}, and much of the credit belongs to {Q} for the assist. {state}
[how=header] {GOAL!} {P} {leaps} and {scores}. {state}
[zone=far] {GOAL!} From {metres} metres {P} {scores}, a {stunning} goal. {state}
[from=rebound] {GOAL!} The ball breaks loose and {P} {scores}. {state}
~ [Q] Move of the match: {Q} {supplies} {P}, who {scores}. {state}
~ {P} {scores}, and bedlam ensues. {state}
[free] {GOAL!} {P} {lines} the free kick and scores direct. {state}
[zone=close] {GOAL!} {P} is in the right place to score from close range. {state}
[from=corner] {GOAL!} The corner finds {P}, who {scores}. {state}

@goal penalty
{GOAL!} {P} {scores} from the penalty spot. {state}
{P} makes no mistake from the penalty and {scores}. {state}
~ Cool as you like, {P} scores from twelve yards. {state}
~ {GOAL!} {P} keeps his composure and scores from the penalty spot. {state}
{P} converts the penalty. {state}
{P} steps up and scores the penalty. {state}

@GOAL!
GOAL!
Goal!
It's a goal!
Goal for {T}!
They have done it!
The net bulges!
What a moment!
What a goal!
In it goes!
Clinical!
~ Bang!
~ Ecstasy for {T}!
~ Get in!
There it is!

@scores
[how=header] heads it into the net
[how=header] plants a {fierce} header into the back of the net
~ [how=header] nods the ball home
[how=header] heads home
[how=volley] volleys into the net
[how=volley] lashes a {fierce} volley into the back of the net
[how=kick] scores with a {fierce} shot
~ [how=kick] fires a {fierce} shot into the net
[how=kick] slots the ball home
[how=kick] drills the ball into the net
[how=kick] finds the back of the net with a {fierce} strike
[how=kick,aim=left] sweeps the ball into the left side of the net
[how=kick,aim=right] sweeps the ball into the right side of the net
[how=kick,aim=middle] hammers the ball into the middle of the net
[how=kick] scores with a {cool} finish
~ [how=kick] rolls the ball into the net with a {cool} finish
~ [how=kick] buries the ball in the back of the net
~ [how=kick] tucks the ball into the net
[how=kick] strokes the ball home
[how=kick] scores with aplomb
[how=kick,height=high] sends it flying into the roof of the net
[zone=close] scores from close range
[K] scores, leaving {K} no chance
[K] beats {K} and scores
~ [how=kick] finishes like a seasoned predator and scores

@cool
cool
composed
calm
clinical
classy
emphatic
ruthless
~ precise
cheeky
neat
deft
~ nerveless
low
assured
unerring

@stunning
stunning
spectacular
~ wonderful
memorable
~ brilliant
~ breathtaking

@state
*2 {score}.
The score is {score}.
It's {score}.
That makes it {score}.
[margin=0] That is the equaliser: {score}.
[margin=0] {T} are level at {score}.
[margin=0] All square again, {score}.
~ [margin=0] Parity is restored: {score}.
[margin=1,total=1] {T} take the lead, {score}.
[margin=1,total=1] {T} break the deadlock: {score}.
[margin=1,total=1] The opening goal of the game goes to {T}, {score}.
[margin=1] {T} lead {own}.
[margin=1] {T} are in front, {score}.
[margin=1] {T} go ahead: {score}.
~ [margin=1] Advantage {T}, who go ahead: {score}.
[margin=2] {T} are two goals up.
[margin=2] {T} double their lead, {score}.
[margin=2] {T} now have a two-goal lead: {score}.
[margin>=2] {T} extend their lead to {own}.
[margin=3] {T} are three goals up.
[margin>=3] Surely there is no way back for {O} at {score}.
[margin=-1] {T} pull one back: {score}.
[margin=-1] {T} reduce the deficit to a single goal, {score}.
[margin<=-2] It is a consolation for {T} at {score}.
[margin<=-1] {T} get one back, yet {O} still lead {their}.

@goal.tail
[player goals=2] It is the second goal of the match for {p}.
[player goals=2] A brace for {p}!
[player goals=3] A hat-trick for {p}!
[player goals=2] {p} has scored twice.
Ruthless punishment for a lapse in concentration.
The flags are waving and the drums are beating.
Supporters leap from their seats.
That changes the mood in the ground entirely.
An emphatic statement of intent.
[booked] He was booked earlier, but this will be remembered longer.
[own goals>=2] That is the {own goals:th} goal for {T}.
[Q] Full marks to {Q} for the assist.
[Q] {Q} deserves a pat on the back.
~ The supporters behind that goal are treated to a fine sight.
~ The finish was {cool}.
The defending left a lot to be desired.
The celebrations are long and loud.
~ He wheels away in delight.
An explosion of noise.
Unstoppable, frankly.
Worth every rehearsal on the training pitch.
The substitutes sprint out to join the party.
~ The marking evaporated at the decisive moment.
A goal to lift the whole stadium.
Hard to blame the goalkeeper.
A finish of real conviction.
His team-mates bury him under a pile of shirts.
~ That has been threatening for a while, in truth.
The defence was static and paid the price.
Simple football, beautifully done.
[margin=0] Game on.
[margin=1] How will {O} respond?
[margin>=2] {T} can start to enjoy themselves.
~ Scenes of unbridled joy follow.
~ Take a bow.
~ Delirium.
[K] {K} could do nothing about it.

@own goal
{GOAL!} Calamity for {O}: {P} turns the ball into his own net. {state}
Own goal! {P} sends it past his own goalkeeper under pressure. {state}
~ Misery for {P}, who diverts the ball into his own net. {state}
An own goal by {P} gifts {T} a present. {state}

@penalty missed
{P} takes the penalty, but {missed.penalty}.
{P} steps up, but {missed.penalty}. The penalty is wasted.
A huge moment: {P} goes for {power} from the penalty spot, but {missed.penalty}.
~ Twelve yards, one kick, no goal: {P} takes the penalty and {missed.penalty}.
The penalty from {P} is not converted, {missed.penalty}.

@missed.penalty
[outcome=saved,K] {K} makes a {fine} save
[outcome=saved,K] {K} guesses right and saves
[outcome=saved,K] it is saved by {K}
[outcome=saved] the keeper saves {easily}
[outcome=wide] it goes {just} wide
[outcome=wide] the ball {drifts} wide of the {upright}
[outcome=over] it {sails} over the bar
[outcome=over] he {lifts} it over the crossbar
[outcome=post] it {cannons} the woodwork
[outcome=post] the ball {cannons} the frame of the goal
"""
