"""Settings for all tests: repeatable hypothesis runs, and minutes per folder at the end."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterator

import pytest
from hypothesis import settings

settings.register_profile("repeatable", derandomize=True, deadline=None, max_examples=200)
settings.load_profile("repeatable")


@pytest.fixture(scope="session", autouse=True)
def a_home_for_tests(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Keys of ledgers made in tests, examples and pages do not go to the user's own folder."""
    before = os.environ.get("DITHER_HOME")
    os.environ["DITHER_HOME"] = str(tmp_path_factory.mktemp("home"))
    yield
    os.environ.pop("DITHER_HOME")
    if before is not None:
        os.environ["DITHER_HOME"] = before


_seconds: defaultdict[str, float] = defaultdict(float)


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    parts = report.nodeid.split("::")[0].split("/")
    _seconds["/".join(parts[:2]) if len(parts) > 2 else parts[0]] += report.duration


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    terminalreporter.section("minutes per folder")
    for folder, seconds in sorted(_seconds.items()):
        terminalreporter.write_line(f"{seconds / 60:6.2f}  {folder}")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--soak", action="store_true", help="the long form of tests that have one")


@pytest.fixture
def soak(request: pytest.FixtureRequest) -> bool:
    """Whether the long form of a test was asked for."""
    return bool(request.config.getoption("--soak"))
