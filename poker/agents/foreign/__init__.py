"""Players of other programs: OpenSpiel's bots and policies, donksolver's blueprints."""
