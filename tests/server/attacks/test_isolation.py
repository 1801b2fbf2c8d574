"""What each process holds: the web process neither rows nor ledger nor key, the desk no rows; and all end with the first."""

from __future__ import annotations

import os
import re
import signal
import sys
import time
from pathlib import Path

import httpx
import pytest

from tests.server.attacks.hostile_clinic import CANARY, hostile_clinic
from tests.server.attacks.served import Served, served

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="not run: /proc is of Linux")
GATEWAY = """\
version = 1
database = "gateway/gateway.db"
[server]
workers = 1
[limits]
seconds = 2
memory_mb = 3000
queries_per_second = 1000
[datasets.clinic]
policy = "clinic/policy.toml"
"""
ROW = "row-of-77-91c4"  # stands in no code that these processes run
ROWS = ("visits.csv", "tests.parquet")


def children(pid: int) -> dict[str, int]:
    """The processes of a gateway, by their kinds."""
    found = {}
    for place in Path("/proc").iterdir():
        if place.name.isdigit():
            try:
                parent = int((place / "stat").read_text().rpartition(")")[2].split()[1])
                words = (place / "cmdline").read_bytes().split(b"\0")
            except OSError:  # it ended
                continue
            if parent == pid and len(words) > 2:
                found[words[-2].decode()] = int(place.name)
    return found


def places(pid: int) -> str:
    """All files that a process has open, or mapped into its memory."""
    opened = [str(place.readlink()) for place in Path(f"/proc/{pid}/fd").iterdir()]
    return "\n".join(opened) + Path(f"/proc/{pid}/maps").read_text()


def remembers(pid: int, needles: list[bytes]) -> list[bytes]:
    """Which of these bytes are in the memory of a process that it can write to."""
    found = set()
    with Path(f"/proc/{pid}/mem").open("rb", buffering=0) as memory:
        for line in Path(f"/proc/{pid}/maps").read_text().splitlines():
            start, end, rights = re.match(r"([0-9a-f]+)-([0-9a-f]+) (\S+)", line).groups()  # type: ignore[union-attr]
            if "rw" not in rights or "[v" in line:
                continue
            try:
                memory.seek(int(start, 16))
                part = memory.read(int(end, 16) - int(start, 16))
            except (OSError, ValueError, OverflowError):  # pages that nobody has touched
                continue
            found |= {needle for needle in needles if needle in part}
    return sorted(found)


def ask(web: Served, condition: str, role: str = "analyst", **headers: str) -> httpx.Response:
    body = {"dataset": "clinic", "sql": f"SELECT COUNT(*) AS n FROM visits WHERE {condition}", "epsilon": "0.01"}
    told = web.header(role) | {"Prefer": "wait=30", **headers}
    return httpx.post(f"{web.where}/v1/queries", json=body, headers=told, timeout=60)


def until(what, seconds: float = 60.0) -> None:
    end = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < end
        time.sleep(0.02)


def test_who_holds_what_and_that_all_end_with_the_first(tmp_path, home):
    hostile_clinic(tmp_path / "clinic", "clinic")
    with (tmp_path / "clinic" / "visits.csv").open("a") as rows:
        rows.write(f"77,A,2025-01-01,20,1,{ROW}\n")
    (tmp_path / "gateway").mkdir()
    (tmp_path / "once").mkdir()
    (tmp_path / "gateway.toml").write_text(GATEWAY)
    keys = [file.read_text().strip() for file in home.rglob("*") if file.is_file() and len(file.read_bytes()) >= 64]
    secrets = [word for text in keys for word in re.findall(r"[0-9a-f]{64}", text)]
    assert secrets
    needles = [key.encode() for key in secrets] + [bytes.fromhex(key) for key in secrets]
    facts = {"lease": 1, "once": str(tmp_path / "once"), "events": [["age > 66", "read", "sleep 3600"]]}
    with (tmp_path / "output").open("w") as output, served(tmp_path / "gateway.toml", output, **facts) as web:
        assert [ask(web, f"age > {place} AND note LIKE '%{place}'").status_code for place in range(3)] == [200, 200, 200]
        assert httpx.get(f"{web.where}/v1/ledger?dataset=clinic", headers=web.header("owner")).status_code == 200
        kinds = children(web.pid)
        assert kinds.keys() == {"desk", "worker"}

        ledger, home_name = "clinic.ledger", str(home)
        assert not any(name in places(web.pid) for name in (*ROWS, ledger, home_name))
        assert not any(name in places(kinds["desk"]) for name in ROWS)
        assert ledger in places(kinds["desk"])  # so that looking finds something
        for pid in kinds.values():
            assert b"DITHER_TOKEN" not in Path(f"/proc/{pid}/environ").read_bytes()
            limits = Path(f"/proc/{pid}/limits").read_text()
            assert re.search(r"Max core file size +0 +0 ", limits)
        assert re.search(
            rf"Max address space +{3000 * 2**20} +{3000 * 2**20} ", Path(f"/proc/{kinds['worker']}/limits").read_text()
        )
        try:
            assert remembers(web.pid, [*needles, ROW.encode()]) == []
            assert remembers(kinds["desk"], [ROW.encode()]) == []
            assert remembers(kinds["desk"], needles)  # so that looking finds something
        except PermissionError:
            pass  # this machine lets nobody look

        # kill -9 of the web process, in the middle of a question.
        begun = httpx.post(
            f"{web.where}/v1/queries",
            json={"dataset": "clinic", "sql": "SELECT COUNT(*) AS n FROM visits WHERE age > 66", "epsilon": "0.01"},
            headers=web.header() | {"Prefer": "wait=0", "Idempotency-Key": "k"},
        )
        assert begun.status_code == 202
        until(lambda: (tmp_path / "once" / "0").exists())
        os.kill(web.pid, signal.SIGKILL)
        web.process.wait()
        until(lambda: not any(Path(f"/proc/{pid}").exists() for pid in kinds.values()))

    with (tmp_path / "output").open("a") as output, served(tmp_path / "gateway.toml", output, **facts) as web:
        until(lambda: ask(web, "age > 66", **{"Idempotency-Key": "k"}).status_code == 200)
        assert ask(web, "age > 66", "owner").headers["dither-replay"] == "true"
        verified = httpx.post(f"{web.where}/v1/ledger/verify?dataset=clinic", headers=web.header("auditor"), timeout=60)
        assert verified.json()["ok"]
        lines = httpx.get(f"{web.where}/v1/ledger?dataset=clinic", headers=web.header("auditor")).json()["entries"]
        assert [line["kind"] for line in lines].count("reserved") == 4
        web.process.send_signal(signal.SIGTERM)
        assert web.process.wait(60) == 0
    assert not any(word in (tmp_path / "output").read_text() for word in (CANARY, ROW))
