"""The page about PostgreSQL, word for word: its SQL as the owner, its policy, its commands."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import psycopg

from tests.docs.snippets import blocks
from tests.ledger.servers import postgres

PAGE = Path(__file__).parent.parent.parent / "docs" / "postgres.md"

ADDRESS = re.compile(r"postgresql://dither_reader@localhost/clinic\?")


def plain(text: str) -> str:
    """Words, however wide the columns of a table are."""
    return " ".join(text.split())


def test_from_an_empty_database_to_a_private_answer(tmp_path):
    ran = 0
    with postgres() as server:
        owner = server.get_uri()
        with psycopg.connect(owner, autocommit=True) as link:
            link.execute("CREATE DATABASE clinic")
        clinic = owner.replace("/postgres?", "/clinic?")
        reader = clinic.replace("postgres:@", "dither_reader@")
        for kind, text in blocks(PAGE):
            if kind == "sql":
                with psycopg.connect(clinic, autocommit=True) as link:
                    link.execute(text)
            elif kind == "toml":
                (tmp_path / "policy.toml").write_text(ADDRESS.sub(f"{reader}&", text))
            elif kind == "text":
                lines = ADDRESS.sub(f"{reader}&", text).splitlines()
                if not any(line.startswith("$ ") for line in lines):
                    (tmp_path / "sites.csv").write_text(text)
                    continue
                promised = [line for line in lines if not line.startswith("$ ")]
                done = ""
                for line in lines:
                    if line.startswith("$ "):
                        done += command(line, tmp_path)
                        ran += 1
                assert all(plain(part) in plain(done) for part in promised), done
        assert ran == 9
        with psycopg.connect(clinic) as link:
            (truth,) = link.execute("SELECT count(*) FROM visits WHERE ward = 'A'").fetchone()
    assert truth == 7500


def command(line: str, folder: Path) -> str:
    words = shlex.split(line.removeprefix("$ "))
    assert words[0] == "dither"
    done = subprocess.run(
        [sys.executable, "-m", "dither", *words[1:]], cwd=folder, capture_output=True, text=True, check=False, timeout=120
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout
