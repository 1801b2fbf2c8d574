"""All routes of the page."""

from __future__ import annotations

from dither.server.page.routes import answers, ask, assets, budget, data, history, login, people, policy, wizard

PAGES = (
    answers.routes,
    ask.routes,
    assets.routes,
    budget.routes,
    data.routes,
    history.routes,
    login.routes,
    people.routes,
    policy.routes,
    wizard.routes,
)
