"""The server of the pages: who may ask, for whom it answers, what it takes."""
