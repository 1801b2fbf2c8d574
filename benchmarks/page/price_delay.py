"""How long after the last key the price of what is written is shown."""

from __future__ import annotations

import statistics

from tests.server.page.browser import Profile

from benchmarks.page.entrance import entered
from benchmarks.report import table

MOST = 150.0  # milliseconds
AFTER = " GROUP BY ward"
SQL = f"SELECT ward, COUNT(*) AS n FROM visits WHERE cost < {{}}{AFTER}"
# From the key to the frame in which the price is no more that of something else.
CLOCK = """() => {
    const price = document.getElementById("price"), quote = document.querySelector("#ask input[name=quote]");
    let start;
    window.delay = undefined;
    addEventListener("keydown", () => { start = performance.now() }, {capture: true, once: true});
    new MutationObserver((_, me) => {
        if (start === undefined || price.hasAttribute("aria-busy") || !quote.value) return;
        me.disconnect();
        requestAnimationFrame(() => { window.delay = performance.now() - start });
    }).observe(price, {childList: true, subtree: true, attributes: true});
}"""
WRITTEN = """(sql) => { const editor = document.querySelector("dither-editor"); editor.value = sql; editor.focus() }"""
SETTLED = """(sql) => document.querySelector("#ask input[name=quote]").value !== ""
    && !document.getElementById("price").hasAttribute("aria-busy")"""


def price_delay(profile: Profile, link: str, *, keys: int) -> None:
    """Print the middle and the slow ones, each key making a question that nobody priced before."""
    page = entered(profile, link)
    times = []
    for number in range(keys):
        page.evaluate(WRITTEN, SQL.format(100 + number))
        page.wait_for_function(SETTLED)
        page.keyboard.press("End")
        for _ in AFTER:
            page.keyboard.press("ArrowLeft")
        page.evaluate(CLOCK)
        page.keyboard.type("5")
        page.wait_for_function("() => window.delay !== undefined")
        times.append(float(page.evaluate("() => window.delay")))
    profile.close()
    ordered = sorted(times)
    middle, slow = statistics.median(times), ordered[max(0, -(-95 * len(ordered) // 100) - 1)]
    verdict = f"{MOST:g} ms {'reached' if slow <= MOST else 'MISSED'}"
    columns = ["keys", "p50 ms", "p95 ms", "slowest ms", "bar (p95)"]
    table(
        "from the last key to the price",
        columns,
        [[f"{keys}", f"{middle:.0f}", f"{slow:.0f}", f"{ordered[-1]:.0f}", verdict]],
    )
