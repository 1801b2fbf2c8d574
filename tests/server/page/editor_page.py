"""A page with an editor in a form, under the content security policy of all pages; no gateway is behind it."""

from __future__ import annotations

from importlib.resources import files
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs

from dither.server.page.render import POLICY

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page, Route

    from tests.server.page.browser import Profile

ASSETS = files("dither.server.page") / "assets"
WHERE = "http://editor.test"
TEXT = "SELECT ward, COUNT(*) AS n\nFROM visits\nGROUP BY ward"
PAGE = f"""<!doctype html><html lang="en"><meta charset="utf-8"><title>editor</title>
<script type="module" src="/editor.js"></script>
<form method="post" action="/asked"><a id="first" href="/">before</a>
<dither-editor data-completions="Offers" data-table="a table"><label for="sql">Your question</label>
<textarea id="sql" name="sql" required aria-describedby="more none" aria-invalid="true">{TEXT}</textarea></dither-editor>
<p id="more">One SELECT.</p>
<button name="action" value="price">Price</button><button name="action" value="ask">Ask</button></form></html>"""
HOSTILE = ["it's", "<img src=x onerror=alert(1)>", "two\nlines", "\u202egnp.exe", 'a"b', "=1+1", "\u0007bell", "\U0001f600"]
SCHEMA = {
    "tables": [
        {
            "name": "visits",
            "columns": [
                {"name": "ward", "type": "text", "keys": ["surgery", "maternity"]},
                {"name": "first day", "type": "date", "keys": ["2024-01-01"]},
                {"name": "order", "type": "integer", "keys": [1, 2]},
                {"name": "town", "type": "text", "keys": HOSTILE},
            ],
        },
        {"name": "<b>t</b>", "columns": [{"name": name, "type": "text", "keys": None} for name in HOSTILE]},
    ]
}
TYPES = {"js": "text/javascript", "css": "text/css"}


class EditorPage:
    """A page with an editor in a form, and what it sent."""

    def __init__(self, profile: Profile, blocked: str = "", typed: str = "") -> None:
        self.sent: list[dict[str, list[str]]] = []
        self.blocked, self.slow, self._waiting = blocked, "codemirror.js" if typed else "", list[Any]()
        profile.context.route("**/*", self._reply)
        self.page: Page = profile.open("/")
        self.host: Locator = self.page.locator("dither-editor")
        if typed:  # before the editor has come
            self.page.locator("textarea").focus()
            self.page.keyboard.type(typed)
            self.run("(editor) => editor.mark({line: 2, column: 6, length: 6, message: 'early'})")
            self.slow = ""
            for route in self._waiting:
                self._reply(route)
        self.page.wait_for_selector("dither-editor[data-state]")
        self.run("(editor, schema) => { editor.schema = schema }", SCHEMA)

    def _reply(self, route: Route) -> None:
        name = route.request.url.removeprefix(f"{WHERE}/")
        if name == "asked":
            self.sent.append(parse_qs(route.request.post_data or ""))
        if name in ("", "asked", "favicon.ico"):
            route.fulfill(body=PAGE, content_type="text/html", headers={"Content-Security-Policy": POLICY})
        elif name == self.slow:
            self._waiting.append(route)
        elif name == self.blocked:
            route.abort()
        else:
            route.fulfill(body=(ASSETS / name).read_text("utf-8"), content_type=TYPES[name.rpartition(".")[2]])

    def run(self, code: str, argument: Any = None) -> Any:
        """What a function of the editor and an argument gives."""
        return self.host.evaluate(code, argument)

    @property
    def value(self) -> str:
        """The text, which the field of the form has too."""
        value = self.run("(editor) => editor.value")
        assert self.page.locator("textarea").input_value() == value
        return str(value)

    def write(self, text: str) -> None:
        """Set the text; the cursor is at its end, and the editor has the focus."""
        self.run("(editor, text) => { editor.value = text; editor.focus() }", text)

    def offers(self) -> list[str]:
        """What is offered when it is asked for."""
        self.page.keyboard.press("Control+Space")
        box = self.page.get_by_role("listbox", name="Offers")
        box.wait_for()
        return box.get_by_role("option").locator(".cm-completionLabel").all_text_contents()

    def take(self, place: int) -> str:
        """The text after the offer at this place was taken by mouse."""
        before = self.value
        self.page.get_by_role("option").nth(place).click()
        self.page.wait_for_function("before => document.querySelector('textarea').value !== before", arg=before)
        return self.value
