"""`dither serve`: one command to an answer, a clean end, and what is refused before anything listens."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest
from typer.testing import CliRunner

from dither.cli.main import app
from dither.errors import ConflictError
from tests.server.http.conftest import made

SECONDS = 60.0


@contextmanager
def serving(*arguments: str, last: str):
    """A `dither serve`; its lines until one that has the last words."""
    started = [sys.executable, "-m", "dither", "serve", *arguments]
    with subprocess.Popen(started, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            lines = []
            for line in process.stdout:
                lines.append(line)
                if last in line:
                    break
            yield process, "".join(lines)
        finally:
            if process.poll() is None:
                process.kill()


def children(process) -> list[int]:
    """The processes that a process started."""
    text = Path(f"/proc/{process.pid}/task/{process.pid}/children")
    if not text.exists():
        pytest.skip("this system does not list the children of a process")
    return [int(each) for each in text.read_text().split()]


def gone(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return "State:\tZ" in Path(f"/proc/{pid}/status").read_text()


def ended(process, sent: signal.Signals) -> str:
    """End it by a signal: what it logged."""
    process.send_signal(sent)
    _, log = process.communicate(timeout=SECONDS)
    assert process.returncode == 0, log
    return log


def test_one_command_to_an_answer_and_a_clean_end(tmp_path):
    with serving("--demo", "--save", str(tmp_path / "clinic"), "--port", "0", last="dither.connect") as (process, told):
        address = re.search(r"^dither: listening on (http://127\.0\.0\.1:\d+)$", told, re.MULTILINE)[1]
        secret = re.search(r"DITHER_TOKEN=(dth_\w+)", told)[1]
        owner = re.search(r"OWNER_TOKEN=(dth_\w+)", told)[1]
        body = json.loads(re.search(r"-d '(.*)'", told)[1])
        sent = {"Authorization": f"Bearer {secret}", "Accept": "text/csv"}
        reply = httpx.post(f"{address}/v1/queries", json=body, headers=sent, timeout=SECONDS)
        assert reply.text.startswith("ward,n,n_low,n_high\r\ncardiology,")
        assert "server" not in reply.headers
        budget = httpx.get(f"{address}/v1/budget", headers=sent | {"Accept": "*/*"}).json()["budgets"][0]
        assert budget["share"] is not None
        found = httpx.get(f"{address}/v1/tokens", headers={"Authorization": f"Bearer {owner}"}).json()["tokens"]
        assert [token["name"] for token in found] == ["ana", "olga"]
        assert (tmp_path / "clinic" / "incoming" / "new_visits.csv").read_text().startswith("patient_id,day,ward,age,cost\n")
        started = children(process)
        log = ended(process, signal.SIGTERM)
    assert started
    until = time.monotonic() + SECONDS
    while not all(map(gone, started)):
        assert time.monotonic() < until, "a process of the gateway stayed"
    lines = [json.loads(line) for line in log.splitlines()]
    assert [line["route"] for line in lines] == ["/v1/queries", "/v1/budget", "/v1/tokens"]
    assert secret not in log
    assert "SELECT" not in log


def test_a_configuration_its_metrics_and_ctrl_c(tmp_path):
    made(tmp_path / "clinic", "clinic")
    config = tmp_path / "gateway.toml"
    config.write_text(
        'version = 1\ndatabase = "gateway.db"\n[server]\nport = 0\nmetrics_port = 0\nworkers = 1\n'
        '[datasets.clinic]\npolicy = "clinic/policy.toml"\n'
    )
    with serving("--config", str(config), last="listening on") as (process, told):
        address, metrics = re.fullmatch(r"dither: listening on (\S+); metrics on (\S+)\n", told).groups()
        assert httpx.get(f"{address}/health").json()["status"] == "ok"
        assert httpx.get(f"{address}/metrics").status_code == 404
        text = httpx.get(metrics).text
        assert 'dither_requests_total{method="GET",route="/health",status="200"} 1.0' in text
        assert 'dither_budget_left{dataset="clinic"} 1.0' in text
        assert "python_info" not in text
        with httpx.stream("GET", f"{address}/health"):  # a connection that is open
            ended(process, signal.SIGINT)


def test_beyond_this_machine_there_is_a_certificate_or_a_proxy(tmp_path):
    (tmp_path / "policy.toml").write_text("version = 1")
    config = tmp_path / "gateway.toml"
    start = 'version = 1\ndatabase = "gateway.db"\ndatasets.clinic.policy = "policy.toml"\n[server]\nhost = "0.0.0.0"\n'
    config.write_text(start)
    done = CliRunner().invoke(app, ["serve", "--config", str(config)])
    assert done.exit_code != 0
    assert "clear text" in str(done.exception)
    (tmp_path / "cert.pem").write_text("none")
    config.write_text(start + 'certificate = "cert.pem"\ncertificate_key = "cert.pem"\n')
    done = CliRunner().invoke(app, ["serve", "--config", str(config)])
    assert "it cannot be read with its key" in str(done.exception)


def test_an_address_that_is_taken_is_said(tmp_path):
    made(tmp_path / "clinic", "clinic")
    config = tmp_path / "gateway.toml"
    config.write_text('version = 1\ndatabase = "gateway.db"\ndatasets.clinic.policy = "clinic/policy.toml"\n')
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        done = CliRunner().invoke(app, ["serve", "--config", str(config), "--port", port])
        assert isinstance(done.exception, ConflictError)
        assert "nobody can listen there" in str(done.exception)


def test_the_demo_takes_another_port_where_the_usual_one_is_taken(tmp_path, monkeypatch):
    tried = []

    def listen(config, told, log):
        tried.append(config.port)
        if len(tried) == 1:
            raise ConflictError("server.port", "127.0.0.1:8765", "it is taken", "another")

    monkeypatch.setattr("dither.server.listener.listen", listen)
    for _ in range(2):  # the same folder again: the share is there, and nothing is made anew
        assert CliRunner().invoke(app, ["serve", "--demo", "--save", str(tmp_path / "clinic")]).exit_code == 0
    assert tried == [8765, 0, 8765]
    refused = CliRunner().invoke(app, ["serve", "--save", str(tmp_path / "clinic")])
    assert "--demo --save clinic" in str(refused.exception)
    (tmp_path / "clinic" / "gateway.toml").write_text("other")
    refused = CliRunner().invoke(app, ["serve", "--demo", "--save", str(tmp_path / "clinic")])
    assert isinstance(refused.exception, ConflictError)
