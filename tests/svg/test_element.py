"""Elements: what others wrote is escaped, and nothing but drawing is written."""

from __future__ import annotations

from fractions import Fraction
from xml.etree import ElementTree

import pytest

from dither.svg.element import Markup, element, fixed, joined

HOSTILE = [
    "</text><script>alert(1)</script>",
    '" onload="alert(1)',
    "' & <b> ]]> &amp; <!-- -->",
    "".join(map(chr, range(32))) + "\x7f\x85",
    "\u202eevil\u202c\u200f\u2066",
    "\ud800 lone \udfff",
    "\ufffe\uffff",
]


@pytest.mark.parametrize("value", HOSTILE)
def test_text_and_attributes_are_escaped(value):
    drawn = element("g", element("title", value), class_=value)
    read = ElementTree.fromstring(drawn.encode())  # also: it can be encoded, and a strict reader takes it
    (title,) = read
    kept = "".join(sign if sign.isprintable() else "\ufffd" for sign in value)
    assert (title.text, read.attrib) == (kept, {"class": kept})
    assert [one.tag for one in read.iter()] == ["g", "title"]


def test_markup_stays_and_text_does_not():
    inside = element("circle", r=1)
    assert element("g", inside, "<circle/>") == '<g><circle r="1"/>&lt;circle/&gt;</g>'
    assert isinstance(joined(inside, inside), Markup)
    assert not isinstance(inside + "<b>", Markup)  # text that was added is escaped later
    assert "<b>" not in element("g", inside + "<b>")


@pytest.mark.parametrize("tag", ["script", "style", "a", "image", "use", "foreignObject", "animate", "g onload"])
def test_other_elements_are_refused(tag):
    with pytest.raises(ValueError, match="no element that draws"):
        element(tag)


@pytest.mark.parametrize("name", ["style", "href", "id", "onload", "xlink:href", "filter", "mask", "x y"])
def test_other_attributes_are_refused(name):
    with pytest.raises(ValueError, match="no attributes that draw"):
        element("g", **{name: "1"})


def test_numbers_have_one_decimal_and_no_sign_of_zero():
    assert [fixed(one) for one in (1, 1.0, -0.04, 0.05, Fraction(1, 3), 1234567.25)] == [
        *("1", "1.0", "0.0", "0.1", "0.3", "1234567.2")
    ]
