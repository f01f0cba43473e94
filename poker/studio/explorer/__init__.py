"""The explorer page, on which a spot is set up, solved and explored."""
