"""The page in a real browser: bytes of its first load, time from the last key to the price, time to the first answer.

It needs Chromium and playwright, as the tests of the page do.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from tests.server.page.browser import Profile, launched
from tests.server.page.demo_process import demo_process

from benchmarks.page.first_answer import first_answer
from benchmarks.page.first_load import first_load, script_lines
from benchmarks.page.price_delay import price_delay


def main(*, soak: bool = False) -> None:
    script_lines()
    with tempfile.TemporaryDirectory() as folder, launched() as browser, demo_process(Path(folder)) as (where, (link, _)):
        first_load(Profile(browser, where), link)
        price_delay(Profile(browser, where), link, keys=500 if soak else 50)
    with launched() as browser:
        first_answer(browser)
