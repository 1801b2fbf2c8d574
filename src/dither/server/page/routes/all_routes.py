"""All routes of the page."""

from __future__ import annotations

from dither.server.page.routes import ask, assets, login

PAGES = (
    login.routes,
    assets.routes,
    ask.routes,
)
