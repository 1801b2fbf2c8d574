"""The page about the floors is what the floors are, and names all state that a process keeps."""

from __future__ import annotations

import re

from tests.docs import architecture
from tests.test_layers import FLOORS, SOURCE

STATE = re.compile(r"register_at_fork|os\.environ|ContextVar\(|threading\.local|weakref\.WeakSet\(\)|mkdtemp")


def test_the_page_is_what_would_be_made():
    text = architecture.PAGE.read_text(encoding="utf-8")
    assert {found[1] for found in architecture.MARKED.findall(text)} == {"rooms", "places", "caches"}
    assert architecture.page(text) == text, f"make it anew: {architecture.COMMAND}"


def test_the_picture_is_what_would_be_drawn():
    drawn = architecture.PICTURE.read_text(encoding="utf-8")
    assert drawn == architecture.picture(FLOORS), f"draw it anew: {architecture.COMMAND}"


def test_a_room_that_moves_changes_the_page_and_the_picture():
    """Planted: two rooms that trade their floors."""
    moved = [*FLOORS[:2], *FLOORS[2:4][::-1], *FLOORS[4:]]
    assert architecture.rooms(moved) != architecture.rooms(FLOORS)
    assert architecture.picture(moved) != architecture.picture(FLOORS)


def test_names_stand_inside_their_boxes():
    """With letters that are 8 of 14 wide on average, as wide fonts have them."""
    drawn = architecture.picture(FLOORS)
    boxes = re.findall(r'<rect x="[\d.]+" .*? width="([\d.]+)".*/>\n<text .*?>(.*)</text>', drawn)
    assert len(boxes) == sum(map(len, FLOORS))
    for width, name in boxes:
        assert float(width) > 8 * len(name), name


def test_every_place_says_what_it_holds():
    for room in [room for floor in FLOORS for room in floor]:
        for place in [room, *(f"{room}/{sub}" for sub in architecture.inside(SOURCE / room))]:
            found = architecture.holds(place)
            assert len(found) > 12, place
            assert found[-1] in ".!?", f"{place}: its docstring begins with a sentence"


def test_all_state_of_a_process_is_on_the_page():
    section = architecture.PAGE.read_text(encoding="utf-8").partition("\n## State\n")[2].partition("\n## ")[0]
    for path in SOURCE.rglob("*.py"):
        if STATE.search(path.read_text()):
            assert f"`{path.relative_to(SOURCE).as_posix()}`" in section, path.relative_to(SOURCE)
