"""Artifacts on disk: what is written stays whole, and what is read is what was written.

Read `folders.py` first: a directory of arrays and a manifest with settings, sources and hashes, written under a
temporary name and refused by name where it is damaged or of another making. `artifacts.py` opens them by paths, which
may lead into a bundle. `shards.py` are the rows that nets learn from, `bundle.py` packs artifacts into one file,
`lines.py` are files that grow by whole lines, `lru_cache.py` keeps the values used last in memory, and `provenance.py`
says which command, commit and machine made a thing.
"""
