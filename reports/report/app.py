"""The application: a page is what the address says, and what is chosen goes into the address."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

import dash_mantine_components as dmc
from dash import Dash, dcc, html

from . import callbacks, downloads, guard
from .data import ReportData, Shelf
from .desk import Desk
from .drawing import FIGURES

if TYPE_CHECKING:
    from collections.abc import Mapping

    from dash.development.base_component import Component

    from .drawing import Drawer

ASSETS = Path(__file__).with_name("assets")

WATCH_EVERY_MS = 3_000


def create_app(
    data: ReportData | Shelf,
    settings: guard.Settings | None = None,
    *,
    is_watched: bool = False,
    figures: Mapping[str, Drawer] = FIGURES,
) -> Dash:
    """Make the application.

    Parameters
    ----------
    data
        What is shown; on a shelf, where it may be replaced while the application runs.
    settings
        Who may see it; None for this machine alone, on the standard port.
    is_watched
        Whether the browser asks every few seconds for what is new on the shelf.
    figures
        What draws each figure, by its name.

    Returns
    -------
    Dash
        Its `server` is the WSGI application.
    """
    # Plotly looks at pandas wherever it is being imported; several figures are drawn at once, and
    # a module that another thread has imported half fails there.
    import_module("pandas")
    shelf = data if isinstance(data, Shelf) else Shelf(data)
    desk = Desk(shelf, figures)
    app = Dash(
        __name__,
        assets_folder=str(ASSETS),
        title="pathscope",
        update_title="",
        suppress_callback_exceptions=True,  # what a page has is there once it is shown
        enable_mcp=False,  # nothing but a browser is to ask
        websocket_callbacks=False,
        add_log_handler=False,
    )
    # Screen readers choose their voice by it.
    app.index_string = app.index_string.replace("<html>", '<html lang="en">', 1)
    app.layout = lambda: layout(is_watched=is_watched)
    callbacks.register(app, desk)
    downloads.serve(app.server, desk.view, desk.draw)
    guard.protect(app.server, settings or guard.Settings(), app.csp_hashes())
    return app


def layout(*, is_watched: bool) -> Component:
    """Return what stands around every page."""
    return dmc.MantineProvider(
        dmc.AppShell(
            [
                dcc.Location(id="address", refresh="callback-nav"),
                dcc.Store(id="shown"),
                dcc.Store(id="look"),
                dcc.Interval(id="clock", interval=WATCH_EVERY_MS, disabled=not is_watched),
                dcc.Store(id="edition"),
                dmc.AppShellHeader(
                    dmc.Group(
                        [
                            dmc.Anchor("pathscope", href="/", refresh=False, fw=700, c="inherit"),
                            dmc.ColorSchemeToggle(
                                id="scheme",
                                lightIcon=html.Span("Theme: light"),
                                darkIcon=html.Span("Theme: dark"),
                                variant="default",
                                w="auto",
                                px="xs",
                                fz="sm",
                            ),
                        ],
                        justify="space-between",
                        h="100%",
                        px="md",
                    )
                ),
                dmc.AppShellMain(
                    dmc.Container(
                        dmc.Stack(
                            [
                                html.Div(id="pages"),
                                html.Div(id="title"),
                                html.Div(id="selection"),
                                html.Div(id="content"),
                            ],
                            gap="md",
                        ),
                        size=1400,
                        px={"base": "xs", "sm": "md"},
                        py="md",
                    ),
                    id="main",
                ),
            ],
            header={"height": 48},
        ),
        defaultColorScheme="auto",
        theme={
            "primaryColor": "blue",
            "primaryShade": {"light": 8, "dark": 5},  # of enough contrast to the background
            "fontFamily": "system-ui, sans-serif",
        },
    )
