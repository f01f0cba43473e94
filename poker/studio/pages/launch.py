"""`evaluate=play`: serves the pages at an address of this machine until it is interrupted."""

import importlib.util
import secrets
import socket
from collections.abc import Sequence

from poker.run.commands import how_to_install
from poker.run.errors import PokernetsError
from poker.studio.pages.pages import Page


def run(*, pages: Sequence[Page | None], host: str, port: int, token: str | None, show: bool) -> None:
    """Serve pages until interrupted.

    Args:
        pages: the pages; None for pages that the game does not have.
        host: address to listen at.
        port: port to listen at; 0 for any free one.
        token: token that browsers must know. If it is None and `host` is not this machine's own address, one is
            generated.
        show: whether to open the browser.

    Raises:
        PokernetsError: NiceGUI is not installed, the token is invalid, or the address cannot be used.
    """
    if importlib.util.find_spec("nicegui") is None:
        raise PokernetsError(f"the pages need NiceGUI, which is not installed: {how_to_install('play')}")
    from poker.studio.server.access import LOCAL, check_token  # noqa: PLC0415 (an extra)

    check_token(token)
    if token is None and host not in LOCAL:
        token = secrets.token_urlsafe(16)
    with listening(host, port) as server:
        from poker.studio.server.app import serve  # noqa: PLC0415 (half a second)

        name = f"[{host}]" if ":" in host else host
        url = f"http://{name}:{server.getsockname()[1]}/" + (f"?token={token}" if token else "")
        serve([page for page in pages if page is not None], server, token, url, show=show)


def listening(host: str, port: int) -> socket.socket:
    """Return a socket that listens at an address.

    Raises:
        PokernetsError: the address cannot be used.
    """
    try:
        return socket.create_server((host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET)
    except (OSError, OverflowError) as error:
        raise PokernetsError(f"cannot serve at {host}:{port} ({error}); choose another: port=PORT") from error
