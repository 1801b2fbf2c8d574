"""Somebody who asks by the form of the page: what stands in it is read off the page and sent back, as a browser does."""

from __future__ import annotations

from html.parser import HTMLParser
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx

from dither.server.core.gateway import Gateway
from tests.server.gateways import caller, run
from tests.server.page.visitor import OURS, Visitor


class PageForm(HTMLParser):
    """The fields of the form `ask`, as a browser without script would send them; and all tags and texts of a page."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.fields: dict[str, str] = {}
        self.tags: list[tuple[str, dict[str, str]]] = []
        self.texts: list[str] = []
        self._inside = False
        self._area: str | None = None
        self._select: str | None = None
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attributes}
        self.tags.append((tag, given))
        self._inside = self._inside or (tag == "form" and given.get("id") == "ask")
        if not self._inside:
            return
        if tag == "input" and "name" in given and (given.get("type") != "radio" or "checked" in given):
            self.fields[given["name"]] = given.get("value", "")
        elif tag == "textarea":
            self._area = given["name"]
            self.fields[self._area] = ""
        elif tag == "select":
            self._select = given["name"]
        elif tag == "option" and self._select is not None and ("selected" in given or self._select not in self.fields):
            self.fields[self._select] = given["value"]

    def handle_endtag(self, tag: str) -> None:
        self._inside = self._inside and tag != "form"
        if tag == "textarea" and self._area is not None:
            self.fields[self._area] = self.fields[self._area].removeprefix("\n")
            self._area = None
        self._select = None if tag == "select" else self._select

    def handle_data(self, data: str) -> None:
        if self._area is not None:
            self.fields[self._area] += data
        else:
            self.texts.append(data)

    def attributes(self, tag: str, name: str) -> list[str]:
        """The values of an attribute, of all tags of a kind."""
        return [given[name] for each, given in self.tags if each == tag and name in given]

    @property
    def words(self) -> str:
        """All that people read."""
        return " ".join(" ".join(self.texts).split())


class Asker(Visitor):
    """Somebody who is logged in."""

    def __init__(self, gateway: Gateway, name: str = "ana", **token: Any) -> None:
        super().__init__(gateway)
        self.add(name, **token)
        self.name = name
        self.client.__enter__()  # one event loop for all requests: what is under way goes on between two of them
        self.enter(name)

    def leave(self) -> None:
        """End the loop."""
        self.client.__exit__(None, None, None)

    def form(self, address: str = "/ask") -> PageForm:
        """The page at an address."""
        reply = self.get(address)
        assert reply.headers["content-type"] == "text/html; charset=utf-8"
        return PageForm(reply.text)

    def send(self, action: str, form: PageForm | None = None, **typed: str) -> httpx.Response:
        """Send the form with what was typed, by one of its buttons."""
        fields = (self.form() if form is None else form).fields
        return self.post("/ask", {**fields, **typed, "action": action})

    def answered(self, reply: httpx.Response) -> str:
        """The receipt, or the id of the question, that a reply goes on to, once it is answered."""
        assert reply.status_code == 303, reply.text
        place = urlsplit(reply.headers["location"])
        assert (place.path, place.fragment) == ("/ask", "answer")
        found = parse_qs(place.query)
        if "answer" in found:
            return found["answer"][0]
        done = self.get(f"/v1/queries/{found['question'][0]}", headers={**OURS, "Prefer": "wait=30"})
        assert done.status_code == 200, done.text
        return done.headers.get("dither-receipt") or found["question"][0]

    def entries(self, dataset: str = "clinic") -> int:
        """How many entries the ledger has."""
        found: int = run(self.gateway.verify(caller(self.gateway, "olga", "owner"), dataset))["entries"]
        return found
