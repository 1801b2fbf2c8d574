"""Bodies of requests: JSON that is read strictly, and numbers as they were written.

JSON leaves much open, and two readers that differ are a hole: here a name stands once in an object, NaN and infinities are
no numbers, text is UTF-8, and a number keeps its digits: 0.1 is one tenth and not the nearest binary fraction. The size of
a body is bounded by the middleware while it comes, so nothing here takes longer than a body of that size can.
"""

from __future__ import annotations

import json
import re
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, TypeVar

from dither.extras import needs
from dither.server.core.problems import Problem
from dither.server.http.refusals import BODY, refused, wrong_type

with needs("dither[server]"):
    from pydantic import BaseModel, ValidationError
    from starlette.requests import Request

DEPTH = 16  # of lists and objects in each other; ours have 3
JSON_TYPE = re.compile(r'application/json(?:\s*;\s*charset="?utf-8"?)?', re.IGNORECASE)
# A text of JSON, or a bracket. A text without an end goes to the end, so that no sign is looked at twice.
PART = re.compile(r'"(?:[^"\\]|\\.)*+(?:"|\\?\Z)|[\[\]{}]', re.DOTALL)
WORDS = {  # of a wrong place, by the code of the check that found it
    "missing": ("it is needed", "a value for it"),
    "extra_forbidden": ("nothing of that name is known here", "the names in /openapi.json"),
    "string_type": ("it is no text", "a text in quotes"),
    "string_too_long": ("it is too long", "a shorter text"),
    "string_too_short": ("it is empty", "a text"),
    "bool_type": ("it is neither true nor false", "true or false"),
    "list_type": ("it is no list", "a list"),
    "too_long": ("it has too many items", "fewer"),
    "too_short": ("it is empty", "at least one"),
    "dict_type": ("it is no object", 'an object such as {"n": 20}'),
    "model_type": ("it is no object", BODY),
    "literal_error": ("there is no such word", "one of those in /openapi.json"),
    "number": ("it is no number", "a number, or one as text, which is exact: 0.5, '1/3', 'ln(3)'"),
    "whole": ("it is no whole number within the range", "a whole number such as 100"),
    "seconds": ("it is no time", "seconds, from 0 to 86400"),
    "int_parsing": ("it is no whole number", "a whole number such as 100"),
    "greater_than_equal": ("it is below the range", "a larger number"),
    "less_than_equal": ("it is above the range", "a smaller number"),
}
OWN = "Value error, "
OTHER = ("it is not what stands in this place", "what /openapi.json says of it")


@dataclass(frozen=True)
class Written:
    """A number of JSON, as it was written."""

    text: str


class _DoubleNameError(ValueError):
    """A name that stands twice in an object."""


def read_json(data: bytes) -> Any:
    """The value of a JSON text; numbers are `Written`.

    Args:
        data: of a bounded length.

    Raises:
        Problem: it is not JSON in UTF-8, a name stands twice in an object, or it is nested too deeply.
    """
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        raise refused("body", "it is not UTF-8", BODY) from None
    if _depth(text) > DEPTH:
        raise refused("body", f"it is nested more than {DEPTH} deep", BODY)
    try:
        return json.loads(text, object_pairs_hook=_object, parse_int=Written, parse_float=Written, parse_constant=_no_number)
    except _DoubleNameError:
        raise refused("body", "a name stands twice in one object", BODY) from None
    except (ValueError, RecursionError):
        raise refused("body", "it is not JSON", BODY) from None


def _depth(text: str) -> int:
    """How deep brackets are in each other, outside texts."""
    deepest = depth = 0
    for found in PART.finditer(text):
        depth += (found[0] in "[{") - (found[0] in "]}")
        deepest = max(deepest, depth)
    return deepest


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) != len(pairs):
        raise _DoubleNameError
    return made


def _no_number(name: str) -> Any:
    raise ValueError(name)


Model = TypeVar("Model", bound=BaseModel)


def read_as(model: type[Model], found: Any) -> Model:
    """A value of JSON as a request of that kind.

    Args:
        model: what the request holds.
        found: what `read_json` gave.

    Raises:
        Problem: a part is missing, not known, or of another kind; `where` is its place.
    """
    try:
        return model.model_validate(found, strict=True)
    except ValidationError as error:
        errors = error.errors(include_url=False, include_context=False, include_input=False)
        raise validation_problem(errors, known=model.model_fields) from None


def validation_problem(errors: Any, start: tuple[str, ...] = (), known: Iterable[str] = ()) -> Problem:
    """What is wrong with the first place, in words of ours; `start` is left out of its name, `known` are names there are."""
    first = errors[0]
    place = tuple(str(part) for part in first["loc"])
    place = place[len(start) :] if place[: len(start)] == start else place
    own = first["type"] == "value_error"  # of a reader of ours, which says one of the codes
    why, instead = WORDS.get(first["msg"].removeprefix(OWN) if own else first["type"], OTHER)
    if first["type"] == "extra_forbidden" and len(place) == 1:
        names = list(known)
        instead = ", ".join(get_close_matches(place[0][:100], names, n=1) or names) or instead
    where = ".".join(part for part in place if not part.startswith(("function-", "str", "list[", "constrained-")))
    return refused(where[:100] or "body", why, instead)


def body_of(model: type[Model]) -> Callable[[Request], Awaitable[Model]]:
    """What reads the body of a request as a model, for `Depends`."""

    async def read(request: Request) -> Model:
        kind = ",".join(request.headers.getlist("content-type"))
        coding = ",".join(request.headers.getlist("content-encoding")).strip().lower()
        if not JSON_TYPE.fullmatch(kind.strip()) or coding not in ("", "identity"):
            raise wrong_type()
        return read_as(model, read_json(await request.body()))

    return read
