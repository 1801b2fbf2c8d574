"""A policy draft from SmartNoise's metadata (YAML). What has no counterpart here is told in a comment; nothing is guessed.

private_id, row_privacy    the person; 'each row'
max_ids                    at most so many rows of one person count: max_groups = max_ids, of one row each. Under `weights`
                           this is the same limit; other ways of bounding also limit how many of them are in one group
type, lower, upper         type and bounds
nullable                   nullable
"""

from __future__ import annotations

import json
from math import isfinite
from pathlib import Path
from typing import Any

from dither.errors import PolicyError
from dither.extras import needs
from dither.query.owner.draft import ORIGIN, column_advice
from dither.query.policy.column import Type, read_column
from dither.query.policy.policy import MARK
from dither.query.policy.table import EACH_ROW, MOST, NAME_LENGTH

LARGEST = 10**6  # characters of a file
TYPES = {
    "int": Type.INTEGER,
    "float": Type.FLOAT,
    "string": Type.TEXT,
    "boolean": Type.BOOLEAN,
    "datetime": Type.TIMESTAMP,
}
EXAMPLE = '"": {MySchema: {MyTable: {max_ids: 1, pid: {type: int, private_id: true}, age: {type: int}}}}'
UNKNOWN = "not known here, and left out"
TABLE_FACTS = {  # of a table, and what becomes of them here; the first three are read
    "max_ids": "",
    "max_contrib": "",
    "row_privacy": "",
    "rows": "a policy does not say how many rows there are; size= of a quote is a public guess",
    "sample_max_ids": "limits of a person are always enforced here",
    "censor_dims": "groups are declared as keys, or chosen by a private release, which shows no rare ones",
    "clamp_counts": "counts are shown as they come, with their error; a negative one is noise",
    "clamp_columns": "values are always clamped to their bounds here",
    "use_dpsu": "groups are declared as keys, or chosen by a private release",
}
COLUMN_FACTS = {  # likewise
    **{"type": "", "lower": "", "upper": "", "private_id": "", "nullable": ""},
    "missing_value": "what stands for a missing value must be NULL in the data",
    "sensitivity": "how far a person can move a sum follows from bounds and limits",
    "cardinality": "groups are declared as keys, or chosen by a private release",
}


def import_smartnoise(path: Path) -> str:
    """TOML for a policy, which `dither policy check` refuses until every mark is gone."""
    tables = _tables(_read(path))
    lines = [
        f"# Drafted from SmartNoise's metadata in {json.dumps(path.name, ensure_ascii=False)}; no data was read.",
        f"# Decide every line that says {MARK}, then run: dither policy check THIS-FILE",
        "version = 1",
        f'domain = "{MARK}: one name for all tables that share a person, such as clinic"',
        'unit = "add/remove one person"',
        'data_version = ""  # change it when the data changes: stored answers are about one version',
        "",
        "[ledger]",
        f'location = "{MARK}: such as clinic.ledger"',
        f'budget = {{ epsilon = "{MARK}: such as 3", delta = "1e-6" }}  # all that may ever be spent',
        "",
        "[limits]",
        f'per_question = {{ epsilon = "{MARK}: such as 1", delta = "1e-6" }}  # the most for one question',
    ]
    for name, (place, facts) in tables.items():
        lines += ["", *_table(name, place, facts)]
    return "\n".join(lines) + "\n"


def _read(path: Path) -> Any:
    """The file as nested facts; each said once, and none by reference."""
    with needs("dither[yaml]"):
        import yaml

    class Loader(yaml.SafeLoader):
        def compose_node(self, parent: Any, index: Any) -> Any:
            if self.check_event(yaml.AliasEvent):
                raise yaml.YAMLError("a reference (*) to another place")
            return super().compose_node(parent, index)

        def construct_mapping(self, node: Any, deep: bool = False) -> Any:
            names = [self.construct_object(key, deep=True) for key, _ in node.value]
            for name in names:
                if names.count(name) > 1:
                    raise yaml.YAMLError(f"{name!r} is stated twice")
            return super().construct_mapping(node, deep=deep)

    try:
        text = path.read_text(encoding="utf-8")
        if len(text) > LARGEST:
            raise PolicyError("metadata", str(path), f"it is longer than {LARGEST} characters", "fewer tables at once")
        return yaml.load(text, Loader)  # noqa: S506 - a SafeLoader
    except OSError as error:
        why = f"it cannot be read: {error.strerror}"
        raise PolicyError("metadata", str(path), why, "a file such as PUMS.yaml") from error
    except (yaml.YAMLError, UnicodeDecodeError, RecursionError, ValueError, TypeError) as error:
        why = f"it is not YAML as SmartNoise writes it: {' '.join(str(error).split())[:200]}"
        raise PolicyError("metadata", str(path), why, EXAMPLE) from None


def _tables(stated: Any) -> dict[str, tuple[str, dict[str, Any]]]:
    """By name: where a table stands, and what is said of it."""
    found: dict[str, tuple[str, dict[str, Any]]] = {}
    for database, schemas in _mapping(stated, "metadata").items():
        for schema, tables in _mapping(schemas, f"database {database!r}").items():
            for name, facts in _mapping(tables, f"schema {schema!r}").items():
                if _name(name, "table").lower() in [other.lower() for other in found]:
                    why = "two schemas have a table of that name, and a policy knows tables by their name alone"
                    raise PolicyError("metadata", name, why, "the metadata of one of them")
                found[name] = (f"{schema}.{name}", _mapping(facts, f"table {name!r}"))
    if not found:
        raise PolicyError("metadata", stated, "it describes no table", EXAMPLE)
    return found


def _table(name: str, place: str, facts: dict[str, Any]) -> list[str]:
    columns = {column: _mapping(part, f"{place}.{column}") for column, part in facts.items() if isinstance(part, dict)}
    told = []
    for fact, value in facts.items():
        if fact in columns:
            continue
        why = TABLE_FACTS.get(_name(fact, place), UNKNOWN)
        told += [f"# {fact}: {_shown(value)}: {why}"] if why else []
    if not columns:
        raise PolicyError(place, sorted(map(str, facts)), "it has no columns", EXAMPLE)
    quoted = json.dumps(name, ensure_ascii=False)
    source = f'source = "{MARK}: a .parquet, .csv or .duckdb file"'
    lines = [f"[tables.{quoted}]  # {_shown(place)}", *told, source, *_person(place, facts, columns)]
    lines += ["", f"[tables.{quoted}.columns]"]
    for column, part in columns.items():
        lines += _column(_name(column, place), part, f"{place}.{column}")
    return lines


def _person(place: str, facts: dict[str, Any], columns: dict[str, dict[str, Any]]) -> list[str]:
    ids = [column for column, part in columns.items() if _truth(part, "private_id", f"{place}.{column}")]
    if len(ids) > 1:
        raise PolicyError(place, ids, "more than one column says whose a row is", "private_id: true at one of them")
    if _truth(facts, "row_privacy", place):
        also = f", although {_shown(ids[0])} is a private_id: name it here if a person can have two rows" if ids else ""
        return [f'person = "{EACH_ROW}"  # row_privacy: true{also}']
    limits = [fact for fact in ("max_ids", "max_contrib") if fact in facts]
    most = facts[limits[0]] if limits else 1
    if type(most) is not int or not 1 <= most <= MOST or (len(limits) == 2 and facts["max_contrib"] != most):
        raise PolicyError(f"{place}.max_ids", most, f"it must be one whole number from 1 to {MOST}", "max_ids: 1")
    said = f"{limits[0]}: {most}" if limits else "max_ids is not stated, and SmartNoise takes 1 then"
    return [
        f"person = {json.dumps(ids[0], ensure_ascii=False)}"
        if ids
        else f'person = "{MARK}: the column that says whose a row is, or: {EACH_ROW}"  # there is no private_id',
        f"max_groups = {most}  # {said}: so many rows of one person count",
        "max_rows_per_group = 1  # each in a group of its own; more, if a person's rows are often in one group",
    ]


def _column(name: str, facts: dict[str, Any], place: str) -> list[str]:
    told = []
    for fact, value in facts.items():
        why = COLUMN_FACTS.get(_name(fact, place), UNKNOWN)
        told += [f"# {name}, {fact}: {_shown(value)}: {why}"] if why else []
    stated = facts.get("type")
    if stated == "unknown":
        return [*told, f"# {_shown(name)}: its type is unknown, so it is left out"]
    if not isinstance(stated, str) or stated not in TYPES:
        raise PolicyError(f"{place}.type", stated, "it names no type", f"{', '.join(TYPES)} or unknown")
    kind = TYPES[stated]
    written, advice = [f'type = "{kind.value}"'], ""
    stated_ends = {end: facts[end] for end in ("lower", "upper") if facts.get(end) is not None}
    ends = [_number(value, f"{place}.{end}") for end, value in stated_ends.items()] if kind.is_number else []
    if len(ends) == 2:
        written.append(f"bounds = [{ends[0]!r}, {ends[1]!r}]")
        advice = f"  # beside the bounds: {ORIGIN}"
    elif stated_ends:
        told.append(f"# {name}: {_shown(stated_ends)}: bounds here are two, and of numbers")
    elif kind.is_number and not facts.get("private_id"):
        advice = column_advice(kind)
    if kind is Type.TEXT:
        advice = column_advice(kind)
    if kind is Type.TIMESTAMP:
        advice = '  # or "date", if it has no time of day'
    if "nullable" in facts and not _truth(facts, "nullable", place):
        written.append("nullable = false")
    read = {"type": kind.value} | ({"bounds": ends} if len(ends) == 2 else {})
    read_column(name, read, place)  # what a policy would refuse is refused now, with its place in the metadata
    return [*told, f"{json.dumps(name, ensure_ascii=False)} = {{ {', '.join(written)} }}{advice}"]


def _mapping(stated: Any, where: str) -> dict[Any, Any]:
    if not isinstance(stated, dict):
        raise PolicyError(where, stated, "it is not a mapping of names", EXAMPLE)
    return stated


def _name(stated: Any, where: str) -> str:
    if not isinstance(stated, str) or not 0 < len(stated) <= NAME_LENGTH or not stated.isprintable():
        why = f"a name is a text of 1 to {NAME_LENGTH} printable characters, and YAML takes yes, no and 1 for no texts"
        raise PolicyError(where, stated, why, "the name in quotes")
    return stated


def _truth(facts: dict[str, Any], name: str, place: str) -> bool:
    stated = facts.get(name, False)
    if not isinstance(stated, bool):
        raise PolicyError(f"{place}.{name}", stated, "it is not a truth value", "true or false")
    return stated


def _number(stated: Any, where: str) -> int | float:
    if isinstance(stated, bool) or not isinstance(stated, (int, float)) or not isfinite(stated):
        raise PolicyError(where, stated, "it is not a number", "0")
    return stated


def _shown(value: Any) -> str:
    """A value in a comment: on one line, whatever it is."""
    text = json.dumps(value, ensure_ascii=False, default=str)[:80]
    return "".join(sign if sign.isprintable() else "?" for sign in text)
