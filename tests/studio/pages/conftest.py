"""A server whose visitors play at random, for all tests of a file."""

from collections.abc import Iterator

import pytest

from tests.studio.pages.serving import Server, serving


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with serving("agents=[random]", f"runs={tmp_path_factory.mktemp('runs')}") as one:
        yield one
