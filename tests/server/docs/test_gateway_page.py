"""`docs/gateway.md` beside a real gateway: its commands run, its requests are answered, what it says of errors is so."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
import time
import tomllib
import urllib.request
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any
from urllib.error import HTTPError

import pytest
from typer.testing import CliRunner

import dither
from dither import demo
from dither.cli.main import app
from dither.server.core.config import Limits, read_gateway

PAGES = Path(__file__).parents[3] / "docs"
PAGE = (PAGES / "gateway.md").read_text()
USUAL = "http://127.0.0.1:8765"
SQL = "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward"


class Running:
    """`dither serve --demo`, as the page says it, on a port of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        command = [sys.executable, "-m", "dither", "serve", "--demo", "--save", str(folder / "clinic"), "--port", "0"]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        assert self.process.stdout is not None
        told = ""
        while "From Python" not in told:
            line = self.process.stdout.readline()
            assert line, told
            told += line
        self.address = re.search(r"listening on (\S+)", told)[1]  # type: ignore[index]
        self.tokens = dict(re.findall(r"export (\w+)=(dth_\w+)", told))

    def end(self) -> str:
        """The log."""
        self.process.terminate()
        _, log = self.process.communicate(timeout=60)
        assert self.process.returncode == 0
        return log

    def send(self, path: str, body: dict[str, Any] | None = None, *, token: str = "DITHER_TOKEN", **headers: str) -> Any:
        """Status, headers and text of a reply."""
        asked = urllib.request.Request(self.address + path, None if body is None else json.dumps(body).encode())
        sent = {"Authorization": f"Bearer {self.tokens.get(token, token)}", "Content-Type": "application/json", **headers}
        for name, value in sent.items():
            asked.add_header(name.replace("_", "-"), value)
        while True:
            try:
                with urllib.request.urlopen(asked, timeout=60) as reply:
                    return reply.status, reply.headers, reply.read().decode()
            except HTTPError as error:
                with error:
                    if error.code != 429:
                        return error.code, error.headers, error.read().decode()
                time.sleep(int(error.headers["Retry-After"]))  # as a client that is told so does

    def curl(self, line: str) -> Any:
        """What `curl` would get, for the few options that the page has."""
        words = shlex.split(line.replace("$DITHER_TOKEN", self.tokens["DITHER_TOKEN"]))
        assert words[0] == "curl"
        url, headers, body = words[1].replace(USUAL, ""), dict[str, str](), None
        for option, value in zip(words[2::2], words[3::2], strict=True):
            if option == "-H":
                name, _, said = value.partition(": ")
                headers[name] = said
            else:
                assert option == "-d"
                body = json.loads(value)
        return self.send(url, body, **headers)


@pytest.fixture(scope="module")
def running(tmp_path_factory):
    folder = tmp_path_factory.mktemp("page")
    before = os.environ.get("DITHER_HOME")
    os.environ["DITHER_HOME"] = str(folder / "home")
    try:
        found = Running(folder)
        try:
            yield found
        finally:
            if found.process.poll() is None:
                found.end()
    finally:
        os.environ.pop("DITHER_HOME") if before is None else os.environ.update(DITHER_HOME=before)


def blocks(kind: str) -> list[str]:
    return re.findall(rf"^```{kind}\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


def test_requests_of_the_page_are_answered(running):
    quote, answer = [line[2:] for line in "".join(blocks("console")).splitlines() if line.startswith("$ curl")]
    status, _, told = running.curl(quote)
    assert status == 200
    assert {"id", "price", "errors", "left", "words"} <= json.loads(told).keys()
    status, headers, table = running.curl(answer)
    assert (status, headers["Dither-Replay"]) == (200, "false")
    assert table.splitlines()[0].startswith("ward,n")
    assert len(table.splitlines()) == 6
    status, headers, again = running.curl(answer)
    assert (status, headers["Dither-Replay"], again) == (200, "true", table)


def test_python_of_the_page_runs(running, monkeypatch):
    (code,) = [text for text in blocks("text") if text.startswith("import dither")]
    monkeypatch.setenv("DITHER_TOKEN", running.tokens["DITHER_TOKEN"])
    with redirect_stdout(StringIO()) as said:
        exec(compile(code.replace(USUAL, running.address), "gateway.md", "exec"), {})
    assert "ward" in said.getvalue()


def test_every_address_of_the_page_is_known_and_none_is_left_out(running):
    known = json.loads(running.send("/openapi.json")[2])["paths"]
    pages = PAGE + (PAGES / "operations.md").read_text()
    said = set(re.findall(r"`(?:GET |POST |DELETE )?(/(?:v1|health|openapi)[\w/{}.]*)", pages))
    assert said - {"/openapi.json"} == {path for path in known if path.startswith("/v1/") or path == "/health"}


def test_what_is_told_when_there_is_no_answer(running):
    question = {"dataset": "clinic", "sql": SQL, "epsilon": "0.1"}
    before = json.loads(running.send("/v1/budget")[2])
    found = {
        401: running.send("/v1/me", token="dth_wrong"),
        402: running.send("/v1/queries", {**question, "epsilon": "0.999"}),
        403: running.send("/v1/ledger?dataset=clinic"),
        404: running.send("/v1/quotes", {**question, "dataset": "other"}),
        422: running.send("/v1/quotes", {**question, "sql": "SELECT patient_id FROM visits"}),
        413: running.send("/v1/quotes", {**question, "sql": "SELECT " + 30_000 * "1"}),
    }
    for status, (came, headers, told) in found.items():
        assert came == status, told
        assert headers["Content-Type"] == "application/problem+json"
        assert json.loads(told)["status"] == status
        assert f"{status}" in PAGE
    assert json.loads(found[422][2]).keys() >= {"why", "instead"}
    assert json.loads(running.send("/v1/budget")[2]) == before, "nothing was charged"


def test_roles_are_those_of_the_table(running):
    rows = re.findall(r"^\| `(\w+)` \| (yes|no) \| (yes|no) \| (yes|no) \| (yes|no) \|$", PAGE, re.MULTILINE)
    assert [name for name, *_ in rows] == ["analyst", "auditor", "owner"]
    made = {"name": "audit", "role": "auditor", "datasets": ["clinic"]}
    status, _, told = running.send("/v1/tokens", made, token="OWNER_TOKEN")
    assert status == 201, told
    tokens = {"analyst": "DITHER_TOKEN", "owner": "OWNER_TOKEN", "auditor": json.loads(told)["secret"]}
    question = {"dataset": "clinic", "sql": "SELECT COUNT(*) AS n FROM visits", "epsilon": "0.01"}
    for role, look, ask, history, own in rows:
        asked = {
            "look": running.send("/v1/quotes", question, token=tokens[role])[0],
            "ask": running.send("/v1/queries", question, token=tokens[role])[0],
            "history": running.send("/v1/ledger?dataset=clinic", token=tokens[role])[0],
            "own": running.send("/v1/tokens", token=tokens[role])[0],
        }
        may = {"look": look, "ask": ask, "history": history, "own": own}
        for what, status in asked.items():
            good = (200, 402) if (role, what) == ("owner", "ask") else (200,)  # an owner without a share asks for nothing
            assert (status in good) == (may[what] == "yes"), (role, what, status)
            assert status in (*good, 403)


def test_a_change_of_the_policy_is_told_to_owners(running):
    text = (running.folder / "clinic" / "policy.toml").read_text()
    body = {"dataset": "clinic", "policy": text.replace("max_rows = 6", "max_rows = 10")}
    status, _, told = running.send("/v1/policy/diff", body, token="OWNER_TOKEN")
    assert (status, json.loads(told)["loosens"]) == (200, True), told
    assert running.send("/v1/policy/diff", body)[0] == 403
    broken = {"dataset": "clinic", "policy": text.replace("max_rows = 6", "max_rows = 0")}
    assert running.send("/v1/policy/diff", broken, token="OWNER_TOKEN")[0] == 422


def test_the_configuration_of_the_page_is_one_and_limits_are_as_told(tmp_path):
    (text,) = blocks("toml")
    (tmp_path / "gateway.toml").write_text(text)
    (tmp_path / "policy.toml").write_text("version = 1\n")
    found = read_gateway(tmp_path / "gateway.toml")
    assert found.limits == Limits()
    assert found.datasets[0].slots == tuple(tomllib.loads(text)["datasets"]["clinic"]["slots"])
    said = PAGE[PAGE.index("## Limits") :]
    limits = Limits()
    for told in (
        f"{limits.quotes_per_second:.0f} quotes and {limits.queries_per_second:.0f} questions a second",
        f"{limits.under_way} questions under way",
        f"{limits.queue} questions waiting",
        f"{limits.sql_bytes:,} bytes, {limits.seconds:.0f} seconds",
        f"{limits.wrong_tokens_per_minute} wrong",
    ):
        assert told in said.replace("\n", " ")


def test_token_commands_of_the_page(tmp_path, monkeypatch):
    demo.save(tmp_path / "clinic")
    monkeypatch.chdir(tmp_path / "clinic")
    Path("gateway.toml").write_text(blocks("toml")[0])
    create, list_, revoke = [
        line[9:] for line in "".join(blocks("console")).splitlines() if line.startswith("$ dither token")
    ]
    made = CliRunner().invoke(app, shlex.split(create))
    assert made.exit_code == 0, made.output
    (secret,) = made.stdout.splitlines()
    assert secret.startswith("dth_")
    listed = CliRunner().invoke(app, [*shlex.split(list_), "--json"])
    (known,) = [json.loads(line) for line in listed.stdout.splitlines()]
    assert (known["name"], known["role"], known["datasets"], known["state"]) == ("ana", "analyst", "clinic", "in force")
    assert secret not in listed.output
    assert CliRunner().invoke(app, shlex.split(revoke.replace("ID", known["id"]))).exit_code == 0
    with dither.Ledger("clinic.ledger") as ledger:
        assert ledger.remaining("ana") is not None


def test_the_log_is_what_operations_says(running):
    log = [json.loads(line) for line in running.end().splitlines()]
    assert log
    said = re.search(r"One line of JSON a request on standard error: (.*?)\. No SQL", (PAGES / "operations.md").read_text())
    assert said is not None
    names = set(re.findall(r"`(\w+)`", said[1]))
    assert set().union(*log) <= names
    assert not any("SELECT" in json.dumps(line) for line in log)
    assert all(line["milliseconds"] % 10 == 0 for line in log)
