"""The datasets of an owner: facts, health, what does not open; and who sees which page of the owner's."""

from __future__ import annotations

import os
import re
import signal
from html import unescape

import pyarrow
import pyarrow.parquet
import pytest

import dither
from tests.server.gateways import POLICY, ROWS, config, run, running
from tests.server.page.visitor import OURS, Visitor

PAGES = ("/data", "/people", "/policy", "/policy?dataset=clinic")
HISTORY = ("/history", "/history?dataset=clinic", "/history/export/csv?dataset=clinic", "/history/export/json")
HOSTILE = "<img src=x onerror=alert(1)>\"'&amp;{{7*7}}"
TURNED = "evil\u202egnp.exe"
FORMS = [
    ("/people", {"name": "eve", "dataset:clinic": "yes"}),
    ("/people/revoke", {"id": "x", "sure": "yes"}),
    ("/policy", {"dataset": "clinic", "policy": "version = 1"}),
    ("/history/verify", {"dataset": "clinic"}),
]


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory):
    """A gateway with two datasets; the policy of one is full of markup, and its comments of passwords."""
    folder = tmp_path_factory.mktemp("shop")
    odd = HOSTILE.replace('"', '\\"')
    text = POLICY.format(name="clinic", budget='epsilon = "3"')
    text = text.replace('domain = "clinic"', f'domain = "{odd}"  # </pre><script>alert(2)</script> {TURNED}')
    text = text.replace('["A", "B"]', f'["A", "{odd}", "\u202eB"]').replace("age =", f'"{odd}" = {{ type = "text" }}\nage =')
    path = folder / "clinic.toml"
    path.write_text(f"# moved from postgresql://ana:hunter2@host/db\n{text}", "utf-8")
    pyarrow.parquet.write_table(pyarrow.table({**ROWS, HOSTILE: ROWS["ward"]}), folder / "clinic.parquet")
    dither.create_ledger(path, write=True)
    with running(config(folder, "clinic", "shop")) as gateway:
        yield gateway


@pytest.fixture
def people(shop) -> Visitor:
    made = Visitor(shop)
    made.add("ana")
    made.add("olga", "owner")
    made.add("aude", "auditor")
    made.add("otto", "owner", ["shop"])
    made.add("anke", "auditor", ["shop"])
    return made


def test_roles_see_what_the_api_lets_them(people: Visitor):
    expected = {"ana": (403, 403), "aude": (403, 200), "olga": (200, 200), "otto": (None, None), "anke": (403, None)}
    for who, (owner, history) in expected.items():
        people.enter(who)
        for path in PAGES:
            status = people.get(path).status_code
            assert status == (owner or (404 if "clinic" in path else 200)), (who, path)
        for path in HISTORY:
            status = people.get(path).status_code
            assert status == (history or (404 if "clinic" in path else 200)), (who, path)
    for path in (*PAGES, *HISTORY):
        people.client.cookies.clear()
        assert people.get(path).headers["location"].startswith("/login")


def test_forms_of_roles_and_of_other_datasets_change_nothing(people: Visitor):
    before = people.gateway.tokens.list()
    for who, statuses in {"ana": (403, 403, 403, 403), "aude": (403, 403, 403, 200), "otto": (404, 404, 404, 404)}.items():
        people.enter(who)
        before = people.gateway.tokens.list()
        for (path, form), status in zip(FORMS, statuses, strict=True):
            assert people.post(path, form).status_code == status, (who, path)
        assert people.gateway.tokens.list() == before


@pytest.mark.parametrize(
    "headers",
    [
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
        {"Sec-Fetch-Site": "none"},
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {},
    ],
    ids=str,
)
def test_no_other_site_sends_a_form_of_the_owners(people: Visitor, headers: dict[str, str]):
    people.enter("olga")
    before = people.gateway.tokens.list()
    for path, form in FORMS:
        form = form | ({"id": people.ids["ana"]} if "id" in form else {})
        reply = people.client.post(path, data=form, headers=headers)
        assert reply.status_code == 403, path
    assert people.gateway.tokens.list() == before
    own = {"Origin": "http://127.0.0.1:8765"}  # of a browser that does not say more
    assert people.client.post("/history/verify", data={"dataset": "shop"}, headers=own).status_code == 200


@pytest.mark.parametrize("path", ["/data?a=1", "/people?a=1", "/history?last=1&last=2", "/policy?x=", "/data?x"])
def test_parameters_that_are_not_known_are_refused(people: Visitor, path: str):
    people.enter("olga")
    assert people.get(path).status_code == 422


def test_the_page_of_datasets_tells_what_is_in_force_and_nothing_secret(people: Visitor):
    people.enter("olga")
    text = people.get("/data").text
    shown = unescape(text)
    assert "1 of 1 workers" in shown
    for word in ("clinic.parquet", "DuckDB", "clinic.ledger", "100%", "add/remove one person", "/data/new"):
        assert word in shown, word
    assert run(people.gateway.owner_dataset(_caller(people, "olga"), "clinic"))["hash"] in shown
    assert "hunter2" not in text
    assert "postgresql://ana@host/db" in text
    must_be_harmless(text)


def must_be_harmless(text: str) -> None:
    """No markup of a policy is markup of the page, and nothing turns around what is read."""
    assert "<img" not in text
    assert "<script>" not in text
    assert "onerror=alert(1)>" not in text
    assert "{{7*7}}" in text  # and not 49
    assert "evil⟨U+202E⟩gnp.exe" in text
    for place in re.split(r"<textarea[^>]*>.*?</textarea>", text, flags=re.DOTALL):
        assert "\u202e" not in place


def _caller(people: Visitor, name: str):
    return people.gateway.caller(people.secrets[name], "127.0.0.1")


def test_hostile_policies_are_shown_as_text_and_come_back_as_they_were(people: Visitor):
    people.enter("olga")
    page = people.get("/policy?dataset=clinic").text
    must_be_harmless(page)
    field = unescape(page.split("<textarea")[1].split(">", 1)[1].split("</textarea>")[0]).removeprefix("\n")
    path = people.gateway.known["clinic"].policy
    assert field == path.read_text("utf-8").replace("ana:hunter2@", "ana@")
    reply = people.post("/policy", {"dataset": "clinic", "policy": field.replace("\n", "\r\n")})
    assert "The two policies state the same." in reply.text
    worse = field.replace("max_rows = 3", "max_rows = 4").replace('"A", ', '"A", "<svg onload=alert(3)>", ')
    reply = people.post("/policy", {"dataset": "clinic", "policy": worse})
    must_be_harmless(reply.text)
    assert "<svg" not in reply.text
    assert "This loosens." in reply.text
    broken = people.post("/policy", {"dataset": "clinic", "policy": f"version = {HOSTILE}{TURNED}</textarea><b>"})
    assert broken.status_code == 422
    assert "<img" not in broken.text
    assert "</textarea><b>" not in broken.text


def test_a_dataset_that_does_not_open_breaks_no_page(home, tmp_path):
    with running(config(tmp_path, "clinic", "shop")) as gateway:
        people = Visitor(gateway)
        people.add("olga", "owner")
        people.enter("olga")
        gateway.known["clinic"].policy.write_text("version = 1\n", "utf-8")
        page = people.get("/data").text
        assert "was changed after this gateway was started" in page  # what was opened stays open
        os.kill(gateway.desk._handle.pid, signal.SIGKILL)
        gateway.desk._handle._process.wait()
        page = people.get("/data").text
        assert "It does not open" in page
        assert "[tables.visits]" in page  # why, and what would work
        assert "Open: it can be asked about" in page  # the other
        for path, status in (("/history", 503), ("/policy", 200), ("/people", 200), ("/history?dataset=shop", 200)):
            assert people.get(path).status_code == status, path
        assert people.post("/policy", {"dataset": "clinic", "policy": "version = 1"}).status_code == 503
        assert people.post("/history/verify", {"dataset": "clinic"}, headers=OURS).status_code == 503
