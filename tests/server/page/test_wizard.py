"""The policy wizard in a browser: from a file to a policy, what rows show, other files, hostile names, lost processes."""

from __future__ import annotations

import json
import os
import re
import signal
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow
import pyarrow.parquet
import pytest

import dither
from dither.query.owner.wizard.wizard import Wizard
from dither.server.core.config_values import StatedFolder
from dither.server.core.gateway import Gateway
from tests.server.core.wizard_replies import REPLIES, stored, write_visits
from tests.server.gateways import config, running
from tests.server.page.visitor import Visitor
from tests.server.page.wizard_pages import CANARY, Owner, Page

HOSTILE = [
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "=1+1",
    "{{ 7 * 7 }}",
    "{price}",
    "שלום",
    "a'b",
    "&lt;",
]


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gateway]:
    folder = tmp_path_factory.mktemp("gateway")
    (folder / "incoming").mkdir()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DITHER_HOME", str(folder / "home"))
        with running(replace(config(folder), new_data=StatedFolder(folder / "incoming", "incoming"))) as gateway:
            yield gateway


@pytest.fixture
def folder(served: Gateway) -> Path:
    """The folder of new data, with one file."""
    assert served.config.new_data is not None
    path = served.config.new_data.path
    for file in path.iterdir():
        file.unlink()
    write_visits(path)
    return path


@pytest.fixture
def owner(served: Gateway, folder: Path) -> Owner:
    """Somebody before that file."""
    visitor = Visitor(served)
    visitor.add("olga", "owner")
    visitor.enter("olga")
    return Owner(visitor)


def test_from_the_list_to_a_policy_that_opens_and_is_the_terminals(owner: Owner, folder: Path, monkeypatch):
    listed = owner.files()
    assert listed.buttons == [("source", "visits.csv")]
    assert "39 B" in listed.text
    pages = owner.walk("visits.csv", REPLIES)
    assert "Step 1 of about" in pages[0].text
    assert all("FILL IN" in page.text for page in pages[:10])
    monkeypatch.chdir(folder)
    terminal = Wizard("visits.csv")
    for page in pages[:-1]:
        assert terminal.step is not None
        assert page.fields["key"] == terminal.step.key
        assert f"Step {terminal.number} of about {terminal.total}" in page.text
        assert terminal.step.why in page.text
        assert terminal.step.question in page.text
        terminal.answer(REPLIES.get(terminal.step.key, ""))
    assert pages[-2].fields["reply"] == terminal.policy
    end = pages[-1]
    assert str(terminal.policy) in end.text
    got = owner.visitor.post("/data/new", end.fields | {"action": "download"})
    assert got.text == terminal.policy
    assert got.headers["content-disposition"].endswith("filename*=UTF-8''visits.toml")
    assert not (folder / "visits.toml").exists()
    saved = owner.press(end, "save")
    assert saved.status == 200
    assert "It is saved as visits.toml in the folder incoming." in saved.text
    assert "dither ledger create --policy incoming/visits.toml --write" in saved.text
    path = folder / "visits.toml"
    assert path.read_text("utf-8") == terminal.policy
    assert owner.press(end, "save").status == 200
    dither.create_ledger(path, write=True)
    assert dither.open(path).quote("SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward", epsilon="0.25").errors["n"] > 0
    assert owner.press(end, "save").fields["key"] == "ledger.location"  # a ledger of that name is there now
    Path("visits.ledger").unlink()
    again = owner.press(end, "save")
    assert again.status == 422
    assert "there is another file of that name" in again.text


def test_parquet_has_types_and_no_consent_to_ask_for(owner: Owner, folder: Path, monkeypatch):
    rows = {"patient": [1, 1, 2], "ward": [CANARY] * 3, "cost": [10, 20, 31_415_926]}
    pyarrow.parquet.write_table(pyarrow.table(rows), folder / "visits.parquet")
    pages = owner.walk("visits.parquet", REPLIES)
    assert not any("31415926" in page.reply.text for page in pages)
    assert "look" not in [page.fields.get("key") for page in pages]
    owner.press(pages[-1], "save")
    dither.create_ledger(folder / "visits.toml", write=True)
    assert dither.open(folder / "visits.toml").quote("SELECT COUNT(*) AS n FROM visits", epsilon="0.25").errors["n"] > 0


def test_without_consent_files_that_differ_in_rows_alone_show_the_same_pages(owner: Owner, folder: Path):
    shown = []
    for rows in (["1,A,10"], [f"{CANARY},{CANARY},31415926"] * 3, ['"never closed']):
        write_visits(folder, *rows)
        shown.append([page.reply.text for page in owner.walk("visits.csv", REPLIES)])
    assert shown[0] == shown[1] == shown[2]
    assert len(shown[0]) > 20


def test_with_consent_the_page_says_what_it_saw_and_keeps_consent_in_its_own_field(owner: Owner, folder: Path):
    write_visits(folder, *[f"{number},A,{31415000 + number}" for number in range(40)])
    pages = owner.walk("visits.csv", REPLIES | {"look": "yes"})
    assert any("Seen in your data, not public" in page.text and "31415" in page.text for page in pages)
    for page in pages[1:]:
        assert page.fields["look"] == "yes"
        assert "look" not in json.loads(page.fields["replies"])["replies"]
        assert str(page.reply.request.url).endswith("/data/new")
    assert "31415" not in pages[-1].text
    asked_again = owner.press(pages[10], look="")
    assert (asked_again.fields["key"], asked_again.fields["choice"]) == ("look", "no")


def test_refusals_stand_at_the_field_and_what_was_typed_stays(owner: Owner):
    page = owner.walk("visits.csv", REPLIES, until="visits.cost.bounds")[-1]
    wrong = owner.answer(page, "100 to <b>0</b>")
    assert wrong.status == 422
    assert (wrong.fields["key"], wrong.fields["reply"]) == ("visits.cost.bounds", "100 to <b>0</b>")
    assert 'aria-invalid="true"' in wrong.reply.text
    assert "What would work" in wrong.text
    assert "<b>" not in wrong.reply.text
    assert owner.answer(wrong, "0 to 100").fields["key"] == "visits.cost.known_from"
    page = owner.walk("visits.csv", REPLIES, until="visits.cost.known_from")[-1]
    typed = "private release 3 of the ledger clinic"
    two = owner.press(page, choice="law", reply=typed)
    assert two.status == 422
    assert "One reply is chosen and another is typed" in two.text
    assert (two.fields["choice"], two.fields["reply"]) == ("law", typed)
    open_one = owner.press(two, choice="")
    assert open_one.status == 200, open_one.text
    assert json.loads(open_one.fields["replies"])["replies"]["visits.cost.known_from"] == typed


def test_a_policy_can_be_edited_and_one_that_does_not_read_stays_editable(owner: Owner):
    review = owner.walk("visits.csv", REPLIES, until="review")[-1]
    text = review.fields["reply"]
    wrong = text.replace("bounds = [0, 100]", "bounds = [100, 0]").replace("clinic", "</textarea><script>")
    refused = owner.press(review, reply=wrong)
    assert refused.status == 422
    assert refused.fields["reply"] == wrong
    assert "Where: " in refused.text
    assert "cost" in refused.text
    end = owner.press(refused, reply=text.replace("[0, 100]", "[0, 200]").replace("\n", "\r\n"))
    assert "bounds = [0, 200]" in end.text
    assert ("action", "save") in end.buttons
    assert "bounds = [0, 200]" in owner.press(end, "back").fields["reply"]


def test_back_to_the_list_and_forth_again(owner: Owner):
    pages = owner.walk("visits.csv", REPLIES)
    page, count = pages[-1], 0
    while (reply := owner.visitor.post("/data/new", page.fields | {"action": "back"})).status_code == 200:
        page, count = owner.page(reply), count + 1
    assert (reply.status_code, reply.headers["location"]) == (303, "/data/new")
    assert count == len(pages) - 1
    while "key" in page.fields:
        page = owner.answer(page, None)
        assert page.status == 200, page.text
    assert page.fields["replies"].split() == pages[-1].fields["replies"].split()


@pytest.mark.parametrize(
    "name", ["/etc/passwd", "../clinic.parquet", "", "a\0.csv", "*.csv", "postgresql://h/b?table=t", "gone.csv"]
)
def test_other_files_are_refused_on_the_list(owner: Owner, folder: Path, name: str):
    page = owner.begin(name)
    assert page.status == 422
    assert "Why: " in page.text
    assert ("source", "visits.csv") in page.buttons
    assert str(folder) not in page.reply.text


def test_links_pipes_and_folders_are_refused(owner: Owner, folder: Path):
    (folder / "out.parquet").symlink_to(folder.parent / "clinic.parquet")
    os.mkfifo(folder / "pipe.csv")
    assert owner.files().buttons == [("source", "visits.csv")]
    assert [owner.begin(name).status for name in ("out.parquet", "pipe.csv")] == [422, 422]


def test_fields_that_somebody_changed(owner: Owner, folder: Path):
    for replies in ("", "[]", stored("../clinic.parquet"), stored("/etc/passwd"), "x" * 1_000_001):
        page = owner.page(
            owner.visitor.post("/data/new", {"action": "answer", "replies": replies, "key": "look", "reply": "no"})
        )
        assert page.status == 422
        assert page.fields["replies"] == replies
        assert str(folder) not in page.reply.text
    assert owner.visitor.post("/data/new", {"action": "delete"}).status_code == 422
    assert owner.visitor.post("/data/new", {"file": "x"}).status_code == 422
    assert owner.visitor.get("/data/new?look=yes").status_code == 422
    page = owner.begin("visits.csv")
    assert owner.press(page, look="perhaps").status == 422
    assert owner.press(page, key="visits.cost.bounds", reply="0 to 1").fields["key"] == "look"
    assert owner.visitor.post("/data/new", {"replies": "x" * 5_000_000}).status_code == 413
    other = owner.visitor.post("/data/new", page.fields, headers={"Sec-Fetch-Site": "cross-site"})
    assert other.status_code == 403


def test_a_file_that_is_gone_is_told_and_nothing_that_was_typed_is_lost(owner: Owner, folder: Path):
    page = owner.walk("visits.csv", REPLIES, until="visits.cost.bounds")[-1]
    (folder / "visits.csv").unlink()
    lost = owner.press(page, reply="0 to 77")
    assert lost.status == 422
    assert lost.fields["reply"] == "0 to 77"
    assert owner.page(owner.visitor.post("/data/new", lost.fields)).status == 422
    write_visits(folder)
    assert owner.page(owner.visitor.post("/data/new", lost.fields)).fields["key"] == "visits.cost.known_from"


def test_a_process_that_ends_in_the_middle_is_told_and_the_next_goes_on(owner: Owner, served: Gateway, folder: Path):
    page = owner.walk("visits.csv", REPLIES, until="visits.cost.bounds")[-1]
    process = served.new_data
    assert process is not None
    assert process.handle is not None
    handle = process.handle
    os.kill(handle.pid, signal.SIGSTOP)  # it is in the middle of a task, and then it is killed
    process._seconds, before = 0.2, process._seconds
    try:
        lost = owner.press(page, reply="0 to 77")
    finally:
        process._seconds = before
    assert lost.status == 503
    assert "The wizard stopped" in lost.text
    assert lost.fields["reply"] == "0 to 77"
    assert not handle.alive
    onward = owner.page(owner.visitor.post("/data/new", lost.fields))
    assert (onward.status, onward.fields["key"]) == (200, "visits.cost.known_from")


@pytest.mark.parametrize(("role", "datasets"), [("analyst", ["*"]), ("auditor", ["*"]), ("owner", ["clinic"])])
def test_only_owners_of_all_datasets_may(served: Gateway, folder: Path, role: Any, datasets: list[str]):
    visitor = Visitor(served)
    visitor.add("x", role, datasets)
    visitor.enter("x")
    for reply in (visitor.get("/data/new"), visitor.post("/data/new", {"action": "begin", "source": "visits.csv"})):
        assert reply.status_code == 403
        assert "visits.csv" not in reply.text


def test_nobody_is_sent_to_the_login(served: Gateway):
    assert Visitor(served).get("/data/new").status_code == 303


def test_without_a_folder_the_page_says_which_line_to_add(visitor: Visitor):
    visitor.enter("olga")
    page = Page(visitor.get("/data/new"))
    assert 'new_data = "incoming"' in page.text
    assert "dither policy wizard" in page.text
    assert visitor.post("/data/new", {"action": "begin", "source": "visits.csv"}).status_code == 303


def test_hostile_names_of_columns_and_files(owner: Owner, folder: Path):
    table = pyarrow.table({"patient": [1], **{name: ["A"] for name in [*HOSTILE, "a\u202eb", "\x1b[31m", "x" * 500]}})
    pyarrow.parquet.write_table(table, folder / "<b>&'\".parquet")
    assert ("source", "<b>&'\".parquet") in owner.files().buttons
    replies = {"domain": "x", "budget.people": "1000", "ledger.witness": "none"}
    page, seen = owner.begin("<b>&'\".parquet"), ""
    while "key" in page.fields:
        key = page.fields["key"]
        page = owner.answer(page, "no" if key.endswith(".keep") else replies.get(key, "auto" if "max_rows" in key else None))
        assert page.status == 200, page.text
        assert not {"img", "b"} & set(page.tags)
        seen += page.text
    for name in HOSTILE:
        assert name in seen or json.dumps(name) in seen
    assert "\u202e" not in seen
    assert "\x1b" not in seen
    assert "49" not in re.findall(r"Column (\S+):", seen)


def test_five_hundred_columns(owner: Owner, folder: Path):
    names = [f"a column with number {number}" for number in range(500)]
    (folder / "wide.csv").write_text(",".join(["person", *names]) + "\n")
    page = owner.walk("wide.csv", {"look": "no", **REPLIES}, until="wide.person")[-1]
    assert page.choices == []  # too many for buttons
    assert page.reply.text.count("<option") == 502
    replies = json.loads(page.fields["replies"])
    replies["replies"] |= {"wide.person": "person", "wide.person.type": "integer"}
    for name in names[:-1]:
        replies["replies"] |= {f'wide."{name}".keep': "yes", f'wide."{name}".type': "text", f'wide."{name}".keys': "none"}
    last = owner.press(page, "back", replies=json.dumps(replies))
    assert last.status == 200
    assert len(last.reply.content) > 65_536  # more than other forms may have
    assert "number 498" in last.text
