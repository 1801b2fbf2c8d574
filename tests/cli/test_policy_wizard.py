"""`dither policy wizard` from lines of standard input, and in a terminal: what is shown, taken, kept and written."""

from __future__ import annotations

import os
import pty
import re
import select
import signal
import stat
import subprocess
import sys
import tomllib
from contextlib import ExitStack
from pathlib import Path

import pytest
from typer.testing import CliRunner

from dither.cli.main import app
from dither.errors import ConflictError, DataError, DitherError
from tests.query.owner.wizard.hospital import BLIND, POLICY, REPLIES, write

KEPT = "policy.toml.replies.json"
QUESTION = re.compile(r"^Step (\d+) of about (\d+)$", re.MULTILINE)
ORDER = [  # of the steps after a look at rows, as the hospital's file makes them
    *("file.header", "file.encoding", "file.separator", "file.quote", "file.decimal", "file.thousands", "domain"),
    *("visits.person", "visits.Patient-Nr.type", "visits.Name.keep", "visits.Station.keep", "visits.Station.type"),
    *("visits.Station.keys", "visits.Station.known_from", "visits.Aufnahme.keep", "visits.Aufnahme.type"),
    *("visits.Aufnahme.format", "visits.Aufnahme.missing", "visits.Aufnahme.bounds", "visits.Aufnahme.known_from"),
    *('visits."Kosten (EUR)".keep', 'visits."Kosten (EUR)".type', 'visits."Kosten (EUR)".missing'),
    *('visits."Kosten (EUR)".bounds', 'visits."Kosten (EUR)".step', 'visits."Kosten (EUR)".known_from'),
    *("visits.Privat.keep", "visits.Privat.type", "visits.Privat.words", "visits.Privat.missing", "visits.Bemerkung.keep"),
    *("visits.max_rows", "visits.known_from", "budget.people", "budget.epsilon", "budget.per_question"),
    *("ledger.location", "ledger.witness", "review"),
]


@pytest.fixture(autouse=True)
def _inside(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    for name in ("EDITOR", "VISUAL"):
        monkeypatch.delenv(name, raising=False)
    write()


def lines(replies: dict[str, str] = REPLIES) -> list[str]:
    return [replies.get(key, "") for key in ORDER]


def run(typed: list[str], *arguments: str) -> tuple[int, str]:
    """Exit code and output; refusals are raised."""
    result = CliRunner().invoke(app, ["policy", "wizard", *arguments], input="".join(f"{line}\n" for line in typed))
    if isinstance(result.exception, DitherError):
        raise result.exception
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result.exit_code, result.output


def test_from_a_file_to_a_policy_that_is_checked_and_the_next_commands():
    code, told = run(lines(), "visits.csv", "--read-data")
    assert code == 0, told
    assert Path("policy.toml").read_text(encoding="utf-8") == POLICY
    assert not Path(KEPT).exists()
    numbers = [(int(one), int(of)) for one, of in QUESTION.findall(told)]
    assert [one for one, _ in numbers] == list(range(1, len(ORDER) + 1))
    assert numbers[-1] == (39, 39)
    assert all(one <= of for one, of in numbers)
    assert POLICY in told
    assert "visits: 5 columns, csv: fits" in told
    commands = [line.strip() for line in told.rpartition("Next:\n")[2].splitlines()]
    assert commands == [
        "dither policy check policy.toml --read-data",
        "dither ledger create --policy policy.toml --write",
        "dither quote 'SELECT COUNT(*) AS n FROM visits' --epsilon 0.1 --policy policy.toml",
    ]
    for command in commands:
        words = command.removeprefix("dither ").replace("'", "").split(" ")
        if words[0] == "quote":
            words = ["quote", "SELECT COUNT(*) AS n FROM visits", *words[-4:]]
        result = CliRunner().invoke(app, words)
        assert result.exit_code == 0, result.output


def test_consent_is_asked_for_where_no_flag_gives_it():
    code, told = run(["no", *[BLIND.get(key, "") for key in ORDER]], "visits.csv")
    assert code == 0, told
    assert "May dither look at the first rows" in told
    assert "not public" not in told
    assert Path("policy.toml").read_text(encoding="utf-8") == POLICY


@pytest.mark.parametrize("width", [80, 120])
def test_lines_fit_the_terminal(width, monkeypatch):
    monkeypatch.setenv("COLUMNS", str(width))
    asked = [line for reply in lines() for line in ("?", reply)]
    code, told = run(asked, "visits.csv", "--read-data")
    assert code == 0, told
    shown = told.replace(POLICY, "").partition("\nwrote ")[0]
    longest = max(map(len, shown.splitlines()))
    assert width - 12 < longest <= width
    assert "For example: " in shown


def test_why_and_examples_are_shown_on_demand_and_wrong_replies_asked_again():
    typed = lines()
    at = ORDER.index("budget.epsilon")
    typed[at : at + 1] = ["?", "1000", ""]
    code, told = run(typed, "visits.csv", "--read-data")
    assert code == 0, told
    assert "This is the budget of the data" in told
    flat = " ".join(told.split())
    assert "budget.epsilon = '1000' is refused: above 20 odds may grow more than 480 million times" in flat
    assert told.count("How much may all answers together") == 1  # the question is not told again
    assert "strict epsilon 1: odds of 1 to 9 on anything about Ann become 2.8 to 9 at most; buys about" in flat


def test_the_way_back():
    typed = lines()
    at = ORDER.index("visits.max_rows")
    typed[at : at + 1] = ["7", "<", "12"]
    code, told = run(["<", *typed], "visits.csv", "--read-data")  # at the first question nothing is before it
    assert code == 0, told
    assert "[7] > 12" in told
    assert Path("policy.toml").read_text(encoding="utf-8") == POLICY


@pytest.mark.parametrize("left", [0, 13, len(ORDER) - 1])
def test_whoever_leaves_goes_on_later(left):
    code, told = run(lines()[:left], "visits.csv", "--read-data")
    assert code == 1
    assert "dither policy wizard --resume --out policy.toml" in " ".join(told.split())
    assert stat.S_IMODE(Path(KEPT).stat().st_mode) == 0o600
    assert not Path("policy.toml").exists()
    assert "3.9" not in Path(KEPT).read_text(encoding="utf-8")
    with pytest.raises(ConflictError, match="--resume"):
        run([], "visits.csv")
    with pytest.raises(ConflictError, match="about visits"):
        run([], "other.csv", "--resume")
    code, told = run(["yes", *lines()[left:]], "--resume")  # consent was for the other run
    assert code == 0, told
    assert Path("policy.toml").read_text(encoding="utf-8") == POLICY
    assert not Path(KEPT).exists()


def test_what_cannot_be_begun_is_said_before_the_first_question():
    with pytest.raises(DataError, match="no replies are kept"):
        run([], "visits.csv", "--resume")
    with pytest.raises(DataError, match="nothing can be written there"):
        run([], "visits.csv", "--out", "nowhere/policy.toml")
    with pytest.raises(DataError, match="no such file"):
        run([], "visit.csv")
    Path(KEPT).write_bytes(b"\xff{")
    with pytest.raises(DataError, match="not JSON"):
        run([], "--resume")
    Path("policy.toml").write_text("mine")
    with pytest.raises(ConflictError, match="a file already"):
        run([], "visits.csv")
    assert Path("policy.toml").read_text() == "mine"


def test_replies_are_kept_where_the_policy_cannot_be_written(monkeypatch):
    monkeypatch.setenv("EDITOR", editor("pathlib.Path('policy.toml').write_text('of somebody else')"))
    typed = [*lines()[:-1], "edit", "accept", ""]  # somebody writes a file of that name meanwhile
    result = CliRunner().invoke(app, ["policy", "wizard", "visits.csv", "--read-data"], input="\n".join(typed))
    assert isinstance(result.exception, FileExistsError)  # which the command tells as the disk's refusal
    assert Path("policy.toml").read_text() == "of somebody else"
    Path("policy.toml").unlink()
    assert run(["yes"], "--resume")[0] == 0
    assert Path("policy.toml").read_text(encoding="utf-8") == POLICY


def test_without_a_file_it_is_asked_for():
    code, told = run(["visit.csv", "visits.csv", "yes", *lines()])
    assert code == 0, told
    assert "source = 'visit.csv' is refused: there is no such file" in " ".join(told.split())
    assert Path("policy.toml").read_text(encoding="utf-8") == POLICY


def editor(body: str) -> str:
    """A command that runs lines of Python on the text of a file."""
    head = "import sys, pathlib\nfile = pathlib.Path(sys.argv[1])\ntext = file.read_text('utf-8')\n"
    Path("editor.py").write_text(f"{head}{body}\n")
    return f"{sys.executable} editor.py"


def test_the_policy_can_be_changed_in_an_editor_before_it_is_written(monkeypatch):
    code, told = run([*lines()[:-1], "edit"], "visits.csv", "--read-data")
    assert code == 1
    assert "no editor is set" in told
    change = "rows = {'max_rows = 12': 'max_rows = 0', 'max_rows = 0': 'max_rows = 9'}\n"
    change += "file.write_text('\\n'.join(rows.get(line, line) for line in text.split('\\n')), 'utf-8')"
    monkeypatch.setenv("EDITOR", editor(change))
    code, told = run(["edit", "edit"], "--resume", "--read-data")
    assert code == 0, told
    assert "it must be a whole number" in " ".join(told.split())  # the first change is refused, and edited further
    assert tomllib.loads(Path("policy.toml").read_text(encoding="utf-8"))["tables"]["visits"]["max_rows"] == 9


BODIES = [
    ("", "Nothing was changed"),
    ("sys.exit(3)", "the editor failed"),
    ("file.write_bytes(b'\\xff')", "the editor failed"),
]


@pytest.mark.parametrize(("body", "told"), BODIES)
def test_an_editor_that_changes_nothing_or_fails_accepts_nothing(body, told, monkeypatch):
    monkeypatch.setenv("VISUAL", editor(body))
    code, shown = run([*lines()[:-1], "edit"], "visits.csv", "--read-data")
    assert code == 1
    assert told in shown
    assert not Path("policy.toml").exists()


def test_an_editor_that_is_not_there(monkeypatch):
    for command in ("no-such-editor-anywhere", "'"):
        monkeypatch.setenv("EDITOR", command)
        code, shown = run([*lines()[:-1], "edit"], "visits.csv", "--read-data")
        assert code == 1
        assert "the editor failed" in shown
        Path(KEPT).unlink()


@pytest.mark.full("a process")
def test_ctrl_c_in_a_terminal_keeps_the_replies():
    """A real terminal; each reply is typed once its question is shown."""
    main, other = pty.openpty()
    command = [sys.executable, "-m", "dither", "policy", "wizard", "visits.csv", "--read-data"]
    asked = subprocess.Popen(command, stdin=other, stdout=other, stderr=other, start_new_session=True)
    with asked as process, ExitStack() as end:
        end.callback(process.kill)  # else a failure would wait for it, and it for a reply
        os.close(other)
        shown = b""

        def until(words: bytes) -> None:
            nonlocal shown
            while words not in shown:
                assert select.select([main], [], [], 120)[0], shown
                shown += os.read(main, 4096)
            shown = shown.rpartition(words)[2]

        until(b"[yes] > ")
        os.write(main, b"\n")
        until(b"[windows-1252] > ")
        os.write(main, b"latin-1\n")
        until(b"[semicolon] > ")
        os.killpg(process.pid, signal.SIGINT)
        until(b"To go on: ")
        assert process.wait(60) == 1
    os.close(main)
    assert '"file.encoding": "latin-1"' in Path(KEPT).read_text(encoding="utf-8")
