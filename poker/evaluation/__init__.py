"""How strong an agent is: matches, luck taken out, exploitability.

`matches/match.py` first. `aivat/` takes luck out of results, `exploitability/` says what a best opponent wins,
`replay.py` values hands that were played elsewhere, `leaf_values.py` compares evaluators of leaves.
"""
