"""All routes of the page."""

from __future__ import annotations

from dither.server.page.routes import answers, ask, assets, budget, login

PAGES = (
    login.routes,
    assets.routes,
    ask.routes,
    answers.routes,
    budget.routes,
)
