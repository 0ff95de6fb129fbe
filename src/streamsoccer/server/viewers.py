"""Rows to those who watch: each gets them at his own speed, and one who takes none is let go.

A plain ASGI application, so that what it promises (who is counted, who is dropped, how it ends) is written here and
does not hang on a framework's own idea of a stream.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from contextlib import aclosing, suppress
from typing import Any

from streamsoccer.server.follow import Follower

__all__ = ["PATIENCE", "VIEWERS", "Telling", "Viewers"]

VIEWERS = 200  # who watch at once; others are told to come later
PATIENCE = 30.0  # seconds for one message to be taken; whoever needs longer comes back, and goes on where he was

Message = dict[str, Any]


class Viewers:
    """How many watch, and how long one may stall."""

    def __init__(self, most: int = VIEWERS, patience: float = PATIENCE) -> None:
        self.most, self.patience = most, patience
        self.now = 0

    @property
    def full(self) -> bool:
        return self.now >= self.most


class Telling:
    """The answer to one viewer: server-sent events from after `last`, until he leaves, stalls, or the server ends."""

    def __init__(self, follower: Follower, viewers: Viewers, last: str, headers: Mapping[str, str]) -> None:
        self._follower, self._viewers, self._last = follower, viewers, last
        self._headers = [(name.lower().encode(), value.encode()) for name, value in headers.items()]

    async def __call__(
        self, scope: Message, receive: Callable[[], Awaitable[Message]], send: Callable[[Message], Awaitable[None]]
    ) -> None:
        self._viewers.now += 1
        leaving = asyncio.create_task(_left(receive))
        telling = asyncio.create_task(self._tell(send))
        try:
            await asyncio.wait({leaving, telling}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            self._viewers.now -= 1
            for each in (leaving, telling):
                each.cancel()
                with suppress(asyncio.CancelledError, TimeoutError, OSError):  # cancelled, stalled, or gone
                    await each

    async def _tell(self, send: Callable[[Message], Awaitable[None]]) -> None:
        async def sent(body: bytes, more: bool = True) -> None:
            async with asyncio.timeout(self._viewers.patience):
                await send({"type": "http.response.body", "body": body, "more_body": more})

        headers = [(b"content-type", b"text/event-stream; charset=utf-8"), *self._headers]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await sent(b"retry: 1000\n\n")
        async with aclosing(self._follower.messages(self._last)) as messages:
            async for each in messages:
                await sent(each.encode())
        await sent(b"", more=False)


async def _left(receive: Callable[[], Awaitable[Message]]) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
