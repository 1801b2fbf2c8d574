"""Which tests run by default, and how long all of them may take.

    default   `dev.py test`: quick ones, without another process, a server, a browser, a JVM or a built page
    full      `dev.py test --full`: all; `--rest` runs those that default leaves out
    all       `dev.py test --all`: all, in their long form

A test is left out by default for a cause: a path of `LEFT_OUT` or its mark `full` says it, or it takes `MOST` CPU seconds
or more in `durations.json`, which `dev.py test --write-durations` writes, of the others with `--rest`. So every machine runs
the same tests.
"""

from __future__ import annotations

import json
import statistics
import time
from collections.abc import Mapping
from functools import cache
from pathlib import Path

MOST = 0.2  # CPU seconds
OVER = 1.3  # times its budget is what a folder may take: processors differ in more than the speed of the loop below
ROOT = Path(__file__).parent.parent
DURATIONS = ROOT / "tests" / "durations.json"
LEFT_OUT = {
    "tests/docs/test_formulas.py": "the site",
    "tests/docs/test_handouts.py": "the site",
    "tests/docs/test_pictures.py": "a browser's fonts",
    "tests/docs/test_postgres_page.py": "a PostgreSQL server",
    "tests/docs/test_site.py": "the site",
    "tests/learn/test_cells.py": "polars",
    "tests/learn/test_fit.py": "the checks of scikit-learn",
    "tests/learn/test_private_search.py": "polars",
    "tests/ledger/storage/test_postgres.py": "a PostgreSQL server",
    "tests/ledger/test_races.py": "processes that race",
    "tests/local/wire/test_javascript.py": "Node",
    "tests/query/engines/duckdb/test_table_source.py": "polars",
    "tests/query/engines/postgres": "a PostgreSQL server",
    "tests/query/engines/spark": "a JVM",
    "tests/query/sql/test_ibis.py": "ibis",
    "tests/server/attacks": "processes that are killed, and load",
    "tests/server/deploy": "processes",
    "tests/server/docs": "a gateway that is started",
    "tests/server/http/test_description.py": "thousands of requests",
    "tests/server/http/test_serve.py": "processes",
    "tests/server/mcp/test_real_gateway.py": "a gateway that is started",
    "tests/server/oidc/test_real_provider.py": "a login server",
    "tests/server/page": "a browser, or a gateway with its page",
    "tests/test_hostile_cells.py": "polars",
    "tests/testing/test_engine_conformance.py": "a PostgreSQL server",
    "tests/user_types": "type checkers",
}  # files and folders, and what they want

# They are about all files, and run whatever they take.
KEPT = ("tests/test_layers.py", "tests/test_size.py", "tests/test_surface.py")

# CPU seconds that a folder may take, all processes together: by default, and in full. What takes more samples its cases, and
# runs whole with --all.
BUDGETS: dict[str, tuple[int, int]] = {
    "tests": (18, 60),
    "tests/benchmarks": (6, 60),  # TPC-H and ClickBench, each query beside plain SQL
    "tests/channels": (6, 60),
    "tests/cli": (17, 85),
    "tests/client": (2, 10),
    "tests/density": (43, 170),
    "tests/docs": (16, 170),
    "tests/golden": (9, 90),
    "tests/learn": (12, 80),
    "tests/ledger": (10, 110),
    "tests/local": (11, 60),
    "tests/mechanisms": (12, 100),
    "tests/noise": (13, 80),
    "tests/numeric": (2, 20),
    "tests/privacy": (11, 90),
    "tests/query": (200, 1250),  # sensitivity of every way to bound a person, and of what is released beside counters
    "tests/server": (22, 370),  # real processes, killed and started again; a browser
    "tests/svg": (1, 10),
    "tests/testing": (5, 60),
    "tests/tools": (3, 30),
    "tests/user_types": (1, 40),
}


@cache
def durations() -> dict[str, dict[str, float]]:
    """CPU seconds as they were written: of each file, and of each test that takes long."""
    found: dict[str, dict[str, float]] = json.loads(DURATIONS.read_text()) if DURATIONS.exists() else {}
    return found


def cause(node: str) -> str | None:
    """Why a test, or a whole file, is left out by default; None for those that run."""
    path = node.partition("::")[0]
    for start, why in LEFT_OUT.items():
        if path == start or path.startswith(f"{start}/"):
            return why
    spent = 0.0 if path in KEPT else durations().get("tests", {}).get(node, 0.0)
    return f"{spent:g} CPU seconds" if spent >= MOST else None


def over_budget(seconds: Mapping[str, float], factor: float, *, by_default: bool) -> list[str]:
    """The folders that took more than they may, on a processor that takes so many times as long."""
    place = 0 if by_default else 1
    return [one for one, spent in seconds.items() if one in BUDGETS and spent > OVER * factor * BUDGETS[one][place]]


def shards(files: list[str], count: int, tier: str) -> dict[str, int]:
    """Which of so many shards each file is in, such that all take about as long."""
    known = [durations().get(one, {}) for one in (("default", "rest") if tier == "full" else (tier,))]
    seconds = {path: sum(one.get(path, 0.0) for one in known) or 1.0 for path in files}
    found, filled = dict[str, int](), [0.0] * count
    for path in sorted(files, key=lambda path: (-seconds[path], path)):
        found[path] = filled.index(min(filled))
        filled[found[path]] += seconds[path]
    return found


def write(tests: Mapping[str, float], tier: str, reference: Reference) -> None:
    """What a run of a tier took; what other tests take stays as it was."""
    if tier not in ("default", "rest"):
        raise ValueError("durations are written of a run by default, and of one with --rest")
    known, files = durations(), dict[str, float]()
    for node, seconds in tests.items():
        path = node.partition("::")[0]
        files[path] = files.get(path, 0.0) + seconds
    long = {node: spent for node, spent in known.get("tests", {}).items() if node not in tests}
    long |= {node: round(spent, 2) for node, spent in tests.items() if spent >= MOST}
    found = {
        "reference": {"seconds": round(reference.median, 4)} if tier == "default" else known.get("reference", {}),
        "default": known.get("default", {}),
        "rest": known.get("rest", {}),
        tier: {path: round(seconds, 1) for path, seconds in sorted(files.items())},
        "tests": {node: long[node] for node in sorted(long) if (ROOT / node.partition("::")[0]).exists()},
    }
    DURATIONS.write_text(json.dumps(found, indent=1) + "\n")


class Reference:
    """How fast this processor is now, beside the one that wrote the durations: a fixed loop, timed again and again."""

    def __init__(self) -> None:
        self.seconds: list[float] = []

    def measure(self) -> None:
        """Time the loop once more."""
        began = time.process_time()
        total = 0
        for number in range(400_000):
            total = (total * 31 + number) % 1_000_003
        assert total
        sorted(str(number) for number in range(50_000))
        self.seconds.append(time.process_time() - began)

    @property
    def median(self) -> float:
        return statistics.median(self.seconds)

    @property
    def factor(self) -> float:
        """How many times slower; 1 where it is faster."""
        known = durations().get("reference", {}).get("seconds")
        return max(1.0, self.median / known) if known else 1.0
