"""The wizard's process: which files it opens, what it tells without consent, what it writes. Here, by messages."""

from __future__ import annotations

import json
import os
from itertools import combinations
from pathlib import Path

import pytest

import dither
from dither.query.owner.wizard.wizard import Wizard
from dither.server.core.processes import new_files
from dither.server.core.processes.new_files import list_files
from dither.server.core.processes.wizard_tasks import CHANGED, LOCATION, WITNESS, WizardTasks
from tests.server.core.wizard_replies import HEADER, REPLIES, message, states, stored, write_visits

CANARY = "Canariensis"
NO_FILE = "there is no such file in the folder of new data"
ELSEWHERE = [
    "",
    ".",
    "..",
    "/etc/passwd",
    "../outside.csv",
    "a/../visits.csv",
    "./visits.csv",
    "a//visits.csv",
    "~/visits.csv",
]
ELSEWHERE += [
    "visits.csv\0",
    "visits.csv\n",
    "*.csv",
    "visit?.csv",
    "[v]isits.csv",
    "visits.toml",
    "visits.csv/",
    "-visits.csv",
]
ELSEWHERE += ["C:\\visits.csv", "visits.csv\u202e", "x" * 2000 + ".csv"]
BROKEN = ["", "[]", "1", "{", "[" * 100_000, "x" * 1_000_001, '{"version": 1}', '{"version": 1, "replies": []}']
BROKEN += ['{"version": 1, "replies": {}}', '{"version": 1, "replies": {"source": 5}}', '{"version": 1, "earlier": 1}']
BROKEN += ['{"version": 2, "replies": {"source": "visits.csv"}}']
BROKEN += ['{"version": 1, "replies": {"source": "visits.csv", "domain": 5}}']
BROKEN += ['{"version": 1, "replies": {"source": "visits.csv"}, "earlier": {"domain": 5}}']


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # the tasks go into the folder, as their process does
    (tmp_path / "incoming").mkdir()
    write_visits(tmp_path / "incoming")
    return tmp_path / "incoming"


@pytest.fixture
def tasks(folder):
    return WizardTasks(folder)


def refused(tasks, source):
    """Why a file is refused: chosen from the list, and among stored replies, which is the same."""
    begun = tasks.done(message(None, source=source))["problem"]
    tampered = {"task": "step", "move": "show", "replies": stored(source), "look": ""}
    assert tasks.done(tampered)["problem"] == begun
    assert begun["kind"] == "refused"
    assert begun["where"] == "source"
    return begun["why"]


def test_from_the_file_to_a_policy_that_opens(tasks, folder, home):
    last = states(tasks.done, REPLIES)[-1]
    terminal = Wizard("visits.csv")
    while terminal.step is not None:
        terminal.answer(REPLIES.get(terminal.step.key, ""))
    assert last["policy"] == terminal.policy
    saved = tasks.done(message(last, move="save"))["done"]
    assert saved["saved"]
    path = folder / "visits.toml"
    assert path.read_text(encoding="utf-8") == terminal.policy
    assert path.stat().st_mode & 0o777 == 0o600
    assert tasks.done(message(last, move="save"))["done"]["saved"]  # the same text again is the same file
    dither.create_ledger(path, write=True)
    assert dither.open(path).quote("SELECT COUNT(*) AS n FROM visits", epsilon="0.25").errors["n"] > 0
    again = tasks.done(message(last, move="save"))["done"]  # the ledger is there now
    assert (again["saved"], again["view"]["step"]["key"]) == (False, LOCATION)
    assert again["refusal"]["why"] == CHANGED


@pytest.mark.parametrize("kind", ["file", "folder", "link", "link to nothing"])
def test_nothing_is_written_over(tasks, folder, kind):
    last = states(tasks.done, REPLIES)[-1]
    path, other = folder / "visits.toml", folder.parent / "other"
    if kind == "file":
        path.write_text("mine")
    elif kind == "folder":
        path.mkdir()
    else:
        path.symlink_to(other)
        if kind == "link":
            other.write_text(last["policy"])  # the same text elsewhere is another file
    found = tasks.done(message(last, move="save"))["done"]
    assert not found["saved"]
    assert found["refusal"]["why"] == "there is another file of that name"
    assert found["policy"] == last["policy"]
    assert not other.exists() or kind == "link"


def test_a_disk_that_is_full_leaves_no_half_of_a_policy(tasks, folder, monkeypatch):
    last = states(tasks.done, REPLIES)[-1]

    def full(_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    found = tasks.done(message(last, move="save"))["done"]
    assert found["refusal"]["why"] == "it cannot be written: No space left on device"
    assert not (folder / "visits.toml").exists()


def test_a_policy_is_saved_only_at_the_end(tasks, folder):
    found = tasks.done(message(states(tasks.done, REPLIES)[5], move="save"))["done"]
    assert not found["saved"]
    assert [path.name for path in folder.iterdir()] == ["visits.csv"]


# -- which files -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ELSEWHERE)
def test_names_that_lead_elsewhere(tasks, folder, name):
    write_visits(folder.parent, name="outside.csv")
    assert refused(tasks, name).startswith("it is no name of a file below the folder of new data")


@pytest.mark.parametrize(
    "address", ["postgresql://host/base?table=a", "postgres://h", "file:///etc/passwd", "http://h/a.csv"]
)
def test_addresses_are_for_the_terminal(tasks, address):
    found = tasks.done(message(None, source=address))["problem"]
    assert found["why"] == "the page opens no databases"
    assert "dither policy wizard" in found["instead"]


def test_links_lead_nowhere_else_and_tell_nothing_of_what_is_there(tasks, folder):
    write_visits(folder.parent, name="outside.csv")
    (folder.parent / "far").mkdir()
    write_visits(folder.parent / "far")
    (folder / "out.csv").symlink_to(folder.parent / "outside.csv")
    (folder / "nothing.csv").symlink_to(folder.parent / "nothing.csv")
    (folder / "loop.csv").symlink_to(folder / "loop.csv")
    (folder / "far").symlink_to(folder.parent / "far")
    assert [refused(tasks, name) for name in ("out.csv", "nothing.csv", "loop.csv", "far/visits.csv", "gone.csv")] == [
        NO_FILE
    ] * 5
    (folder / "inside.csv").symlink_to(folder / "visits.csv")
    assert "done" in tasks.done(message(None, source="inside.csv"))
    assert [file["name"] for file in list_files(Path())["files"]] == ["inside.csv", "visits.csv"]


def test_only_files_are_opened(tasks, folder):
    os.mkfifo(folder / "pipe.csv")  # whoever opens it waits for ever
    (folder / "folder.csv").mkdir()
    (folder / "folder.parquet").mkdir()
    for name in ("pipe.csv", "folder.csv", "folder.parquet"):
        assert refused(tasks, name) == "it is a folder or a device, and no file"
    assert [file["name"] for file in list_files(Path())["files"]] == ["visits.csv"]


def test_a_line_of_names_without_an_end(tasks, folder, monkeypatch):
    monkeypatch.setattr(new_files, "LONGEST_LINE", 1000)
    (folder / "long.csv").write_text("a" * 1000)
    assert refused(tasks, "long.csv").startswith("its first line has more than")
    for end in ("\n", "\r", "\r\n"):
        (folder / "short.csv").write_bytes(f"{HEADER}{end}{'1' * 5000}".encode())
        assert "done" in tasks.done(message(None, source="short.csv"))


def test_the_list_has_names_and_sizes_of_what_can_be_read(tasks, folder):
    (folder / "sub").mkdir()
    write_visits(folder / "sub")
    for name in ("b.parquet", "A.PQ", "notes.md", "x.duckdb", "odd\n.csv", "*.csv", ".hidden.csv"):
        (folder / name).write_bytes(b"12345")
    (folder / os.fsdecode(b"\xff.csv")).write_bytes(b"")
    names = [file["name"] for file in tasks.done({"task": "files"})["done"]["files"]]
    assert names == [".hidden.csv", "A.PQ", "b.parquet", "visits.csv", "x.duckdb", "sub/visits.csv"]
    for number in range(new_files.MOST + 5):
        (folder / f"many{number}.csv").touch()
    found = list_files(Path())
    assert (len(found["files"]), found["more"]) == (new_files.MOST, True)


def test_broken_files_are_refused_in_words_without_a_place_on_this_machine(tasks, folder):
    (folder / "bad.parquet").write_bytes(b"PAR1 no more")
    (folder / "bad.duckdb").write_bytes(b"x" * 5000)
    for name in ("bad.parquet", "bad.duckdb"):
        found = json.dumps(tasks.done(message(None, source=name)))
        assert '"problem"' in found
        assert str(folder) not in found


def test_a_file_that_goes_or_changes_between_two_steps(tasks, folder):
    state = states(tasks.done, REPLIES)[10]
    (folder / "visits.csv").write_text("other,names\n1,2\n")
    found = tasks.done(message(state, "x"))["done"]
    assert found["refusal"]["why"] == CHANGED
    assert found["typed"] is None
    (folder / "visits.csv").unlink()
    assert tasks.done(message(state, "x"))["problem"]["why"] == NO_FILE
    write_visits(folder)
    assert tasks.done(message(state, "A, B"))["done"]["replies"].startswith(state["replies"][:20])


# -- what is told ------------------------------------------------------------------------------------------------------


def test_without_consent_files_that_differ_in_rows_alone_show_the_same(tasks, folder):
    shown = []
    for rows in (["1,A,10"], [], [f"{CANARY},{CANARY},31415926"] * 50, ['"never closed'], ["\ud800"], ["1,2,3,4,5", ""]):
        (folder / "visits.csv").write_bytes("\n".join([HEADER, *rows]).encode("utf-8", "surrogatepass"))
        found = []
        for state in states(tasks.done, REPLIES):
            for reply in ("", "silly", "1 to 2"):
                found.append(tasks.done(message(state, reply)))
            found += [state, tasks.done(message(state, move="back"))]
        shown.append(found)
    assert CANARY not in json.dumps(shown)
    assert len(shown[0]) > 100
    for one, other in combinations(shown, 2):
        assert one == other


def test_with_consent_rows_are_seen_and_no_bound_or_key_is_proposed(tasks, folder):
    write_visits(folder, *[f"{number},{CANARY},{31415000 + number}" for number in range(50)])
    seen = [state["view"] for state in states(tasks.done, REPLIES | {"look": "yes"})]
    assert any("31415" in view["step"]["seen"] for view in seen if view["step"])
    drafts = "".join(view["draft"] for view in seen)
    assert "31415" not in drafts
    assert CANARY not in drafts


def test_consent_is_in_no_stored_reply_and_taken_from_none(tasks, folder):
    write_visits(folder, *[f"{number},{CANARY},31415926" for number in range(50)])
    for state in states(tasks.done, REPLIES | {"look": "yes"}):
        assert "look" not in json.loads(state["replies"])["replies"]
        if state["look"]:
            assert tasks.done(message(state | {"look": ""}, move="show"))["done"]["view"]["step"]["key"] == "look"
    for part in ("replies", "earlier"):
        tampered = json.loads(stored())
        tampered.setdefault(part, {})["look"] = "yes"
        found = tasks.done({"task": "step", "move": "show", "replies": json.dumps(tampered), "look": ""})["done"]
        assert (found["view"]["step"]["key"], found["view"]["step"]["default"], found["look"]) == ("look", "no", "")
    assert tasks.done({"task": "step", "move": "show", "replies": stored(), "look": "YES"})["problem"]["where"] == "look"


@pytest.mark.parametrize("text", BROKEN)
def test_stored_replies_that_are_none(tasks, text):
    found = tasks.done({"task": "step", "move": "answer", "replies": text, "look": "", "key": "look", "reply": "no"})
    assert found["problem"]["kind"] == "refused"
    assert found["problem"]["where"] == "replies"


def test_the_ledger_is_looked_for_in_the_folder_alone(tasks, folder):
    found = {state["view"]["step"]["key"]: state for state in states(tasks.done, REPLIES)[:-1]}
    (folder.parent / "there").write_text("")
    (folder / "link").symlink_to(folder.parent)
    told = set()
    for place in (str(folder.parent / "there"), str(folder.parent / "not"), "../there", "../not", "link/there", "link/not"):
        state = tasks.done(message(found[LOCATION], place))["done"]
        told.add(state["refusal"]["why"])
        assert state["typed"] == place
        taken_back = found[LOCATION] | {
            "replies": json.dumps(json.loads(found[LOCATION]["replies"]) | {"earlier": {LOCATION: place}})
        }
        assert (
            tasks.done(message(taken_back, ""))["done"]["replies"] == found[WITNESS]["replies"]
        )  # an empty reply: the default
        tampered = json.loads(found[WITNESS]["replies"])
        tampered["replies"][LOCATION] = place
        asked = tasks.done(message(found[WITNESS] | {"replies": json.dumps(tampered)}, move="show"))["done"]
        assert asked["view"]["step"]["key"] == LOCATION
        assert asked["refusal"] is None
    assert told == {"the page looks at nothing outside the folder of new data"}
    for user in ("~root/heads", "~nobody-of-that-name/heads"):
        assert tasks.done(message(found[WITNESS], user))["done"]["refusal"]["why"] in told
    for place in ("x.ledger", "sub/x.ledger", "postgresql://host/base"):
        assert tasks.done(message(found[LOCATION], place))["done"]["refusal"] is None


def test_back_to_the_beginning_and_forth_again_keeps_every_reply(tasks):
    every = states(tasks.done, REPLIES)
    state, count = every[-1], 0
    while not (found := tasks.done(message(state, move="back"))["done"]).get("first"):
        state, count = found, count + 1
        key = state["view"]["step"]["key"]
        assert state["look"] == ("" if key == "look" else "no")
        if key == "review":
            assert state["typed"] == every[-1]["policy"]
        elif key != "look":
            assert state["view"]["step"]["default"] == (REPLIES.get(key) or state["view"]["step"]["default"])
    assert count == len(every) - 1
    while state["view"]["step"] is not None:
        state = tasks.done(message(state, state["view"]["step"]["default"] or ""))["done"]
        assert state["refusal"] is None, state["refusal"]
    assert state["policy"] == every[-1]["policy"]


def test_a_policy_that_was_edited_is_read_and_refused_with_its_place(tasks):
    review = states(tasks.done, REPLIES)[-2]
    text = review["view"]["draft"]
    wrong = text.replace("bounds = [0, 100]", "bounds = [100, 0]")
    assert wrong != text
    found = tasks.done(message(review, wrong))["done"]
    assert (found["typed"], found["view"]["step"]["key"]) == (wrong, "review")
    assert "cost" in found["refusal"]["where"]
    assert "line 2" in tasks.done(message(review, "version = 1\ndomain = ="))["done"]["refusal"]["why"]
    edited = tasks.done(message(review, text.replace("[0, 100]", "[0, 200]")))["done"]
    assert "bounds = [0, 200]" in edited["policy"]
    back = tasks.done(message(edited, move="back"))["done"]
    assert back["typed"] == edited["policy"]
    assert tasks.done(message(review, text))["done"]["policy"] == text
    assert json.loads(tasks.done(message(review, text))["done"]["replies"])["replies"]["review"] == "accept"


def test_what_nobody_foresaw_is_one_text(tasks, monkeypatch):
    def broken(_):
        raise ValueError(CANARY)

    monkeypatch.setattr("dither.server.core.processes.wizard_tasks.list_files", broken)
    assert tasks.done({"task": "files"})["problem"]["kind"] == "unavailable"
    assert CANARY not in json.dumps(tasks.done({"task": "files"}))
