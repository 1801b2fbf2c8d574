"""All routes of the page."""

from __future__ import annotations

from dither.server.page.routes import answers, assets, budget, login

PAGES = (
    login.routes,
    assets.routes,
    answers.routes,
    budget.routes,
)
