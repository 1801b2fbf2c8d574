"""Where Java is missing or old, the tests of Spark say so, and fail where Spark is required."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.query.engines.spark.java import missing

ROOT = Path(__file__).parent.parent.parent.parent.parent


@pytest.fixture
def path(tmp_path, monkeypatch):
    """A machine without Java."""
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("JAVA_HOME", raising=False)
    return tmp_path


def made(folder, told):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "java").write_text(f"#!/bin/sh\necho '{told}' >&2\n")
    (folder / "java").chmod(0o755)


@pytest.mark.parametrize(
    ("told", "why"),
    [
        ('openjdk version "17.0.15" 2025-04-15', None),
        ('openjdk version "21" 2023-09-19', None),
        ('openjdk version "24-ea" 2025-03-18', None),
        ('openjdk version "11.0.2" 2019-01-15', "no Java 17 (the one that is there is 11)"),
        ('java version "1.8.0_402"', "no Java 17 (the one that is there is 8)"),
        ("Unable to locate a Java Runtime.", "no Java 17 (what is called java does not say its version)"),
    ],
)
def test_versions(path, told, why):
    made(path, told)
    assert missing() == (why and f"Spark is not run: {why}")


def test_none_and_java_home(path, monkeypatch):
    assert missing() == "Spark is not run: no Java 17"
    made(path, 'openjdk version "17.0.1"')
    monkeypatch.setenv("JAVA_HOME", str(path / "old"))
    assert missing() == "Spark is not run: no Java 17"
    made(path / "old" / "bin", 'openjdk version "11"')
    assert "is 11" in str(missing())


def test_what_is_required_may_not_be_skipped(tmp_path):
    """The page is not run, for a reason; with DITHER_REQUIRE=spark that is a failure."""
    pytest.importorskip("pyspark", reason="Spark is not run: no pyspark")
    plain = {name: value for name, value in os.environ.items() if name != "JAVA_HOME"}
    plain |= {"PATH": str(tmp_path), "PYTHONPATH": os.pathsep.join(filter(None, sys.path)), "DITHER_REQUIRE": "spark"}
    page = "tests/query/engines/spark/test_page.py"
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", page]
    failed = subprocess.run(command, cwd=ROOT, env=plain, check=False, capture_output=True, text=True)
    assert failed.returncode == 1
    assert "DITHER_REQUIRE names it, so it may not be skipped: Skipped: Spark is not run: no Java 17" in failed.stdout
