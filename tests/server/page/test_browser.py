"""The harness itself: whatever no page of ours may do is seen, in a real browser."""

from __future__ import annotations

import pytest

pytest.importorskip("playwright", reason="not run: no Chromium can be driven without playwright")

from tests.server.page.browser import Profile

WHERE = "http://page.test"  # every request is answered here, none leaves the browser
POLICY = "default-src 'none'; script-src 'self'; img-src 'self'; connect-src *; require-trusted-types-for 'script'"
FAULTS = {
    "console.error('a word')": "console: a word",
    "missing.call()": "script: ReferenceError: missing is not defined",
    "alert('a word')": "dialog: a word",
    "fetch('http://elsewhere.test/')": "another origin: http://elsewhere.test/",
    "fetch('/absent')": "status: 404 GET http://page.test/absent",
    "fetch('/broken')": "status: 500 GET http://page.test/broken",
    "fetch('/refused')": "request: GET http://page.test/refused net::ERR_CONNECTION_REFUSED",
    "document.body.innerHTML = '<b>'": "violation of require-trusted-types-for",
    "document.body.append(Object.assign(document.createElement('script'), {text: '1'}))": "violation of require-trusted",
    "document.body.setAttribute('onclick', 'alert(1)')": "violation of require-trusted-types-for",
    "document.body.setAttribute('style', 'color: red')": "violation of style-src-attr by inline",
    "document.body.append(Object.assign(new Image(), {src: 'data:,'}))": "violation of img-src by data",
}


def answered(route) -> None:
    """The replies of a server that is not there."""
    path = route.request.url.removeprefix(WHERE)
    if path == "/refused":
        route.abort("connectionrefused")
        return
    status = {"/absent": 404, "/broken": 500}.get(path, 200)
    script = path.startswith("/script")
    body = "planted()" if script else "<!doctype html><title>a page</title><body><script src=/script></script>"
    kind = "text/javascript" if script else "text/html"
    headers = {"Content-Type": kind, "Content-Security-Policy": POLICY, "Access-Control-Allow-Origin": "*"}
    route.fulfill(status=status, headers=headers, body="" if path == "/favicon.ico" else body)


@pytest.fixture
def planted(browser):
    """A browser on a page that runs a script, and what went wrong then."""

    def of(script: str, *expected: str) -> list[str]:
        who = Profile(browser, WHERE)
        who.expect(*expected)
        who.context.route("**/*", answered)
        who.context.add_init_script(f"window.planted = () => {{ setTimeout(() => document.title = 'over', 0); {script} }}")
        page = who.open("/")
        if "missing" not in script:
            page.wait_for_function("() => document.title === 'over'")
        page.wait_for_load_state("networkidle")
        return who.close()

    return of


@pytest.mark.parametrize("script", FAULTS)
def test_a_fault_is_seen(planted, script):
    faults = planted(script)
    assert any(fault.removeprefix("console: ").startswith(FAULTS[script].removeprefix("console: ")) for fault in faults), (
        faults
    )


def test_a_page_that_does_nothing_wrong_has_no_fault(planted):
    assert planted("fetch('/asked')") == []
    assert planted("fetch('/absent')", "404") == []
