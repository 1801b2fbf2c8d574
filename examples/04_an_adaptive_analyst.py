"""An analyst asks one question after the other, and decides what to pay as she goes. The filter keeps the promise."""

from dither import filter, gdp, pure, zcdp  # noqa: A004 - dither's filter, not Python's

budget = filter.approx_filter(epsilon=2, delta="1e-6")
print("The promise, whatever is asked:", budget.ceiling)

spent = budget.nothing
for question in (gdp(mu="0.1"), zcdp("0.02"), pure("0.2"), pure("0.2"), gdp(mu="0.5"), gdp(mu="0.05")):
    after = budget.after(spent, question)
    print(f"{question!s:45}", "refused" if after is None else "answered")
    spent = spent if after is None else after

print(budget.figure(spent))
