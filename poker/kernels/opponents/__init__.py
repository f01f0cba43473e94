"""Weight tables, play-outs and action histories of the players of [POKI]."""
