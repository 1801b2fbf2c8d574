"""A frame of wages, protected: what a question costs, a wished error, refusals, and a budget that ends."""

import numpy as np
import pyarrow

import dither
from dither.errors import BudgetError, QuestionError

rng = np.random.default_rng(1)  # made-up people; noise never has a seed
people = 20_000
wages = pyarrow.table(
    {
        "region": rng.choice(["north", "south", "west"], people),
        "wage": rng.lognormal(7.8, 0.4, people).round(2),
    }
)
data = dither.protect(
    wages,
    name="wages",
    person="each row",
    bounds={"wage": (0, 10_000)},
    steps={"wage": "0.01"},
    keys={"region": ["east", "north", "south", "west"]},
    complete=["wage"],
    ledger=dither.Ledger.create("wages.ledger", budget=dither.pure(1)),
)
average = "SELECT region, COUNT(*) AS n, AVG(wage) AS wage FROM wages GROUP BY region ORDER BY wage DESC"
quote = data.quote(average, epsilon="0.5", size=6000)
errors = {name: round(error, 1) for name, error in quote.errors.items() if error is not None}
print(errors, "with 95% probability, for", quote.price)
print(quote.release())

wished = data.quote("SELECT COUNT(*) AS n FROM wages WHERE wage > 5000", error={"n": 10})
print(f"\nan error of 10 costs {wished.guarantee}: {wished.release().scalar()} people earn more than 5,000")

for question in ("SELECT MAX(wage) FROM wages", "SELECT wage FROM wages", "SELECT AVG(wage / 12) FROM wages"):
    try:
        data.quote(question, epsilon="0.1")
    except QuestionError as error:
        print(f"refused: {question}: {error.why}; rather: {error.instead}")

try:
    data.quote("SELECT SUM(wage) AS total FROM wages", epsilon="0.5").release()
except BudgetError as error:
    print("refused:", error.why)
