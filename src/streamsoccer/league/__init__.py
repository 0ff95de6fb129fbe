"""The simulated league: play on a pitch, a broadcast of it, its commentary, in the files that SoccerNet would have."""
