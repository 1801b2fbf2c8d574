"""Two analysts share one budget. Every answer is charged first, stored before it is shown, and free the second time."""

from dither import Geometric, Ledger, pure
from dither.errors import BudgetError

TRUE_COUNTS = {"ward A": 128, "ward B": 57, "ward C": 203}  # what the data says; nobody gets to see it

count = Geometric(epsilon="0.2", sensitivity=1)


def answer(ledger: Ledger, analyst: str, ward: str) -> str:
    receipt = ledger.reserve(count.guarantee, {"count": "visits", "where": ward}, analyst=analyst)
    if receipt.answer is not None:
        return receipt.answer
    ledger.touch(receipt)
    return ledger.commit(receipt, str(count.release(TRUE_COUNTS[ward])))


with Ledger.create("visits.ledger", budget=pure("0.6"), domain="clinic") as ledger:
    print("the promise, whatever is asked:", ledger.remaining().ceiling)
    for analyst, ward in [("ana", "ward A"), ("bob", "ward B"), ("bob", "ward A"), ("ana", "ward C"), ("ana", "ward A")]:
        print(f"{analyst} asks about {ward}: {answer(ledger, analyst, ward)} (± {count.error(0.95)}); {ledger.remaining()}")
    try:
        ledger.reserve(count.guarantee, "one more", analyst="bob")
    except BudgetError as error:
        print("refused:", error.why)
    print(ledger.verify())
