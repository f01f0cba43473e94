"""One module or folder for each figure or claim of a paper, and for the tables of `make demo`. Nothing imports them."""
