"""Requirements of the server before it starts."""

import importlib.util
import subprocess
import sys

import pytest

from poker.run.errors import PokernetsError
from poker.table.launch import listening, run


def test_without_nicegui_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(PokernetsError, match=r"pip install -e '\.\[play\]'"):
        run(pages=[], host="127.0.0.1", port=0, token=None, show=False)


def test_port_that_is_taken_is_named() -> None:
    with listening("127.0.0.1", 0) as server:
        port = server.getsockname()[1]
        with pytest.raises(PokernetsError, match=rf"cannot serve at 127\.0\.0\.1:{port} .*port=PORT"):
            listening("127.0.0.1", port)
    with pytest.raises(PokernetsError, match=r"cannot serve at 127\.0\.0\.1:70000"):
        listening("127.0.0.1", 70000)


def test_configuration_imports_no_nicegui() -> None:
    code = "import sys, poker.table.launch, poker.table.pages; print('nicegui' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
