"""A clinic asked as analysts ask: a join, a median by ward, groups that nobody listed, and many ranges at one price."""

import tempfile
from pathlib import Path

import pyarrow.parquet

import dither
from dither import demo

folder = Path(tempfile.mkdtemp())
demo.save(folder)  # the made-up clinic of `dither demo --save`
visits = pyarrow.parquet.read_table(folder / "visits.parquet")

# Which site a ward belongs to is no secret: a public table, which any visit may be joined with.
wards = pyarrow.table({"ward": demo.WARDS, "site": ["north", "south", "north", "south", "north"]})
clinic = dither.protect(
    visits,
    name="visits",
    person="patient_id",
    max_groups=3,
    max_rows_per_group=2,
    bounds={"cost": (0, 2000)},
    keys={"ward": demo.WARDS, "wards.site": ["north", "south"]},
    public={"wards": wards},
    ledger=dither.Ledger.create(folder / "all.ledger", budget=dither.approx(3, "1e-6")),
)

# A join: every row of it still belongs to one patient.
by_site = "SELECT site, COUNT(*) AS n, AVG(cost) AS cost FROM visits JOIN wards ON visits.ward = wards.ward GROUP BY site"
print(clinic.quote(by_site, epsilon="0.3").release(), "\n")

# A median, with an interval of values that holds the true one.
middle = "SELECT ward, MEDIAN(cost) AS half FROM visits GROUP BY ward"
print(clinic.quote(middle, epsilon="0.5").release(), "\n")

# Ages have no keys and no bounds here: those that enough patients have are shown, all others are one row more.
by_age = "SELECT age, COUNT(*) AS n FROM visits WHERE ward = 'surgery' GROUP BY age"
ages = clinic.quote(by_age, epsilon="0.5", other="other ages").release()
print(f"{len(ages) - 1} ages of surgery may be shown, all others have {ages['n'][-1]:,} visits\n")

# Many ranges as one batch: one price, answers that agree, and far less noise than one by one.
cuts = range(0, 101, 10)
ranges = [
    f"SELECT COUNT(*) AS n FROM visits WHERE age >= {low} AND age < {high}"  # noqa: S608
    for low in cuts
    for high in cuts
    if low < high
]
batch = clinic.quote(ranges, epsilon="0.5")
gain = batch.gains[0]
print(f"{len(batch)} ranges: error bars of {gain.together:,.0f} together, {gain.apart:,.0f} one by one")
answers = batch.release()
middle_aged = answers[ranges.index("SELECT COUNT(*) AS n FROM visits WHERE age >= 30 AND age < 50")]
print(f"visits of people from 30 to 49: {middle_aged.scalar():,}")
print(clinic.ledger.remaining())
