"""All routes of the page."""

from __future__ import annotations

from dither.server.page.routes import assets, data, history, login, people, policy

PAGES = (
    login.routes,
    assets.routes,
    data.routes,
    people.routes,
    history.routes,
    policy.routes,
)
