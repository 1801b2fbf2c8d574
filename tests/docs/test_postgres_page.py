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
                address = re.search(r'"(postgresql://[^"]+)\?(table=[^"]+)"', text)
                (tmp_path / "policy.toml").write_text(text.replace(address[0], f'"{reader}&{address[2]}"'))
            elif kind == "text":
                lines = text.splitlines()
                promised = [line for line in lines if not line.startswith("$ ")]
                for line in lines:
                    if line.startswith("$ "):
                        done = command(line, tmp_path)
                        assert all(part in done for part in promised), done
                        ran += 1
        assert ran == 4
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
