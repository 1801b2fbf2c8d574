"""Every page as it looks: axe finds nothing, light and dark; nothing is wider than a phone; nothing moves without need."""

from __future__ import annotations

import re

import pytest

pytest.importorskip("playwright", reason="not run: no Chromium can be driven without playwright")

from playwright.sync_api import expect

from tests.server.page.axe import violations
from tests.server.page.stories.steps import SQL, priced, problem, write

PHONE = {"width": 320, "height": 640}


def every_page(who, site):
    """Each page there is, in each state that has a look of its own: its name, and the tab."""
    first, second = site.answered(SQL.format(71)), site.answered(SQL.format(72))
    page = who.open("/ask")
    for name, path in {
        "ask": "/ask",
        "ask with an answer": f"/ask?answer={first}",
        "answers": "/answers",
        "answers, none found": "/answers?words=nothing+like+it",
        "answer": f"/answers/{first}",
        "compared": f"/answers/compare?a={first}&b={second}",
        "budget": "/budget",
        "data": "/data",
        "new data": "/data/new",
        "people": "/people",
        "history": "/history?dataset=clinic",
        "policy": "/policy?dataset=clinic",
        "problem": "/answers/no-such-answer",
    }.items():
        page.goto(path)
        yield name, page
    page.goto("/ask")
    page.get_by_role("radio", name="I say how far it may be off").check()
    page.get_by_text("More", exact=True).click()
    yield "ask, all open", page
    write(page, "SELECT wards FROM visits GROUP BY wards")
    expect(problem(page)).not_to_be_empty()
    yield "ask, refused", page
    page.goto("/history?dataset=clinic")
    page.get_by_role("button", name=re.compile("Verify")).click()
    yield "history, verified", page
    page.goto("/policy?dataset=clinic")
    text = page.get_by_role("textbox").input_value()
    page.get_by_role("textbox").fill(text.replace("max_rows = 6", "max_rows = 7"))
    page.get_by_role("button", name="Show what it would change").click()
    expect(page.get_by_text(re.compile("loosens")).first).to_be_visible()
    yield "policy, compared", page
    page.goto("/people")
    page.get_by_label("Name").first.fill("pia")
    page.get_by_role("checkbox", name=re.compile("^clinic")).check()
    page.get_by_role("button", name="Create the token").click()
    expect(page.get_by_role("heading", name="The token is made")).to_be_visible()
    yield "token", page
    page.goto("/data/new")
    page.get_by_role("button", name="Make a policy for stays.csv").click()
    expect(page.get_by_role("button", name="Next")).to_be_visible()
    yield "wizard", page
    page.get_by_role("button", name="Next").click()
    yield "wizard, second step", page
    page.goto("/login")
    yield "login", page


@pytest.mark.parametrize("colours", ["light", "dark"])
def test_axe_finds_nothing_and_nothing_is_wider_than_a_phone(profile, site, colours):
    who = profile("owner", color_scheme=colours, viewport=PHONE, reduced_motion="reduce")
    who.expect("/answers/no-such-answer")
    wrong = []
    for name, page in every_page(who, site):
        wrong += [f"{name}: {found}" for found in violations(page)]
        wide = page.evaluate("() => document.documentElement.scrollWidth")
        wrong += [f"{name}: {wide} wide"] if wide > PHONE["width"] else []
        wrong += [f"{name}: {moves}" for moves in page.evaluate(MOTION)]
        heads = page.get_by_role("heading", level=1).count()
        wrong += [f"{name}: {heads} first headings"] if heads != 1 else []
    assert not wrong, "\n".join(wrong)


# Whatever moves by itself, or glides, though the person asked for rest.
MOTION = """() => [...document.querySelectorAll("*")].filter((each) => {
    const {animationName, animationDuration, transitionDuration} = getComputedStyle(each);
    const long = (times) => times.split(",").some((time) => parseFloat(time) > 0.001);
    return (animationName !== "none" && long(animationDuration)) || long(transitionDuration);
}).map((each) => `${each.tagName} moves`)"""


def test_dark_is_dark_and_light_is_light(profile):
    shades = {}
    for colours in ("light", "dark"):
        page = profile(None, color_scheme=colours).open("/login")
        seen = page.evaluate("() => getComputedStyle(document.body).backgroundColor")
        shades[colours] = sum(int(part) for part in re.findall(r"\d+", seen)[:3])
    assert shades["dark"] < 200 < 600 < shades["light"]


def test_axe_finds_what_is_planted(profile):
    page = profile(None).open("/login")
    assert violations(page) == []
    page.evaluate("() => document.querySelector('label').remove()")
    assert any(found.startswith("label:") for found in violations(page))


def test_at_a_desk_axe_finds_nothing_either(profile, site):
    who = profile("owner")
    page = who.open(f"/ask?answer={site.answered(SQL.format(71))}")
    priced(page, "It costs")
    assert violations(page) == []
