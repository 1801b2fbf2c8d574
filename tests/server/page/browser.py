"""A real browser for tests of the page: Chromium of this machine, driven by Playwright, and watched.

A `Profile` is the browser of one person: cookies, colours, width, with script or without. Whatever its pages do
that no page of ours may do is a fault, and a fault fails the test: an error in the console, a violation of the content
security policy, a script that fails, a dialog, a request that fails or goes to another origin, a reply that says 404 or 5xx.
A test that wants one of these says so beforehand: `profile.expect("404")`.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

from playwright.sync_api import Browser, ConsoleMessage, Dialog, Page, Request, Response, WebError, sync_playwright

NAMES = ("chromium", "chromium-browser", "google-chrome")
FLAGS = (
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--host-resolver-rules=MAP gateway.test 127.0.0.1",
)  # fmt: skip
SECONDS = 30.0  # that nothing takes; a test that waits so long has failed
# Chromium logs a reply that is no success as an error of the console; what statuses are faults is decided at the reply.
OF_A_STATUS = "Failed to load resource: the server responded with a status of"
VIOLATIONS = """document.addEventListener("securitypolicyviolation",
    (event) => console.error(`violation of ${event.violatedDirective} by ${event.blockedURI} ${event.sample}`))"""


def chromium() -> str | None:
    """Where the browser is, if there is one."""
    return next((found for name in NAMES if (found := shutil.which(name))), None)


@contextmanager
def launched(*flags: str) -> Iterator[Browser]:
    """A browser without a window, which is over at the end. While it is there, this thread has an event loop that runs."""
    with sync_playwright() as playwright:
        made = playwright.chromium.launch(executable_path=chromium(), headless=True, args=[*FLAGS, *flags])
        try:
            yield made
        finally:
            made.close()


class Profile:
    """The browser of one person, at one gateway; remembers what went wrong."""

    def __init__(self, browser: Browser, where: str, token: str | None = None, **options: Any) -> None:
        self.where, self.faults, self._expected = where, list[str](), list[str]()
        self.context = browser.new_context(base_url=where, **options)
        self.context.set_default_timeout(1000 * SECONDS)
        self.context.add_init_script(VIOLATIONS)
        if token is not None:
            self.log_in(token)
        self.context.on("console", self._console)
        self.context.on("weberror", self._error)
        self.context.on("dialog", self._dialog)
        self.context.on("request", self._request)
        self.context.on("requestfailed", self._failed)
        self.context.on("response", self._response)

    def log_in(self, token: str) -> None:
        """Have the cookie of a token, as the page of the log-in gives it."""
        cookie = {"name": "dither-token", "value": token, "url": self.where, "httpOnly": True, "sameSite": "Strict"}
        self.context.add_cookies([cookie])  # type: ignore[list-item]

    def open(self, path: str) -> Page:
        """A new tab with this address."""
        page = self.context.new_page()
        page.goto(path)
        return page

    def expect(self, *words: str) -> None:
        """Faults with one of these words are wanted."""
        self._expected += words

    def close(self) -> list[str]:
        """End the browser of this person; what went wrong and was not wanted."""
        self.context.close()
        return [fault for fault in self.faults if not any(word in fault for word in self._expected)]

    # -- what is watched -------------------------------------------------------------------------------------------------

    def _console(self, message: ConsoleMessage) -> None:
        if message.type == "error" and not message.text.startswith(OF_A_STATUS):
            self.faults.append(f"console: {message.text}")

    def _error(self, error: WebError) -> None:
        self.faults.append(f"script: {error.error.stack or error.error}")

    def _dialog(self, dialog: Dialog) -> None:
        self.faults.append(f"dialog: {dialog.message}")
        dialog.dismiss()

    def _request(self, request: Request) -> None:
        place = urlsplit(request.url)
        if place.scheme != "data" and f"{place.scheme}://{place.netloc}" != self.where:
            self.faults.append(f"another origin: {request.url}")

    def _failed(self, request: Request) -> None:
        if request.failure != "net::ERR_ABORTED":  # the page itself, or the next one, needs it no more
            self.faults.append(f"request: {request.method} {request.url} {request.failure}")

    def _response(self, response: Response) -> None:
        if response.status == 404 or (response.status >= 500 and response.status != 503):
            self.faults.append(f"status: {response.status} {response.request.method} {response.url}")
