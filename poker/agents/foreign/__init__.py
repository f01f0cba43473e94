"""Players of other programs at our tables: bots and policies of OpenSpiel."""
