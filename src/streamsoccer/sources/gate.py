"""The only way out for a decoder that reads over HTTP: a proxy on the loopback that knows where it may go.

A playlist names further addresses, and a server redirects. Those may lie on the server that the user named, at its
port, or anywhere on the public internet, as with a network that delivers content; never at another port of that server,
on this machine or in the network behind it.
"""

from __future__ import annotations

import contextlib
import ipaddress
import os
import socket
import threading
from collections.abc import Callable
from urllib.parse import SplitResult, unquote, urlsplit
from urllib.request import getproxies, proxy_bypass

__all__ = ["Gate"]

CONNECT_SECONDS = 4.0
MAX_HEAD = 1 << 16
MAX_TOLD = 5
NOTHING = "Content-Length: 0"
PORTS = {"http": 80, "https": 443}
Resolve = Callable[[str, int], list[str]]


class Gate:
    """Serves one decoder, in threads of its own, until the process ends. `problem` says why the last request failed."""

    def __init__(
        self, url: str, *, tell: Callable[[str], None] | None = None, upstream: str | None = None,
        resolve: Resolve | None = None,
    ) -> None:  # fmt: skip
        """`tell` hears once of each address that was asked for in vain; `upstream` is the proxy before this machine."""
        parts = urlsplit(url)
        self._tell, self._told = tell, set[tuple[str, int]]()
        self._resolve = resolve or _resolve
        self._host, self._port = _place(parts)
        if upstream is None and not proxy_bypass(self._host):
            upstream = getproxies().get("http")
        self._upstream = urlsplit(upstream) if upstream else None
        self._home: set[str] = set()
        self.problem: str | None = None
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.address = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        threading.Thread(target=self._listen, name="gate", daemon=True).start()

    def lead_through(self) -> None:
        """Make this process's FFmpeg go through the gate, whatever it opens over HTTP; it asks its environment."""
        os.environ["http_proxy"] = self.address
        os.environ.pop("no_proxy", None)

    def close(self) -> None:
        self._listener.close()

    def may_reach(self, host: str, port: int) -> list[str]:
        """The addresses of a host that may be connected to: none where it is not to be reached."""
        addresses = self._resolve(host, port)
        if (host, port) == (self._host, self._port):
            self._home |= set(addresses)
            return addresses
        at_home = self._home if port == self._port else set()
        return [address for address in addresses if address in at_home or ipaddress.ip_address(address).is_global]

    def _listen(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        """One request on one connection; what follows the head is passed on as it is."""
        with client, contextlib.suppress(OSError):
            head, _, body = _read_head(client)
            try:
                method, target, _ = head.split("\r\n", 1)[0].split(" ", 2)
                tunnel = method == "CONNECT"
                parts = urlsplit(f"https://{target}" if tunnel else target)
                host, port = _place(parts)
            except ValueError:
                _answer(client, "400 Bad Request", NOTHING)
                return
            server = self._connect(client, host, port)
            if server is None:
                return
            with server:
                if tunnel and self._upstream is None:
                    _answer(client, "200 Connection established")
                    server.sendall(body)
                else:
                    server.sendall(self._forwarded(head, parts, tunnel=tunnel).encode("latin-1") + body)
                back = threading.Thread(target=_pass_on, args=(client, server), daemon=True)
                back.start()
                _pass_on(server, client)
                back.join()

    def _connect(self, client: socket.socket, host: str, port: int) -> socket.socket | None:
        try:
            addresses = self.may_reach(host, port)
        except OSError as error:
            if self._upstream is None:
                self.problem = f"{host} is not known ({error.strerror})"
                _answer(client, "502 Bad Gateway", NOTHING)
                return None
            addresses = [host]  # a name that only the proxy can resolve
        if not addresses:
            self.problem = f"it leads to {host}:{port}, which is neither the server named nor on the public internet"
            if self._tell is not None and (host, port) not in self._told and len(self._told) < MAX_TOLD:
                self._told.add((host, port))
                self._tell(self.problem)
            _answer(client, "403 Forbidden", NOTHING)
            return None
        if self._upstream is not None:
            addresses, port = [self._upstream.hostname or ""], self._upstream.port or 80
        for address in addresses:
            try:
                server = socket.create_connection((address, port), timeout=CONNECT_SECONDS)
            except OSError as error:
                self.problem = error.strerror or "connection timed out"
                continue
            server.settimeout(None)
            self.problem = None
            return server
        _answer(client, "502 Bad Gateway", NOTHING)
        return None

    def _forwarded(self, head: str, parts: SplitResult, *, tunnel: bool) -> str:
        """The request as the server, or the proxy before it, is to have it: one for each connection."""
        first, *lines = head.split("\r\n")
        method, target, version = first.split(" ", 2)
        if self._upstream is None:
            target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        kept = [line for line in lines if line.partition(":")[0].lower() not in ("connection", "proxy-connection")]
        if not tunnel:
            kept.append("Connection: close")
        if self._upstream is not None and self._upstream.username is not None:
            kept.append(f"Proxy-Authorization: Basic {_basic(self._upstream)}")
        return "\r\n".join([f"{method} {target} {version}", *kept, "", ""])


def _place(parts: SplitResult) -> tuple[str, int]:
    if parts.scheme not in PORTS or not parts.hostname:
        raise ValueError(f"not an address on the web: {parts.scheme}")
    return parts.hostname, parts.port or PORTS[parts.scheme]


def _resolve(host: str, port: int) -> list[str]:
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except UnicodeError as error:  # a label too long to be a name
        raise socket.gaierror(socket.EAI_NONAME, "not a host name") from error
    return list(dict.fromkeys(str(entry[4][0]).partition("%")[0] for entry in found))


def _basic(parts: SplitResult) -> str:
    import base64

    return base64.b64encode(f"{unquote(parts.username or '')}:{unquote(parts.password or '')}".encode()).decode()


def _read_head(client: socket.socket) -> tuple[str, str, bytes]:
    data = b""
    while b"\r\n\r\n" not in data and len(data) < MAX_HEAD:
        if not (more := client.recv(4096)):
            break
        data += more
    head, end, body = data.partition(b"\r\n\r\n")
    return head.decode("latin-1"), end.decode(), body


def _answer(client: socket.socket, status: str, *headers: str) -> None:
    client.sendall("\r\n".join([f"HTTP/1.1 {status}", *headers, "", ""]).encode())


def _pass_on(source: socket.socket, sink: socket.socket) -> None:
    """Everything that one side says to the other, until it has no more to say: then both are done."""
    with contextlib.suppress(OSError):
        while data := source.recv(1 << 16):
            sink.sendall(data)
    with contextlib.suppress(OSError):
        sink.shutdown(socket.SHUT_RDWR)
