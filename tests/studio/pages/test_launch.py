"""Requirements of the server before it starts."""

import contextlib
import importlib.util
import signal
import socket
import subprocess
import sys
import time

import pytest

from poker.run.errors import PokernetsError
from poker.studio.pages.launch import listening, run


def test_error_without_nicegui_names_the_package_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
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
    code = "import sys, poker.studio.pages.launch, poker.studio.pages.pages; print('nicegui' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


BUSY = """
import asyncio, time, uvicorn
from poker.studio.server import app
app._LEAVING = 1
async def wait(scope, receive, send):
    print("waiting", flush=True)
    await asyncio.to_thread(time.sleep, 600)
config = uvicorn.Config(wait, lifespan="off", timeout_graceful_shutdown=1, log_level="critical")
asyncio.run(app._Server(config).serve(sockets=[app.socket.create_server(("127.0.0.1", {port}))]))
"""


def test_an_interrupt_ends_the_server_while_questions_wait() -> None:
    with listening("127.0.0.1", 0) as free:
        port = free.getsockname()[1]
    with subprocess.Popen([sys.executable, "-c", BUSY.format(port=port)], stdout=subprocess.PIPE) as server:
        client = None
        while client is None:
            with contextlib.suppress(ConnectionRefusedError):
                client = socket.create_connection(("127.0.0.1", port))
            time.sleep(0.05)
        client.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        assert server.stdout is not None
        assert server.stdout.readline() == b"waiting\n"
        server.send_signal(signal.SIGINT)
        try:
            assert server.wait(60) == 130
        finally:
            server.kill()
            client.close()
