"""Made-up rows in a folder: what is written is read back, under a policy that declares the same and says what it is."""

from __future__ import annotations

import csv
import tomllib
from dataclasses import replace

import pyarrow.parquet
import pytest

import dither
from dither.errors import ConflictError, DataError, PolicyError
from dither.query.owner.inspect import inspect
from dither.query.policy.chains import parents
from dither.query.policy.policy import MADE_UP, load_policy, read_policy
from dither.query.sample.sample_folder import policy_text, write_sample
from dither.query.sample.sample_policy import sample_domain, sample_policy
from dither.query.sample.sample_rows import sample_rows
from dither.query.sources.find_source import find_source
from tests.query.sample.policies import ODD, POLICIES, TEXTS

FORMATS = """\
version = 1
domain = "formats"

[tables.t]
source = "nowhere.txt"
separator = ";"
encoding = "windows-1252"
quote = "'"
header = ["id", "left out", "a", "b", "c", "d", "e", "f", "g"]
decimal = ","
thousands = "."
null = ["k.A."]
person = "id"
max_rows = 3

[tables.t.columns]
id = { type = "integer" }
a = { type = "text", keys = ["it's", "a;b", "\\u4e2d", "k.A."] }
b = { type = "date", format = "D.M.YYYY", bounds = ["0999-01-01", "2024-12-31"] }
c = { type = "timestamp", format = "DD/MM/YYYY h:mm:ss.f" }
d = { type = "boolean", true = ["ja", "j"], false = ["nein"] }
e = { type = "decimal", bounds = [-20000, 20000], step = "0.01" }
f = { type = "float", bounds = [0, "1e-6"] }
g = { type = "float", bounds = [0, "1e20"], decimal = "." , thousands = "," }
"""
SECRETS = """\
# a remark of the owner's
version = 1
domain = "clinic"

[ledger]
location = "elsewhere.ledger"
witness = "elsewhere.heads"
budget = { epsilon = "1" }
shares = { ana = { epsilon = "0.5" } }

[engine]
time_limit = "30min"

[tables.visits]
source = "CANARY.parquet"
person = "who"
max_rows = 2

[tables.visits.columns]
who = { type = "integer" }
town = { type = "text" }
cost = { type = "integer", bounds = [0, 4000] }
"""
NO_QUOTES = FORMATS.replace('quote = "\'"', 'quote = ""').replace("windows-1252", "utf-16")


def written(tmp_path, text, **how):
    """The policies before and after, the folder, and its files."""
    (tmp_path / "policy.toml").write_text(text, encoding="utf-8")
    files = write_sample(tmp_path / "policy.toml", tmp_path / "out", 60, **how)
    return load_policy(tmp_path / "policy.toml"), load_policy(tmp_path / "out" / "policy.toml"), files


@pytest.mark.parametrize("name", ["demo", "hospital", "shop", "golden rho", "postgres 0", *ODD])
def test_a_folder_declares_the_same_and_says_what_it_is(tmp_path, name):
    text = TEXTS.get(name) or policy_text(ODD[name])
    policy, own, files = written(tmp_path, text)
    assert own.hash == sample_policy(policy, "").hash, "nothing that bears on answers was lost"
    assert own.domain == sample_domain(policy.domain)
    assert (tmp_path / "out" / "policy.toml").read_text(encoding="utf-8").startswith("# MADE-UP ROWS.")
    rows = sample_rows(policy, 60)
    for table, file in files.items():
        assert file.name.startswith("sample_")
        assert file.parent == tmp_path / "out"
        stored = pyarrow.parquet.read_table(file)
        assert stored.equals(rows[table])
        assert stored.schema.metadata[b"dither"] == MADE_UP.encode()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out", "policy.toml"]


@pytest.mark.parametrize("kind", ["parquet", "csv"])
def test_a_folder_can_be_asked(tmp_path, kind):
    _, own, files = written(tmp_path, TEXTS["hospital"], csv=kind == "csv")
    assert files["visits"].name == f"sample_visits.{kind}"
    clinic = dither.open(tmp_path / "out" / "policy.toml")
    with clinic.ledger:
        answer = clinic.quote('SELECT "Station", COUNT(*) AS n FROM visits GROUP BY "Station"', epsilon="0.2").release()
        assert answer.says.startswith(MADE_UP)
        assert answer["Station"] == ["Nord", "Süd"]
        assert clinic.ledger.domain == own.domain == "sample of hospital"


@pytest.mark.parametrize("text", [FORMATS, NO_QUOTES, TEXTS["hospital"], TEXTS["golden rho"]], ids=range(4))
def test_csv_is_written_as_the_policy_says(tmp_path, text):
    policy, own, files = written(tmp_path, text, csv=True)
    assert own.hash == replace(policy, domain=sample_domain(policy.domain), made_up=True).hash
    for table in own.tables:
        assert table.source == files[table.name].name
        source = find_source(table.source, tmp_path / "out", "source", table.dialect)
        source.check(table)
        above = [
            (one, find_source(one.source, tmp_path / "out", "source", one.dialect)) for one in parents(table, own.tables)
        ]
        rows, report = sample_rows(policy, 60)[table.name], inspect(table, source, above)
        assert report.rows == rows.num_rows
        for column in report.columns:
            assert (column.unreadable, column.clamped, column.undeclared, column.long) == (0, 0, 0, 0), column.name
            lost = {"a": {"k.A.", "\u4e2d" if table.dialect and table.dialect.encoding != "utf-16" else "a;b"}}
            gone = [cell for cell in rows[column.name].to_pylist() if cell is None or cell in lost.get(column.name, ())]
            assert column.missing == len(gone), column.name


def test_formats_of_cells(tmp_path):
    _, _, files = written(tmp_path, FORMATS, csv=True)
    rows = sample_rows(read_policy(tomllib.loads(FORMATS)), 60)["t"].to_pylist()
    lines = files["t"].read_bytes().decode("cp1252").splitlines()
    assert len(lines) == 60  # no header line
    cells = dict(
        zip(
            ["id", "skip", "a", "b", "c", "d", "e", "f", "g"],
            next(csv.reader(lines, delimiter=";", quotechar="'")),
            strict=True,
        )
    )
    first = rows[0]
    assert cells["id"] == str(first["id"])
    assert cells["skip"] == ""
    assert cells["b"] == f"{first['b'].day}.{first['b'].month}.{first['b'].year:04}"
    assert cells["c"] == first["c"].strftime("%d/%m/%Y ") + f"{first['c'].hour}" + first["c"].strftime(":%M:%S.%f")
    assert cells["d"] == ("ja" if first["d"] else "nein")
    assert cells["e"] == str(first["e"]).replace(".", ",")
    assert "e" not in cells["f"] + cells["g"]


def test_the_folder_is_the_same_whatever_the_data_is(tmp_path):
    """Neighbouring data, and none at all: the same bytes but for the ledger, and nothing of the data or of where it is."""
    canary, found = "Zaphod 4711", []
    for name, people in (("one", [1, 2, 2]), ("other", [1, 2]), ("none", None)):
        folder = tmp_path / name
        folder.mkdir()
        (folder / "policy.toml").write_text(SECRETS.replace("CANARY", canary))
        if people is not None:
            data = {"who": people, "town": [canary] * len(people), "cost": [4711] * len(people)}
            pyarrow.parquet.write_table(pyarrow.table(data), folder / f"{canary}.parquet")
        files = write_sample(folder / "policy.toml", folder / "out", 50)
        policy = (folder / "out" / "policy.toml").read_text()
        identity = load_policy(folder / "out" / "policy.toml").ledger.identity
        found.append([policy.replace(identity, ""), *(file.read_bytes() for file in files.values())])
        assert canary not in policy
        assert all(word not in policy for word in ("elsewhere", "ana", "30min", "a remark"))
    assert found[0] == found[1] == found[2]


# -- refusals ------------------------------------------------------------------------------------------------------------


def test_what_is_there_already_stays(tmp_path):
    policy, out = tmp_path / "policy.toml", tmp_path / "out"
    policy.write_text(TEXTS["demo"])
    out.mkdir()
    write_sample(policy, out, 5)  # an empty folder will do
    before = {path.name: path.read_bytes() for path in out.iterdir()}
    with pytest.raises(ConflictError, match="something in it already"):
        write_sample(policy, out, 6)
    assert {path.name: path.read_bytes() for path in out.iterdir()} == before


def test_places_that_cannot_be_written_or_read_are_refused(tmp_path):
    policy = tmp_path / "policy.toml"
    policy.write_text(TEXTS["demo"])
    with pytest.raises(DataError, match="cannot be written"):
        write_sample(policy, policy / "below a file")
    with pytest.raises(DataError, match="pattern"):
        write_sample(policy, tmp_path / "a*")
    with pytest.raises(PolicyError, match="cannot be read"):
        write_sample(tmp_path / "nowhere.toml", tmp_path / "out")
    assert [path.name for path in tmp_path.iterdir()] == ["policy.toml"]


def test_two_folders_have_two_ledgers(tmp_path):
    policy = tmp_path / "policy.toml"
    policy.write_text(TEXTS["demo"])
    for out in ("one", "two"):
        write_sample(policy, tmp_path / out, 5)
    identities = {load_policy(tmp_path / out / "policy.toml").ledger.identity for out in ("one", "two")}
    assert len(identities) == 2
    assert None not in identities


def test_who_takes_the_mark_out_has_another_policy(tmp_path):
    _, own, _ = written(tmp_path, TEXTS["demo"])
    file = tmp_path / "out" / "policy.toml"
    with dither.open(file).ledger as ledger:
        ledger.reserve(dither.pure("0.1"), "anything")
    file.write_text(file.read_text().replace("made_up = true\n", ""))
    assert load_policy(file).hash != own.hash
    with pytest.raises(ConflictError, match="policy"):
        dither.open(file)


def test_made_up_is_true_or_false():
    with pytest.raises(PolicyError, match="made_up"):
        read_policy(ODD["each row"] | {"made_up": "yes"})
    assert read_policy(ODD["each row"] | {"made_up": False}).hash == POLICIES["odd: each row"].hash
