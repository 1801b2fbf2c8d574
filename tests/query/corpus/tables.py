"""The tables of the corpus: a shop, a hospital, taxi trips and web clicks; a few hundred made-up rows of each."""

from __future__ import annotations

import datetime
import random
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import duckdb
import pyarrow
import pyarrow.parquet

import dither
from dither.privacy.guarantee.guarantee import Guarantee
from dither.query.policy.policy import VERSION, read_policy
from dither.query.sources.find_source import find_source

YEAR = ["2024-01-01", "2024-12-31"]
START = datetime.datetime(2024, 1, 1)
COUNTRIES, SEGMENTS = ["DE", "FR", "IT", "PL"], ["consumer", "business"]
CATEGORIES, STATUSES = ["books", "games", "music"], ["paid", "returned", "open"]
WARDS, SITES = ["cardiology", "maternity", "surgery"], ["north", "south"]
ZONES, BOROUGHS, PAYMENTS = ["Airport", "Center", "Harbor", "Park"], ["East", "West"], ["card", "cash"]
EVENTS, DEVICES = ["view", "cart", "buy"], ["phone", "desktop"]
Rows = dict[str, list[dict[str, Any]]]


def whole(*bounds: int, nullable: bool = False) -> dict[str, Any]:
    return {"type": "integer", "nullable": nullable} | ({"bounds": list(bounds)} if bounds else {})


def money(high: int, *, nullable: bool = False) -> dict[str, Any]:
    return {"type": "decimal", "bounds": [0, high], "step": "0.01", "nullable": nullable}


def text(keys: list[str] | None = None, *, nullable: bool = False) -> dict[str, Any]:
    return {"type": "text", "nullable": nullable} | ({} if keys is None else {"keys": keys})


DAY: dict[str, Any] = {"type": "date", "bounds": YEAR, "nullable": False}
TIME: dict[str, Any] = {"type": "timestamp", "bounds": YEAR, "nullable": False}
TRUTH: dict[str, Any] = {"type": "boolean", "nullable": False}
TABLES: dict[str, dict[str, dict[str, Any]]] = {
    "shop": {
        "customers": {
            **{"person": "id", "max_rows": 1},
            "columns": {"id": whole(), "country": text(COUNTRIES), "segment": text(SEGMENTS), "since": DAY}
            | {"born": whole(1930, 2010, nullable=True), "email": text(nullable=True)},
        },
        "orders": {
            **{"person": "customer_id", "max_rows": 20},
            "columns": {"id": whole(), "customer_id": whole(), "day": DAY, "status": text(STATUSES), "total": money(500)}
            | {"coupon": text(nullable=True)},
        },
        "items": {
            **{"owner": {"through": "orders", "on": {"child": "order_id", "parent": "id"}}, "max_rows": 80},
            "columns": {"order_id": whole(), "product_id": whole(), "quantity": whole(1, 5), "price": money(100)},
        },
        "products": {"public": True, "columns": {"id": whole(), "category": text(CATEGORIES), "list_price": money(100)}},
    },
    "hospital": {
        "visits": {
            **{"person": "patient", "max_rows": 20},
            "columns": {"patient": whole(), "day": DAY, "ward": text(WARDS), "age": whole(0, 100), "smokes": TRUTH}
            | {"cost": money(2000, nullable=True)},
        },
        "stays": {
            **{"person": "patient", "max_rows": 8},
            "columns": {"patient": whole(), "ward": text(WARDS), "admitted": DAY, "left_on": DAY, "nights": whole(0, 30)},
        },
        "wards": {"public": True, "columns": {"ward": text(WARDS), "site": text(SITES), "beds": whole(0, 100)}},
    },
    "taxi": {
        "trips": {
            **{"person": "rider", "max_rows": 30},
            "columns": {"rider": whole(), "pickup": TIME, "dropoff": TIME, "zone": text(ZONES), "payment": text(PAYMENTS)}
            | {"fare": money(100), "tip": money(50), "km": {"type": "float", "bounds": [0, 40], "nullable": False}}
            | {"passengers": whole(1, 6), "driver": text()},
        },
        "zones": {"public": True, "columns": {"zone": text(ZONES), "borough": text(BOROUGHS)}},
    },
    "web": {
        "clicks": {
            **{"person": "user_id", "max_rows": 40},
            "columns": {"user_id": whole(), "seen": TIME, "page": text(), "event": text(EVENTS), "device": text(DEVICES)}
            | {"ms": whole(0, 10000, nullable=True), "referrer": text(nullable=True)},
        },
    },
}


def rows() -> dict[str, Rows]:
    """All rows of all tables: the same on every machine."""
    draw = random.Random(150)
    return {"shop": _shop(draw), "hospital": _hospital(draw), "taxi": _taxi(draw), "web": _web(draw)}


def _day(draw: random.Random, last: int = 366) -> datetime.date:
    return START.date() + datetime.timedelta(days=draw.randrange(last))


def _time(draw: random.Random) -> datetime.datetime:
    return START + datetime.timedelta(seconds=draw.randrange(365 * 86_400))


def _cents(draw: random.Random, high: int) -> float:
    return draw.randrange(100 * high) / 100


def _shop(draw: random.Random) -> Rows:
    products = [{"id": at, "category": CATEGORIES[at % 3], "list_price": 5.0 + at} for at in range(12)]
    customers, orders, items = [], [], []
    for person in range(80):
        born = None if person % 11 == 0 else draw.randint(1940, 2006)
        customers.append(
            {"id": person, "country": draw.choice(COUNTRIES), "segment": draw.choice(SEGMENTS), "since": _day(draw, 180)}
            | {"born": born, "email": None if person % 4 == 0 else f"p{person}@example"}
        )
        for _ in range(draw.choice((0, 1, 2, 3, 6))):
            key = len(orders) + 1000
            lines = [(draw.randrange(12), draw.randint(1, 3)) for _ in range(draw.randint(1, 3))]
            items += [
                {"order_id": key, "product_id": at, "quantity": count, "price": products[at]["list_price"]}
                for at, count in lines
            ]
            total = sum(count * float(products[at]["list_price"]) for at, count in lines)
            status, coupon = draw.choice(STATUSES), draw.choice((None, "SPRING", "VIP"))
            orders.append({"id": key, "customer_id": person, "day": _day(draw), "status": status, "total": total})
            orders[-1]["coupon"] = coupon
    return {"customers": customers, "orders": orders, "items": items, "products": products}


def _hospital(draw: random.Random) -> Rows:
    visits, stays = [], []
    for person in range(90):
        age, smokes = draw.randint(1, 95), draw.random() < 0.3
        for _ in range(draw.choice((1, 2, 3, 5))):
            cost = None if draw.random() < 0.1 else _cents(draw, 2000)
            visits.append({"patient": person, "day": _day(draw), "ward": draw.choice(WARDS), "age": age, "smokes": smokes})
            visits[-1]["cost"] = cost
        for _ in range(draw.choice((0, 0, 1, 2))):
            first, nights = _day(draw, 330), draw.randint(0, 14)
            stays.append({"patient": person, "ward": draw.choice(WARDS), "admitted": first, "nights": nights})
            stays[-1]["left_on"] = first + datetime.timedelta(days=nights)
    wards = [{"ward": ward, "site": SITES[at % 2], "beds": 10 + 5 * at} for at, ward in enumerate(WARDS)]
    return {"visits": visits, "stays": stays, "wards": wards}


def _taxi(draw: random.Random) -> Rows:
    trips = []
    for person in range(70):
        for _ in range(draw.choice((1, 3, 6, 12))):
            pickup = _time(draw)
            minutes, fare = draw.randint(3, 59), 3 + _cents(draw, 60)
            trips.append(
                {"rider": person, "pickup": pickup, "dropoff": pickup + datetime.timedelta(minutes=minutes)}
                | {"zone": draw.choice(ZONES), "payment": draw.choice(PAYMENTS), "fare": fare, "tip": _cents(draw, 12)}
                | {"km": draw.randrange(1, 160) / 4, "passengers": draw.randint(1, 4), "driver": f"D{draw.randrange(9)}"}
            )
    return {"trips": trips, "zones": [{"zone": zone, "borough": BOROUGHS[at % 2]} for at, zone in enumerate(ZONES)]}


def _web(draw: random.Random) -> Rows:
    clicks = []
    for person in range(90):
        device = draw.choice(DEVICES)
        for _ in range(draw.choice((2, 4, 8, 16))):
            event = draw.choices(EVENTS, (6, 2, 1))[0]
            clicks.append(
                {"user_id": person, "seen": _time(draw), "page": draw.choice(("/", "/a", "/b", "/c")), "event": event}
                | {"device": device, "ms": None if draw.random() < 0.05 else draw.randrange(4000)}
                | {"referrer": draw.choice((None, "mail", "search"))}
            )
    return {"clicks": clicks}


def stated(table: dict[str, Any]) -> dict[str, Any]:
    """What a policy says of a table, everything that can be hard among it."""
    if table.get("public"):
        return table
    columns: Iterable[tuple[str, dict[str, Any]]] = table["columns"].items()
    hard = ["max_rows", *(["owner"] if "owner" in table else [])]
    for name, facts in columns:
        hard += [f"bounds.{name}"] if "bounds" in facts else []
        hard += [f"steps.{name}"] if "step" in facts else []
    return {**table, "hard": hard}


def datasets(folder: Path, budget: Guarantee) -> dict[str, dither.Dataset]:
    """The four datasets, each with a ledger of its own."""
    found, made = {}, rows()
    for world, tables in TABLES.items():
        place = folder / world
        place.mkdir(exist_ok=True)
        for name in tables:
            pyarrow.parquet.write_table(pyarrow.Table.from_pylist(made[world][name]), place / f"{name}.parquet")
        facts = {"version": VERSION, "domain": world, "unit": budget.unit.value}
        policy = read_policy({**facts, "tables": {name: stated(table) for name, table in tables.items()}})
        ledger = dither.Ledger.create(place / f"{world}.ledger", budget=budget)
        ledger.bind(policy.domain, policy.hash)
        sources = {name: find_source(str(place / f"{name}.parquet"), place, name) for name in tables}
        found[world] = dither.Dataset(policy, ledger, sources)
    return found


def plain() -> dict[str, duckdb.DuckDBPyConnection]:
    """Plain engines with the same tables."""
    found = {}
    for world, tables in rows().items():
        found[world] = duckdb.connect()
        for name, cells in tables.items():
            found[world].register(name, pyarrow.Table.from_pylist(cells))
    return found
