"""The live page over HTTP: the page itself, the rows of the match as they are written, and its films.

No path comes from a request: a film is asked for by its number. By default only this machine is listened to, and only
under its own name, so that no other site's page can reach it.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from streamsoccer.errors import StreamSoccerError, UsageError
from streamsoccer.journal_reader import JournalReader
from streamsoccer.outputs.page import data_of, films_of, found_films, render
from streamsoccer.outputs.rows import header_of
from streamsoccer.server.follow import Follower
from streamsoccer.server.viewers import Telling, Viewers

if TYPE_CHECKING:
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import Response

__all__ = ["LOCAL", "make_app", "serve"]

LOCAL = ("127.0.0.1", "localhost", "::1")
_SAFE = {
    "Cache-Control": "no-cache",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}


def make_app(
    journal: Path,
    films: Sequence[Path] | None = None,
    *,
    host: str = LOCAL[0],
    pause: float = 0.3,
    viewers: Viewers | None = None,
) -> Starlette:
    """The application for one journal. Without `films` they are those that the journal names."""
    try:
        from starlette.applications import Starlette
        from starlette.middleware import Middleware
        from starlette.middleware.trustedhost import TrustedHostMiddleware
        from starlette.responses import FileResponse, HTMLResponse, PlainTextResponse
        from starlette.routing import Route
    except ImportError as error:
        raise UsageError("the live page needs Starlette", remedy="pip install 'streamsoccer[serve]'") from error

    served: list[Path] = []
    watching = viewers or Viewers()

    def head(reader: JournalReader) -> dict[str, Any]:
        paths = found_films(reader.header, journal.parent) if films is None else list(films)
        try:
            told = films_of(reader, paths, lambda film: f"film/{paths.index(film)}")
            problem = ""
        except StreamSoccerError as error:
            told, problem = [], str(error)  # the match is shown all the same
        served[:] = paths
        return {"header": header_of(reader.header), "films": [each.state() for each in told], "problem": problem}

    follower = Follower(journal, head, pause)
    page = render(data_of({}, [], live=True), "StreamSoccer")

    async def home(_: Request) -> Response:
        return HTMLResponse(page, headers=_SAFE)

    async def rows(request: Request) -> Response | Telling:
        if watching.full:
            return PlainTextResponse("too many viewers", 503, headers={**_SAFE, "Retry-After": "30"})
        last = request.headers.get("last-event-id") or request.query_params.get("last", "")
        return Telling(follower, watching, last, _SAFE)

    async def film(request: Request) -> Response:
        number = request.path_params["number"]
        if number >= len(served) or not served[number].is_file():
            return PlainTextResponse("there is no such film", 404, headers=_SAFE)
        return FileResponse(served[number], headers=_SAFE)  # with ranges, so that a browser can seek

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        following = asyncio.create_task(follower.run())
        try:
            yield
        finally:
            following.cancel()
            with suppress(asyncio.CancelledError):
                await following

    hosts = [*LOCAL, "[::1]"] if host in LOCAL else ["*"]
    app = Starlette(
        routes=[Route("/", home), Route("/rows", rows), Route("/film/{number:int}", film)],
        middleware=[Middleware(TrustedHostMiddleware, allowed_hosts=hosts, www_redirect=False)],
        lifespan=lifespan,
    )
    app.state.follower = follower
    return app


def serve(app: Starlette, host: str, port: int, *, ready: Callable[[str], object] | None = None) -> None:
    """Serve until interrupted; `ready` is called with the address once somebody can connect."""
    import uvicorn

    class Server(uvicorn.Server):
        async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
            await app.state.follower.stop()  # else it would wait for viewers, who never leave by themselves
            await super().shutdown(sockets)

    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as listening:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listening.bind((host, port))
        except OSError as error:
            raise UsageError(f"port {port} of {host}: {error.strerror}", remedy="choose another with --port") from error
        listening.listen(100)
        if ready is not None:
            name = f"[{host}]" if ":" in host else host
            ready(f"http://{name}:{listening.getsockname()[1]}/")
        config = uvicorn.Config(app, log_level="warning", access_log=False, timeout_graceful_shutdown=1)
        Server(config).run(sockets=[listening])
