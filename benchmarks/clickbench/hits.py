"""Made-up hits of ClickBench's schema: the columns that its queries name, a few thousand rows of two hundred people."""

from __future__ import annotations

import datetime
import random

import pyarrow

START = datetime.datetime(2013, 7, 1)
MINUTES = 31 * 24 * 60
PEOPLE, HITS = 200, 4_000
PHRASES = ("", "", "weather", "maps", "train times", "lyrics", "recipes")
SITES = ("http://news.example/", "http://www.google.example/", "http://shop.example/cart", "")
TITLES = ("News", "Google maps", "Cart", "")
MODELS = ("", "", "A1", "B2", "C3")
HASHES = (2868770270353813622, 3594120000172545465, 17)


def make_hits() -> pyarrow.Table:
    """The same rows on every machine."""
    draw = random.Random(43)
    rows = []
    for number in range(HITS):
        user = draw.randrange(PEOPLE)
        at = START + datetime.timedelta(
            minutes=draw.randrange(MINUTES) if draw.random() < 0.7 else 18_720 + draw.randrange(90)
        )
        model = draw.choice(MODELS)
        rows.append(
            {
                **{"WatchID": 10**9 + number, "UserID": 7 * user + 1, "EventTime": at, "EventDate": at.date()},
                **{"CounterID": draw.choice((62, 62, 3, 17)), "RegionID": user % 7, "ClientIP": 100 + user // 5},
                **{"AdvEngineID": draw.choice((0, 0, 0, 2, 13)), "SearchEngineID": draw.choice((0, 0, 2, 3))},
                **{"TraficSourceID": draw.choice((-1, 0, 6)), "ResolutionWidth": draw.choice((1024, 1366, 1920))},
                **{"SearchPhrase": draw.choice(PHRASES), "MobilePhone": MODELS.index(model), "MobilePhoneModel": model},
                **{"URL": draw.choice(SITES), "Title": draw.choice(TITLES), "Referer": draw.choice(SITES)},
                **{"IsRefresh": int(draw.random() < 0.1), "DontCountHits": int(draw.random() < 0.1)},
                **{"IsLink": int(draw.random() < 0.3), "IsDownload": int(draw.random() < 0.1)},
                **{"URLHash": draw.choice(HASHES), "RefererHash": draw.choice(HASHES)},
                **{"WindowClientWidth": draw.choice((800, 1000)), "WindowClientHeight": draw.choice((600, 700))},
            }
        )
    return pyarrow.Table.from_pylist(rows)
