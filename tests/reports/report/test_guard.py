"""Who may see the report."""

import socket
from threading import Thread

import pytest
from flask.testing import FlaskClient
from pathscope.reports.report.app import create_app
from pathscope.reports.report.data import ReportData, Shelf
from pathscope.reports.report.guard import COOKIE, Settings, is_our_host
from pathscope.reports.report.server import Handler, Server

HERE = "http://127.0.0.1:8050"
EMPTY = ReportData(())


def client(settings: Settings | None = None) -> FlaskClient:
    found: FlaskClient = create_app(EMPTY, settings).server.test_client()
    return found


def test_this_machine_needs_no_token() -> None:
    found = client().get("/", base_url=HERE)
    assert found.status_code == 200
    policy = found.headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    scripts = next(one for one in policy.split("; ") if one.startswith("script-src"))
    assert "unsafe" not in scripts
    assert found.headers["X-Frame-Options"] == "DENY"
    assert found.headers["X-Content-Type-Options"] == "nosniff"
    assert found.headers["Referrer-Policy"] == "no-referrer"


@pytest.mark.parametrize(
    "host",
    [
        "evil.example:8050",
        "127.0.0.1:8051",
        "127.0.0.1",
        "127.0.0.1.evil.example:8050",
        "8.8.8.8:8050",
    ],
)
def test_another_host_is_refused(host: str) -> None:
    assert client().get("/", base_url=f"http://{host}").status_code == 421
    assert client().post("/_dash-update-component", base_url=f"http://{host}").status_code == 421


@pytest.mark.parametrize(
    "host", ["localhost:8050", "127.0.0.1:8050", "[::1]:8050", "LOCALHOST:8050"]
)
def test_names_of_this_machine_are_its(host: str) -> None:
    assert is_our_host(host, Settings())


def test_elsewhere_only_addresses_and_the_name_asked_for_are_ours() -> None:
    settings = Settings("0.0.0.0", 8050, "secret")  # noqa: S104
    assert is_our_host("192.0.2.7:8050", settings)
    assert is_our_host("[2001:db8::1]:8050", settings)
    assert not is_our_host("evil.example:8050", settings)
    assert is_our_host("lab.example:8050", Settings("lab.example", 8050, "secret"))


def test_a_token_is_asked_for_once() -> None:
    visitor = client(Settings(token="secret"))  # noqa: S106
    assert visitor.get("/", base_url=HERE).status_code == 401
    assert visitor.get("/_dash-layout", base_url=HERE).status_code == 401
    assert visitor.get("/assets/report.css", base_url=HERE).status_code == 401
    assert visitor.get("/?token=other", base_url=HERE).status_code == 401
    assert visitor.get("/?token=gehe%C3%AFm", base_url=HERE).status_code == 401
    let_in = visitor.get("/packets?token=secret&case=1", base_url=HERE)
    assert let_in.status_code == 302
    assert let_in.headers["Location"] == "/packets?case=1"
    cookie = let_in.headers["Set-Cookie"]
    assert cookie.startswith(f"{COOKIE}=secret;")
    assert "HttpOnly" in cookie
    assert "SameSite=Lax" in cookie
    assert visitor.get("/packets?case=1", base_url=HERE).status_code == 200


def test_the_token_leads_to_no_other_host() -> None:
    visitor = client(Settings(token="secret"))  # noqa: S106
    found = visitor.get("//evil.example/?token=secret", base_url=HERE)
    assert found.headers["Location"] == "/"


@pytest.mark.parametrize(
    "path",
    [
        "/assets/../app.py",
        "/assets/%2e%2e/app.py",
        "/assets/..%2fguard.py",
        "/_dash-component-suites/dash/../../../../etc/passwd",
        "/download/overview/table/..%2f..%2fetc%2fpasswd.csv",
        "/download/../etc/passwd",
    ],
)
def test_no_path_leads_to_a_file(path: str) -> None:
    found = client().get(path, base_url=HERE)
    text = found.get_data(as_text=True)
    assert "root:" not in text
    assert "def create_app" not in text
    assert "def protect" not in text


def test_large_requests_are_refused() -> None:
    found = client().post("/_dash-update-component", base_url=HERE, data=b"x" * (2 << 20))
    assert found.status_code in (400, 413, 415)


def test_a_taken_port_is_an_error() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(OSError, match="in use"):
            Server(Shelf(EMPTY), "127.0.0.1", port, None, is_watched=False)


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_pages_of_other_sites_may_link_here_and_no_more(site: str) -> None:
    told = {"Sec-Fetch-Site": site, "Sec-Fetch-Mode": "no-cors"}
    followed = {"Sec-Fetch-Site": site, "Sec-Fetch-Mode": "navigate"}
    visitor = client()
    download = "/download/packets/rows/packets.csv"
    assert visitor.get(download, base_url=HERE, headers=told).status_code == 403
    assert visitor.get("/", base_url=HERE, headers=followed).status_code == 200
    callback = "/_dash-update-component"
    for headers in (told, followed):
        assert visitor.post(callback, base_url=HERE, headers=headers, json={}).status_code == 403
    own = {"Sec-Fetch-Site": "same-origin", "Sec-Fetch-Mode": "cors"}
    assert visitor.get("/_dash-layout", base_url=HERE, headers=own).status_code == 200


def test_who_says_nothing_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Handler, "timeout", 0.2)
    server = Server(Shelf(EMPTY), "127.0.0.1", 0, None, is_watched=False)
    thread = Thread(target=server.serve)
    thread.start()
    try:
        port = server.settings.port
        with socket.create_connection(("127.0.0.1", port), timeout=20) as silent:
            assert silent.recv(1) == b""
        with socket.create_connection(("127.0.0.1", port), timeout=20) as visitor:
            visitor.sendall(f"GET / HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n".encode())
            head = visitor.makefile("rb").read().partition(b"\r\n\r\n")[0]
    finally:
        server.stop()
        thread.join()
    assert head.startswith(b"HTTP/1.1 200 ")
    assert b"Server: pathscope\r\n" in head
    assert b"Werkzeug" not in head
