"""Settings for all tests: a seed of the day, a home of their own, what must be present, and where the time goes."""

from __future__ import annotations

import os
import time
from collections import Counter, defaultdict
from collections.abc import Iterator

import pytest
from hypothesis import settings

from tests.seeds import ALL, SEED, seed_of_the_day

# CPU seconds that a folder may take on a push, all processes together; what takes more samples, and runs whole with --all.
BUDGETS = {
    "tests": 60,
    "tests/benchmarks": 60,  # TPC-H and ClickBench, each query beside plain SQL
    "tests/channels": 60,
    "tests/cli": 85,
    "tests/client": 10,
    "tests/density": 170,
    "tests/docs": 170,
    "tests/golden": 65,
    "tests/learn": 80,
    "tests/ledger": 110,
    "tests/local": 60,
    "tests/mechanisms": 100,
    "tests/noise": 80,
    "tests/numeric": 20,
    "tests/privacy": 90,
    "tests/query": 1250,  # sensitivity of every way to bound a person, and of what is released beside counters
    "tests/server": 370,  # real processes, killed and started again; a browser
    "tests/svg": 10,
    "tests/testing": 60,
    "tests/tools": 15,
    "tests/user_types": 40,
}


# -- how long, and from which seed ---------------------------------------------------------------------------------------


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--all", action="store_true", help="the long form of tests that have one; more random examples")


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    # In the environment, since worker processes inherit it, and test modules read it when they are imported.
    os.environ[SEED] = str(seed_of_the_day())
    if config.getoption("--all"):
        os.environ[ALL] = "1"
    if config.getoption("hypothesis_seed", None) is None:
        config.option.hypothesis_seed = seed_of_the_day()
    examples = 1000 if ALL in os.environ else 60
    settings.register_profile("day", deadline=None, database=None, print_blob=True, max_examples=examples)
    settings.load_profile("day")


def pytest_report_header() -> str:
    return f"seed of the day: {seed_of_the_day()}"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Spark's tests first: the first tests of all go to one worker process together, so that one JVM starts, and not two."""
    items.sort(key=lambda item: "engines/spark/" not in item.nodeid)


@pytest.fixture
def every(request: pytest.FixtureRequest) -> bool:
    """Whether the long form of a test was asked for."""
    return bool(request.config.getoption("--all"))


@pytest.fixture(scope="session", autouse=True)
def a_home_for_tests(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Keys of ledgers made in tests, examples and pages do not go to the user's own folder."""
    before = os.environ.get("DITHER_HOME")
    os.environ["DITHER_HOME"] = str(tmp_path_factory.mktemp("home"))
    yield
    os.environ.pop("DITHER_HOME")
    if before is not None:
        os.environ["DITHER_HOME"] = before


# -- what must be present ------------------------------------------------------------------------------------------------

REQUIRED = [word for word in os.environ.get("DITHER_REQUIRE", "").split(",") if word]  # such as "postgres,ibis"


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Iterator[None]:
    report: pytest.TestReport = yield  # type: ignore[assignment]
    if report.skipped and isinstance(report.longrepr, tuple):
        reason = report.longrepr[2]
        if any(word.lower() in reason.lower() for word in REQUIRED):
            report.outcome = "failed"
            report.longrepr = f"DITHER_REQUIRE names it, so it may not be skipped: {reason}"
    if call.when == "teardown":
        report.user_properties.append(("cpu", _cpu() - item.stash[STARTED]))
    return report  # type: ignore[return-value]


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(collector: pytest.Collector) -> Iterator[None]:
    """A whole file that is skipped, for want of a library, is known when it is collected."""
    report: pytest.CollectReport = yield  # type: ignore[assignment]
    if report.skipped and isinstance(report.longrepr, tuple):
        reason = report.longrepr[2]
        if any(word.lower() in reason.lower() for word in REQUIRED):
            report.outcome = "failed"
            report.longrepr = f"DITHER_REQUIRE names it, so it may not be skipped: {reason}"  # type: ignore[assignment]
    return report  # type: ignore[return-value]


# -- where the time goes ---------------------------------------------------------------------------------------------------

STARTED = pytest.StashKey[float]()
_minutes: defaultdict[str, float] = defaultdict(float)
_seconds: defaultdict[str, float] = defaultdict(float)
_skipped: Counter[str] = Counter()


def _cpu() -> float:
    """Seconds of this process and of those that it started and waited for."""
    spent = os.times()
    return time.process_time() + spent.children_user + spent.children_system


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    item.stash[STARTED] = _cpu()
    return (yield)  # type: ignore[return-value]


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    parts = report.nodeid.split("::")[0].split("/")
    folder = "/".join(parts[:2]) if len(parts) > 2 else parts[0]
    _minutes[folder] += report.duration / 60
    _seconds[folder] += sum(float(spent) for name, spent in report.user_properties if name == "cpu")  # type: ignore[arg-type]
    if report.skipped and isinstance(report.longrepr, tuple):
        _skipped[report.longrepr[2].removeprefix("Skipped: ")] += 1


def pytest_collectreport(report: pytest.CollectReport) -> None:
    if report.skipped and isinstance(report.longrepr, tuple):
        _skipped[str(report.longrepr[2]).removeprefix("Skipped: ")] += 1


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    terminalreporter.section("time per folder")
    terminalreporter.write_line("minutes  CPU s  budget")
    for folder, minutes in sorted(_minutes.items()):
        budget = BUDGETS.get(folder)
        over = "  OVER ITS BUDGET" if budget is not None and _seconds[folder] > budget and ALL not in os.environ else ""
        terminalreporter.write_line(f"{minutes:7.2f}  {_seconds[folder]:5.0f}  {budget or '':>6}  {folder}{over}")
    for reason, times in sorted(_skipped.items()):
        terminalreporter.write_line(f"not run ({times}): {reason.removeprefix('not run: ')}")
    terminalreporter.write_line(f"the same examples again: {SEED}={seed_of_the_day()} python3 dev.py test")
