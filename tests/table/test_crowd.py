"""A crowd in short; `python -m tests.table.crowd` is the same at full size, with the agent of `make play`."""

import pytest

from tests.table.crowd import crowd


@pytest.mark.slow
def test_many_visitors_lose_no_socket_and_wait_no_longer_than_they_are_told() -> None:
    row = crowd(40, 5, 2, ["agents=[random]"])
    assert row["sockets_lost"] == []
    assert row["upload_status"] == 200
    assert row["ok"] or row["seconds_of_action"]["crowd"]["max"] < 5, row  # beside other tests seconds say little
