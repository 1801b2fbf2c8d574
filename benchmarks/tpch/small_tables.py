"""All eight tables of TPC-H, small and made up here: a hundred customers, so that tests know the schema without a generator.

Values lean towards the parameters of the queries, so that no answer is empty; the same rows on every machine.
"""

from __future__ import annotations

import datetime
import random
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow
import pyarrow.parquet

REGIONS = ("AFRICA", "AMERICA", "ASIA", "EUROPE", "MIDDLE EAST")
NATIONS = {
    **{"ALGERIA": 0, "ARGENTINA": 1, "BRAZIL": 1, "CANADA": 1, "EGYPT": 4, "ETHIOPIA": 0, "FRANCE": 3, "GERMANY": 3},
    **{"INDIA": 2, "INDONESIA": 2, "IRAN": 4, "IRAQ": 4, "JAPAN": 2, "JORDAN": 4, "KENYA": 0, "MOROCCO": 0},
    **{"MOZAMBIQUE": 0, "PERU": 1, "CHINA": 2, "ROMANIA": 3, "SAUDI ARABIA": 4, "VIETNAM": 2, "RUSSIA": 3},
    **{"UNITED KINGDOM": 3, "UNITED STATES": 1},
}
USED = ("FRANCE", "GERMANY", "BRAZIL", "CANADA", "INDIA", "CHINA", "SAUDI ARABIA", "UNITED STATES")  # of queries
SEGMENTS = ("AUTOMOBILE", "BUILDING", "FURNITURE", "HOUSEHOLD", "MACHINERY")
PRIORITIES = ("1-URGENT", "2-HIGH", "3-MEDIUM", "4-NOT SPECIFIED", "5-LOW")
MODES = ("AIR", "AIR REG", "FOB", "MAIL", "RAIL", "SHIP", "TRUCK")
INSTRUCTIONS = ("COLLECT COD", "DELIVER IN PERSON", "NONE", "TAKE BACK RETURN")
TYPES = (
    "ECONOMY ANODIZED STEEL",
    "STANDARD POLISHED BRASS",
    "PROMO BURNISHED COPPER",
    "MEDIUM POLISHED TIN",
    "SMALL PLATED BRASS",
)
BRANDS = ("Brand#12", "Brand#23", "Brand#34", "Brand#45")
CONTAINERS = {"Brand#12": "SM", "Brand#23": "MED", "Brand#34": "LG", "Brand#45": "JUMBO"}
COLOURS = ("green", "forest", "almond", "linen")
CUSTOMERS, SUPPLIERS, PARTS, ORDERS = 100, 16, 48, 700
START = datetime.date(1992, 1, 1)
TODAY = datetime.date(1995, 6, 17)  # of the specification: lines that were received later have no flag
Rows = list[dict[str, Any]]


def make(folder: Path) -> None:
    """Write the tables into a folder, as Parquet."""
    for name, rows in tables().items():
        pyarrow.parquet.write_table(pyarrow.Table.from_pylist(rows), folder / f"{name}.parquet")


def tables() -> dict[str, Rows]:
    """All rows."""
    draw = random.Random(22)
    found: dict[str, Rows] = {
        "region": [{"r_regionkey": key, "r_name": name} for key, name in enumerate(REGIONS)],
        "nation": [
            {"n_nationkey": key, "n_name": name, "n_regionkey": region} for key, (name, region) in enumerate(NATIONS.items())
        ],
        "part": [_part(draw, key) for key in range(1, PARTS + 1)],
        "supplier": [_supplier(draw, key) for key in range(1, SUPPLIERS + 1)],
        "customer": [_customer(draw, key) for key in range(1, CUSTOMERS + 1)],
    }
    found["partsupp"] = [
        {
            **{"ps_partkey": part["p_partkey"], "ps_suppkey": (part["p_partkey"] + 5 * place) % SUPPLIERS + 1},
            **{"ps_availqty": draw.randint(1, 9999), "ps_supplycost": _money(draw, 1, 1000)},
        }
        for part in found["part"]
        for place in range(4)
    ]
    found["orders"], found["lineitem"] = [], []
    for key in range(1, ORDERS + 1):
        lines = _lines(draw, key, found["part"], found["partsupp"])
        found["orders"].append(_order(draw, key, lines))
        found["lineitem"] += [{name: cell for name, cell in line.items() if name != "ordered"} for line in lines]
    return found


def _money(draw: random.Random, low: int, high: int) -> Decimal:
    return Decimal(draw.randint(100 * low, 100 * high)) / 100


def _nation(draw: random.Random) -> int:
    return list(NATIONS).index(draw.choice(USED if draw.random() < 0.8 else list(NATIONS)))


def _part(draw: random.Random, key: int) -> dict[str, Any]:
    brand = BRANDS[key % 4]
    boxes = ("CASE", "BOX", "PACK", "PKG")
    return {
        **{"p_partkey": key, "p_name": f"{COLOURS[key % 4 if key % 3 else 0]} {draw.choice(COLOURS)}"},
        **{"p_mfgr": f"Manufacturer#{key % 5 + 1}", "p_brand": brand, "p_type": TYPES[key % 5]},
        **{"p_size": draw.choice((15, 15, 3, 4, 9, 14, 49)), "p_container": f"{CONTAINERS[brand]} {boxes[key // 4 % 4]}"},
        **{"p_retailprice": Decimal(90_000 + key * 100) / 100},
    }


def _supplier(draw: random.Random, key: int) -> dict[str, Any]:
    nation = list(NATIONS).index(USED[key % len(USED)])
    complaint = "Customer slow Complaints" if key % 7 == 3 else "quick"
    return {
        **{"s_suppkey": key, "s_name": f"Supplier#{key:09d}", "s_address": f"{key} Quay", "s_nationkey": nation},
        **{"s_phone": f"{nation + 10}-555-{key:04d}", "s_acctbal": _money(draw, -999, 9999), "s_comment": complaint},
    }


def _customer(draw: random.Random, key: int) -> dict[str, Any]:
    nation = _nation(draw)
    return {
        **{"c_custkey": key, "c_name": f"Customer#{key:09d}", "c_address": f"{key} Road", "c_nationkey": nation},
        **{"c_phone": f"{draw.choice((nation + 10, 13, 31))}-555-{key:04d}", "c_acctbal": _money(draw, -999, 9999)},
        **{"c_mktsegment": draw.choice(SEGMENTS), "c_comment": "even" if key % 2 else "odd"},
    }


def _lines(draw: random.Random, order: int, parts: Rows, stock: Rows) -> Rows:
    ordered = START + datetime.timedelta(days=draw.randrange(2400))
    late = 0.5 if order % 3 else 0.1  # an order is late as a whole, or hardly
    found = []
    for number in range(1, draw.randint(1, 7) + 1):
        held = draw.choice(stock)
        quantity = draw.randint(1, 50)
        shipped = ordered + datetime.timedelta(days=draw.randint(1, 121))
        received = shipped + datetime.timedelta(days=draw.randint(1, 30))
        off = draw.randint(1, 20) * (-1 if draw.random() < late else 1)
        price = parts[held["ps_partkey"] - 1]["p_retailprice"]
        found.append(
            {
                **{"l_orderkey": order, "l_partkey": held["ps_partkey"], "l_suppkey": held["ps_suppkey"]},
                **{"l_linenumber": number, "l_quantity": Decimal(quantity), "l_extendedprice": price * quantity},
                **{"l_discount": Decimal(draw.randint(0, 10)) / 100, "l_tax": Decimal(draw.randint(0, 8)) / 100},
                **{"l_returnflag": draw.choice("AR") if received <= TODAY else "N"},
                **{"l_linestatus": "O" if shipped > TODAY else "F", "l_shipdate": shipped, "l_receiptdate": received},
                **{"l_commitdate": received + datetime.timedelta(days=off), "l_shipmode": draw.choice(MODES)},
                **{"l_shipinstruct": draw.choice(INSTRUCTIONS), "ordered": ordered},
            }
        )
    return found


def _order(draw: random.Random, key: int, lines: Rows) -> dict[str, Any]:
    statuses = {line["l_linestatus"] for line in lines}
    total = sum(line["l_extendedprice"] for line in lines)
    customer = draw.randint(1, CUSTOMERS // 3) * 3 + (1 if draw.random() < 0.5 else 0)  # a third of them never ordered
    return {
        **{"o_orderkey": key, "o_custkey": min(customer, CUSTOMERS), "o_orderdate": lines[0]["ordered"]},
        **{"o_orderstatus": statuses.pop() if len(statuses) == 1 else "P", "o_totalprice": total},
        **{"o_orderpriority": draw.choice(PRIORITIES), "o_shippriority": 0},
        **{"o_comment": "special kind requests" if draw.random() < 0.1 else "none"},
    }
