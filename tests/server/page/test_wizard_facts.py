"""What the wizard's page has of a step."""

from __future__ import annotations

from typing import Any

from dither.server.page.facts.wizard_facts import next_steps, reply_field, size_words


def step(choices: tuple[tuple[str, str], ...] = (), examples: tuple[str, ...] = (), default: str | None = None) -> Any:
    return {"choices": choices, "examples": examples, "default": default}


def test_how_a_reply_is_given():
    words = (("law", "a law"), ("release ...", "an answer"))
    found = reply_field(step(words), None)
    assert (found.choices, found.named, found.chosen, found.typed, found.is_open) == (words[:1], words[1:], None, "", True)
    assert (reply_field(step(words, default="law"), None).chosen, reply_field(step(words), "silly").typed) == (
        "law",
        "silly",
    )
    assert reply_field(step(words, default="law"), "silly").chosen == ""
    assert reply_field(step(words, default="law"), "").chosen == ""
    yes = reply_field(step(examples=("yes", "no"), default="yes"), None)
    assert (yes.choices, yes.chosen, yes.is_open, yes.examples) == ((("yes", ""), ("no", "")), "yes", False, ())
    assert reply_field(step(words, examples=("law", "x")), None).examples == ("law", "x")
    assert reply_field(step(examples=("yes", "no")), "maybe").is_open
    many = tuple((f"c{number}", "") for number in range(41))
    assert (reply_field(step(many), None).choices, reply_field(step(many), None).named) == ((), many)


def test_what_is_typed_next_is_quoted():
    assert next_steps("in coming/", "visits")["create"] == "dither ledger create --policy 'in coming/visits.toml' --write"
    assert next_steps("incoming", "Visits")["lines"] == '[datasets.visits]\npolicy = "incoming/Visits.toml"'
    assert next_steps("incoming", "Übersicht")["lines"].startswith("[datasets.new-data]")


def test_sizes_in_words():
    assert [size_words(size) for size in (0, 999, 1000, 1001, 999_001, 10**9, 10**16)] == [
        "0 B", "999 B", "1 kB", "2 kB", "1 MB", "1 GB", "10,000 TB",
    ]  # fmt: skip
