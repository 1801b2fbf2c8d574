"""Pages of the wizard as a browser without script has them, and an owner who answers by their forms."""

from __future__ import annotations

from html.parser import HTMLParser

import httpx

from tests.server.page.visitor import Visitor

CANARY = "Canariensis"  # in rows, and on no page


class Page(HTMLParser):
    """What a browser would have: fields that it sends, buttons, text, elements that may not be there."""

    def __init__(self, reply: httpx.Response) -> None:
        super().__init__()
        self.fields: dict[str, str] = {}
        self.choices: list[str] = []
        self.buttons: list[tuple[str, str]] = []
        self.text, self.tags, self.headings = "", list[str](), 0
        self._area: str | None = None
        self.reply, self.status = reply, reply.status_code
        self.feed(reply.text)
        self.fields = {name: value.removeprefix("\n") for name, value in self.fields.items()}

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attributes}
        self.tags.append(tag)
        self.headings += tag == "h1"
        assert not any(name.startswith("on") or name == "style" for name in given), given
        if tag == "textarea":
            self._area = given["name"]
            self.fields[self._area] = ""
        if tag == "button" and "name" in given:
            self.buttons.append((given["name"], given["value"]))
        if tag == "input" and given.get("type") == "radio":
            self.choices.append(given["value"])
        if tag == "input" and "name" in given and (given.get("type") != "radio" or "checked" in given):
            self.fields[given["name"]] = given.get("value", "")

    def handle_endtag(self, tag: str) -> None:
        if tag == "textarea":
            self._area = None

    def handle_data(self, data: str) -> None:
        self.text += data
        if self._area is not None:
            self.fields[self._area] += data


class Owner:
    """Somebody who answers in a browser, by forms as they came."""

    def __init__(self, visitor: Visitor) -> None:
        self.visitor = visitor

    def page(self, reply: httpx.Response) -> Page:
        page = Page(reply)
        assert page.headings == 1
        assert "script" not in page.tags
        assert CANARY not in reply.text
        return page

    def files(self) -> Page:
        return self.page(self.visitor.get("/data/new"))

    def begin(self, source: str) -> Page:
        return self.page(self.visitor.post("/data/new", {"action": "begin", "source": source}))

    def press(self, page: Page, action: str = "answer", **fields: str) -> Page:
        return self.page(self.visitor.post("/data/new", page.fields | {"action": action} | fields))

    def answer(self, page: Page, reply: str | None) -> Page:
        """Choose a reply, or type it; None takes what the page proposes."""
        if reply is None:
            return self.press(page)
        if reply in page.choices:
            return self.press(page, choice=reply, **({"reply": ""} if "reply" in page.fields else {}))
        return self.press(page, reply=reply, **({"choice": ""} if page.choices else {}))

    def walk(self, source: str, replies: dict[str, str], until: str = "") -> list[Page]:
        """All pages from the first step to the end, or to a step."""
        pages = [self.begin(source)]
        while pages[-1].fields.get("key", until) != until:
            pages.append(self.answer(pages[-1], replies.get(pages[-1].fields["key"])))
            assert pages[-1].status == 200, pages[-1].text
        return pages
