"""Files and protocols of other programs: reading and writing hands."""
