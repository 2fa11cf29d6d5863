"""Serves one page to this machine, and answers what the page asks.

It listens on 127.0.0.1 only. Every path begins with a secret; a request for another host, as a page elsewhere would
make by a name that leads here, is refused, and so is a question that another page asks.
"""

from __future__ import annotations

import hmac
import json
import secrets
from collections.abc import Callable
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, TypeAlias

from hacheck.cli.exploring.explored_views import BadRequest

Json: TypeAlias = Any

ADDRESS = "127.0.0.1"

BODY_BYTES_MAX = 256_000

HEADERS = (
    ("Cache-Control", "no-store"),
    ("Cross-Origin-Opener-Policy", "same-origin"),
    ("Cross-Origin-Resource-Policy", "same-origin"),
    ("Referrer-Policy", "no-referrer"),
    ("X-Content-Type-Options", "nosniff"),
    ("X-Frame-Options", "DENY"),
)


class LoopbackServer(ThreadingHTTPServer):
    """The server of one page. `answer`: what a question of the page is answered with, by its name."""

    daemon_threads = True
    allow_reuse_address = True

    def __init__(self, port: int, page: str, answer: Callable[[str, Json], Json]) -> None:
        super().__init__((ADDRESS, port), PageHandler)
        self.page, self.answer = page.encode(), answer
        self.token = secrets.token_urlsafe(24)

    @property
    def url(self) -> str:
        """The address of the page, with its secret."""
        return f"http://{ADDRESS}:{self.server_port}/{self.token}/"

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A browser that has gone is no error; what is one goes to the page as the answer."""


class PageHandler(BaseHTTPRequestHandler):
    """One request."""

    server: LoopbackServer
    protocol_version = "HTTP/1.1"
    timeout = 60

    def do_GET(self) -> None:
        """The page, and nothing else."""
        if self._name() != "":
            self._send(HTTPStatus.NOT_FOUND, b"not found", "text/plain")
        else:
            self._send(HTTPStatus.OK, self.server.page, "text/html")

    def do_POST(self) -> None:
        """A question of the page."""
        name = self._name()
        if not name:
            self._refuse(HTTPStatus.NOT_FOUND, "not found")
            return
        if self.headers.get("Origin") not in (None, *(f"http://{host}" for host in self._hosts())):
            self._refuse(HTTPStatus.FORBIDDEN, "the request comes from another page")
            return
        if self.headers.get_content_type() != "application/json":
            self._refuse(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, "not JSON")
            return
        length = self.headers.get("Content-Length", "")
        if not length.isascii() or not length.isdigit() or int(length) > BODY_BYTES_MAX:
            self._refuse(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "too long")
            return
        try:
            found = self.server.answer(name, json.loads(self.rfile.read(int(length))))
        except (BadRequest, ValueError, RecursionError) as wrong:
            self._send(HTTPStatus.BAD_REQUEST, str(wrong).encode(), "text/plain")
            return
        self._send(HTTPStatus.OK, json.dumps(found, ensure_ascii=False).encode(), "application/json")

    def _hosts(self) -> tuple[str, ...]:
        return tuple(f"{name}:{self.server.server_port}" for name in (ADDRESS, "localhost"))

    def _name(self) -> str | None:
        """What follows the secret, or `None` where a request is not for the page."""
        if self.headers.get("Host") not in self._hosts():
            return None
        _, token, name = (*self.path.split("/", 2), "", "")[:3]
        return name if hmac.compare_digest(token.encode(), self.server.token.encode()) else None

    def _refuse(self, status: HTTPStatus, why: str) -> None:
        """An answer without having read the question, so that nothing more comes over this connection."""
        self.close_connection = True
        self._send(status, why.encode(), "text/plain")

    def _send(self, status: HTTPStatus, content: bytes, kind: str) -> None:
        self.send_response(status)
        self.send_header("Content-Type", f"{kind}; charset=utf-8")
        self.send_header("Content-Length", str(len(content)))
        for name, value in HEADERS:
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)

    def version_string(self) -> str:
        """Says of the server only what it is."""
        return "hacheck"

    def log_message(self, format: str, *args: Any) -> None:
        """Requests of the page are no news for the terminal."""
