"""Notice on a page while what it needs is loading."""

import asyncio
from concurrent.futures import Future
from typing import TypeVar

from nicegui import ui

T = TypeVar("T")


async def loaded(future: "Future[T]", what: str) -> T:
    """The result of `future`; until that is there the page says what is being loaded."""
    if not future.done():
        with ui.element("div").props("role=status").classes("status") as told:
            ui.spinner().props("aria-hidden=true")
            ui.label(f"Loading {what} …")
        try:
            await asyncio.shield(asyncio.wrap_future(future))  # others wait for it as well
        finally:
            if not told.is_deleted:
                told.delete()
    return future.result()
