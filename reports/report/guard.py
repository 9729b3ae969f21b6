"""Who may see the report: Host header, token, and what the browser is told to allow.

On the loopback address the Host header is what keeps other sites out: a site whose name is made to
lead here (DNS rebinding) still sends its own name. Elsewhere a token is asked for, too: once in the
address, then in a cookie.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from hmac import compare_digest
from ipaddress import ip_address
from typing import TYPE_CHECKING
from urllib.parse import urlencode

from flask import Response, redirect, request

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flask import Flask
    from werkzeug.wrappers import Response as BaseResponse

COOKIE, PARAMETER = "pathscope_token", "token"
LARGEST_REQUEST_BYTES = 1 << 20
"""Of a request: an address and what a table asks for; figures go the other way only."""

HEADERS = {
    "X-Frame-Options": "DENY",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
}


@dataclass(frozen=True, slots=True)
class Settings:
    """How the report is served.

    Attributes
    ----------
    host, port
        The address that is listened on.
    token
        What a visitor has to know; None for nothing.
    """

    host: str = "127.0.0.1"
    port: int = 8050
    token: str | None = None

    @property
    def is_local(self) -> bool:
        """Whether only this machine can connect."""
        return is_loopback(self.host)

    @property
    def url(self) -> str:
        """Where the report is, the token included."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        query = "" if self.token is None else f"?{urlencode({PARAMETER: self.token})}"
        return f"http://{host}:{self.port}/{query}"


def is_loopback(host: str) -> bool:
    """Whether an address that is listened on is reached from this machine only."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def new_token() -> str:
    """Return a token that nobody guesses."""
    return secrets.token_urlsafe(24)


def protect(server: Flask, settings: Settings, script_hashes: Sequence[str]) -> None:
    """Check every request to a server, and add what browsers are told to every answer.

    Parameters
    ----------
    server
        The application's.
    settings
        What is checked.
    script_hashes
        Of the inline scripts that Dash starts itself with, as CSP writes them.
    """
    policy = content_policy(script_hashes)
    server.config["MAX_CONTENT_LENGTH"] = LARGEST_REQUEST_BYTES

    @server.before_request
    def check() -> BaseResponse | None:
        if not is_our_host(request.host, settings):
            return Response("This report is not served under that name.\n", 421)
        if _is_of_another_site():
            return Response("Another site's page asked for this.\n", 403)
        token = settings.token
        if token is None or _is_token(request.cookies.get(COOKIE), token):
            return None
        if request.method == "GET" and _is_token(request.args.get(PARAMETER), token):
            return _let_in(token)
        return Response("Open the report by the address that its command printed.\n", 401)

    @server.after_request
    def tell(response: Response) -> Response:
        response.headers["Content-Security-Policy"] = policy
        response.headers.update(HEADERS)
        if response.mimetype in ("text/html", "application/json", "text/csv"):
            response.headers["Cache-Control"] = "no-store"
        return response


def _is_of_another_site() -> bool:
    """Whether a page of another site asks, other than by a link that was followed.

    It could not read the answer, but keep this machine busy with making it. Browsers tell
    (Fetch Metadata Request Headers); who is none may leave it out.
    """
    site = request.headers.get("Sec-Fetch-Site", "none")
    return site not in ("none", "same-origin") and (
        request.method != "GET" or request.headers.get("Sec-Fetch-Mode") != "navigate"
    )


def _is_token(given: str | None, token: str) -> bool:
    return given is not None and compare_digest(given.encode(), token.encode())


def _let_in(token: str) -> BaseResponse:
    """Put the token where links do not carry it on, and go on without it in the address."""
    kept = [(key, value) for key, value in request.args.items(multi=True) if key != PARAMETER]
    # One slash: two would name another host.
    path = "/" + request.path.lstrip("/\\")
    response = redirect(f"{path}?{urlencode(kept)}" if kept else path)
    response.set_cookie(COOKIE, token, httponly=True, samesite="Lax")
    return response


def is_our_host(header: str, settings: Settings) -> bool:
    """Whether a Host header names this server.

    Where other machines may connect, any IP address may be ours, and no name but the one that was
    asked for: a name is what rebinding needs.
    """
    name, _, port = header.rpartition(":") if _has_port(header) else (header, "", "80")
    if port != str(settings.port):
        return False
    name = name.strip("[]").lower()
    if name == settings.host.lower():
        return True
    if settings.is_local:
        return is_loopback(name)
    try:
        ip_address(name)
    except ValueError:
        return False
    return True


def _has_port(header: str) -> bool:
    return header.rpartition(":")[2].isdigit() and not header.endswith("]")


def content_policy(script_hashes: Sequence[str]) -> str:
    """Return the Content-Security-Policy.

    Scripts are the application's files and Dash's own inline ones, by their hashes; nothing is
    evaluated. Styles cannot be as strict: plotly, AG Grid and Mantine set them on elements.
    """
    return "; ".join(
        (
            "default-src 'none'",
            f"script-src 'self' {' '.join(script_hashes)}",
            "style-src 'self' 'unsafe-inline'",
            "img-src 'self' data: blob:",
            "font-src 'self' data:",
            "connect-src 'self'",
            "manifest-src 'self'",
            "base-uri 'none'",
            "form-action 'none'",
            "frame-ancestors 'none'",
        )
    )
