"""What records tell about where they come from."""

import json

from poker.evaluation.provenance import configured, provenance


def test_the_configuration_is_told_only_while_it_is_used() -> None:
    assert {"time", "commit", "machine", "versions"} == set(provenance())
    with configured({"hands": 3, "menu": {"flop": ["a"]}}):
        found = json.loads(json.dumps(provenance()))
        with configured({"hands": 4}):
            assert provenance()["configuration"] == {"hands": 4}
    assert found["configuration"] == {"hands": 3, "menu": {"flop": ["a"]}}
    assert found["command"].startswith("python ")
    assert "configuration" not in provenance()
