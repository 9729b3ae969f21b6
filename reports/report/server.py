"""The report's own server, which listens before it is told where."""

from __future__ import annotations

import logging
import socket
from typing import TYPE_CHECKING

from werkzeug.serving import WSGIRequestHandler, make_server

from .app import create_app
from .guard import Settings

if TYPE_CHECKING:
    from .data import Shelf


class Handler(WSGIRequestHandler):
    """Answers a connection, and waits for what is asked no longer than it has to."""

    timeout = 60
    """Seconds: who connects and says nothing would keep a thread for ever."""

    def version_string(self) -> str:
        """Say who answers: which versions are behind it is nobody's business."""
        return "pathscope"


class Server:
    """Serves one report.

    A thread for every request: a figure must not wait for rows that take long. Port 0 becomes the
    port that was free, which the Host header is then held against.
    """

    def __init__(
        self, shelf: Shelf, host: str, port: int, token: str | None, *, is_watched: bool
    ) -> None:
        """Listen.

        Raises
        ------
        OSError
            When the address is not this machine's, or the port is taken.
        """
        # One line a request would bury what the command has to say.
        logging.getLogger("werkzeug").setLevel(logging.WARNING)
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        # Listening here rather than there: werkzeug ends the process where the port is taken.
        self._socket = socket.create_server((host, port), family=family)
        self._server = make_server(
            host,
            port,
            _not_yet,
            threaded=True,
            request_handler=Handler,
            fd=self._socket.fileno(),
        )
        self.settings = Settings(host, self._server.port, token)
        app = create_app(shelf, self.settings, is_watched=is_watched)
        self._server.app = app.server

    def serve(self) -> None:
        """Answer requests until someone stops it."""
        self._server.serve_forever()

    def stop(self) -> None:
        """Answer no more."""
        self._server.shutdown()
        self._server.server_close()
        self._socket.close()


def _not_yet(_: object, __: object) -> list[bytes]:
    """Stand in until the port is known: nobody can connect before `serve`."""
    return []
