"""Artifacts on disk: atomic writes, checked reads, bundles and the provenance of results.

Read `folders.py` first. An artifact is a directory of arrays with a manifest of settings, sources and hashes; a reader
refuses one that is damaged or that was made with other settings. `artifacts.py` opens artifacts by path, also inside a
bundle. `shards.py` stores training rows, `bundle.py` packs artifacts into one file, `lines.py` appends whole lines to
files, `lru_cache.py` caches values in memory, and `provenance.py` records the command, commit and machine of a result.
"""
