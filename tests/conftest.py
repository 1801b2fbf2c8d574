"""Settings for all tests: which ones run, a seed of the day, a home of their own, what must be present, their time."""

from __future__ import annotations

import os
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from tests import tiers
from tests.seeds import ALL, SEED, seed_of_the_day

# -- how long, and from which seed ---------------------------------------------------------------------------------------


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--all", action="store_true", help="the long form of tests that have one; more random examples")
    parser.addoption(
        "--tier", choices=("default", "rest", "full"), default="full", help="which tests run, by tests/tiers.py"
    )
    parser.addoption("--shard", metavar="K/N", help="the K-th of N parts that take about as long")
    parser.addoption("--write-durations", action="store_true", help="write tests/durations.json anew")


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


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """A file of which nothing runs is not even read."""
    if config.getoption("--tier") == "default" and tiers.cause(collection_path.relative_to(tiers.ROOT).as_posix()):
        return True
    return None


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Those of the tier. Spark's first: the first tests of all go to one worker process together, so that one JVM starts."""
    tier, kept = config.getoption("--tier"), list(items)
    if tier != "full":
        by_default = tier == "default"
        kept = [item for item in items if _runs_by_default(item) is by_default]
    if shard := config.getoption("--shard"):
        place, count = map(int, shard.split("/"))
        parts = tiers.shards(sorted({item.nodeid.partition("::")[0] for item in kept}), count, tier)
        kept = [item for item in kept if parts[item.nodeid.partition("::")[0]] == place - 1]
    if len(kept) < len(items):
        config.hook.pytest_deselected(items=list(set(items) - set(kept)))
    items[:] = sorted(kept, key=lambda item: "engines/spark/" not in item.nodeid)


def _runs_by_default(item: pytest.Item) -> bool:
    return item.get_closest_marker("full") is None and tiers.cause(item.nodeid) is None


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
REFERENCE = tiers.Reference()
_minutes: defaultdict[str, float] = defaultdict(float)
_seconds: defaultdict[str, float] = defaultdict(float)  # CPU seconds by folder
_tests: defaultdict[str, float] = defaultdict(float)  # and by test
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
    spent = sum(float(seconds) for name, seconds in report.user_properties if name == "cpu")  # type: ignore[arg-type]
    _minutes[folder] += report.duration / 60
    _seconds[folder] += spent
    _tests[report.nodeid] += spent
    if len(_tests) % 200 == 1:
        REFERENCE.measure()
    if report.skipped and isinstance(report.longrepr, tuple):
        _skipped[report.longrepr[2].removeprefix("Skipped: ")] += 1


def pytest_collectreport(report: pytest.CollectReport) -> None:
    if report.skipped and isinstance(report.longrepr, tuple):
        _skipped[str(report.longrepr[2]).removeprefix("Skipped: ")] += 1


def _over(config: pytest.Config) -> list[str]:
    """The folders that took more than they may; long forms take what they take."""
    if ALL in os.environ or hasattr(config, "workerinput") or not REFERENCE.seconds:
        return []
    return tiers.over_budget(_seconds, REFERENCE.factor, by_default=config.getoption("--tier") == "default")


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    config = session.config
    if hasattr(config, "workerinput"):
        return
    if config.getoption("--write-durations"):
        tiers.write(_tests, config.getoption("--tier"), REFERENCE)
    if _over(config) and session.exitstatus == pytest.ExitCode.OK:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    factor = f", on a processor that takes {REFERENCE.factor:.2f} times as long" if REFERENCE.seconds else ""
    terminalreporter.section(f"time per folder{factor}")
    terminalreporter.write_line("minutes  CPU s  budget")
    place = int(config.getoption("--tier") != "default")
    for folder, minutes in sorted(_minutes.items()):
        most, over = tiers.BUDGETS.get(folder, (0, 0))[place], folder in _over(config)
        more = f"  more than {tiers.OVER} times its budget: the run fails" if over else ""
        terminalreporter.write_line(f"{minutes:7.2f}  {_seconds[folder]:5.0f}  {most:6}  {folder}{more}")
    terminalreporter.write_line(f"{sum(_minutes.values()):7.2f}  {sum(_seconds.values()):5.0f}          in all")
    for reason, times in sorted(_skipped.items()):
        terminalreporter.write_line(f"not run ({times}): {reason.removeprefix('not run: ')}")
    terminalreporter.write_line(f"the same examples again: {SEED}={seed_of_the_day()} python3 dev.py test")
