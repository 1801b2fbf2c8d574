"""All routes of the page."""

from __future__ import annotations

from dither.server.page.routes import assets, login, wizard

PAGES = (
    login.routes,
    assets.routes,
    wizard.routes,
)
