"""From nothing to the first private answer in a browser, part by part: install, start, log in, ask."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from playwright.sync_api import Browser, expect
from tests.server.page.browser import Profile
from tests.server.page.demo_process import demo_process

from benchmarks.page.entrance import entered
from benchmarks.report import console, table

MOST = 60.0  # seconds
APART = "(not counted)"
CHECKOUT = Path(__file__).resolve().parents[2]
QUIET = ["--quiet", "--disable-pip-version-check"]


def run(*command: str | Path) -> None:
    """A step, which must succeed."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    subprocess.run(command, cwd=CHECKOUT, env=environment, check=True, stdout=subprocess.DEVNULL)


def first_answer(browser: Browser) -> None:
    """Print how long each part took. The wheel is built before; what pip downloads depends on the network."""
    with tempfile.TemporaryDirectory(prefix="dither-benchmark-") as made:
        folder = Path(made)
        run(sys.executable, "-m", "build", "--no-isolation", "--wheel", "--outdir", folder / "wheel", CHECKOUT)
        wheel = next((folder / "wheel").glob("*.whl"))
        parts: list[tuple[str, float]] = []
        start = time.perf_counter()

        def over(name: str) -> None:
            nonlocal start
            parts.append((name, time.perf_counter() - start))
            start = time.perf_counter()

        run(sys.executable, "-m", "venv", folder / "env")
        over(f"python -m venv {APART}")
        pip = folder / "env" / "bin" / "pip"
        run(pip, "download", *QUIET, "--dest", folder / "wheels", f"{wheel}[server]")
        over(f"pip's download {APART}")
        run(pip, "install", *QUIET, "--no-index", "--find-links", folder / "wheels", f"{wheel}[server]")
        over("pip install, with the extra server")
        os.environ.pop("PYTHONPATH", None)
        with demo_process(folder / "clinic", [str(folder / "env" / "bin" / "dither")]) as (where, (link, _)):
            over("dither serve --demo, to the printed link")
            profile = Profile(browser, where)
            page = entered(profile, link)
            over("log in, to the first price")
            page.locator("#ask-button").click()
            expect(page.locator("#answer").get_by_role("table")).to_be_visible()
            over("one click, to the first answer")
            profile.close()
    whole = sum(seconds for name, seconds in parts if APART not in name)
    rows = [[name, f"{seconds:.1f}"] for name, seconds in parts]
    verdict = f"{MOST:g} s {'reached' if whole <= MOST else 'MISSED'}"
    table("to the first private answer", ["part", "s"], [*rows, [f"all that counts ({verdict})", f"{whole:.1f}"]])
    console.print(f"{os.cpu_count()} cores; in the last minute {os.getloadavg()[0]:.1f} processes wanted one")
