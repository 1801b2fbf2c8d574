"""Some hundred questions of all kinds about the clinic of this folder, each by a short name."""

# ruff: noqa: E501
from __future__ import annotations

QUESTIONS: dict[str, str] = {
    # counts
    "all rows": "SELECT COUNT(*) AS n FROM visits",
    "values": "SELECT COUNT(age) AS n FROM visits",
    "people": "SELECT COUNT(DISTINCT person) AS n FROM visits",
    "people by ward": "SELECT ward, COUNT(DISTINCT person) AS n FROM visits GROUP BY ward",
    "rows by ward": "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward",
    "rows and people": "SELECT ward, COUNT(*) AS n, COUNT(DISTINCT person) AS p FROM visits GROUP BY ward",
    "two groups": "SELECT ward, new, COUNT(*) AS n FROM visits GROUP BY ward, new",
    "subtotals": "SELECT ward, new, GROUPING(ward, new) AS g, COUNT(*) AS n, SUM(cost) AS s FROM visits GROUP BY ROLLUP (ward, new)",
    "many aggregates": "SELECT COUNT(*) AS n, COUNT(cost) AS c, SUM(cost) AS s, AVG(cost) AS a, AVG(age) AS b FROM visits",
    # sums and averages
    "sum": "SELECT SUM(cost) AS s FROM visits",
    "average": "SELECT AVG(cost) AS a FROM visits",
    "sum by ward": "SELECT ward, SUM(cost) AS s FROM visits GROUP BY ward",
    "average by ward": "SELECT ward, AVG(age) AS a FROM visits GROUP BY ward",
    "average of signs": "SELECT AVG(share) AS a, SUM(share) AS s FROM visits",
    "count and average": "SELECT ward, COUNT(*) AS n, AVG(cost) AS cost FROM visits GROUP BY ward",
    "arithmetic": "SELECT SUM(cost * 2 - age) AS s FROM visits",
    "division": "SELECT SUM(cost / 100) AS s FROM visits",
    "cases": "SELECT SUM(CASE WHEN age > 50 THEN cost ELSE 0 END) AS s FROM visits",
    "cases without else": "SELECT AVG(CASE WHEN new THEN cost END) AS a FROM visits",
    # variances
    "variance": "SELECT VAR_POP(age) AS v FROM visits",
    "sample variance": "SELECT VAR_SAMP(age) AS v FROM visits",
    "deviations": "SELECT ward, STDDEV_POP(cost) AS d, STDDEV(cost) AS e FROM visits GROUP BY ward",
    "average beside deviation": "SELECT AVG(age) AS a, STDDEV(age) AS d, COUNT(age) AS n FROM visits",
    # quantiles
    "median": "SELECT MEDIAN(cost) AS m FROM visits",
    "median by ward": "SELECT ward, MEDIAN(age) AS m FROM visits GROUP BY ward",
    "quantiles": "SELECT QUANTILE(cost, 0.25) AS a, QUANTILE(cost, 0.9) AS b FROM visits",
    "percentile": "SELECT PERCENTILE_CONT(0.9) WITHIN GROUP (ORDER BY age DESC) AS p FROM visits",
    "ends": "SELECT MIN(age) AS a, MAX(age) AS b FROM visits",
    "median beside count": "SELECT ward, COUNT(*) AS n, MEDIAN(age) AS m FROM visits GROUP BY ward",
    # modes
    "most frequent ward": "SELECT MODE(ward) AS m FROM visits",
    "most frequent ward by new": "SELECT new, MODE(ward) AS m, COUNT(*) AS n FROM visits GROUP BY new",
    # distinct keys, running counts
    "distinct wards": "SELECT COUNT(DISTINCT ward) AS k FROM visits",
    "distinct wards by new": "SELECT new, COUNT(DISTINCT ward) AS k FROM visits GROUP BY new",
    "running counts": "SELECT ward, SUM(COUNT(*)) OVER (ORDER BY ward) AS n FROM visits GROUP BY ward",
    "running by new": "SELECT new, ward, SUM(COUNT(*)) OVER (PARTITION BY new ORDER BY ward) AS n FROM visits GROUP BY new, ward",
    "ratio": "SELECT ward, SUM(cost) / COUNT(*) AS r, 100.0 * COUNT(*) / SUM(COUNT(*)) OVER () AS share FROM visits GROUP BY ward",
    "remainder": "SELECT ward, COUNT(*) % 7 AS r, COUNT(*) - AVG(COUNT(*)) OVER () AS d, 3 * COUNT(*) AS t FROM visits GROUP BY ward QUALIFY RANK() OVER (ORDER BY COUNT(*)) <= 2",
    "scalar subquery": "SELECT ward, COUNT(*) AS n FROM visits WHERE cost > 0.5 * (SELECT AVG(cost) FROM visits) GROUP BY ward",
    "running months": "SELECT EXTRACT(month FROM day) AS m, SUM(COUNT(*)) OVER (ORDER BY m) AS n FROM visits GROUP BY m",
    # keys that nobody declared
    "unknown keys": "SELECT town, COUNT(DISTINCT person) AS n FROM visits GROUP BY town",
    "rows by unknown keys": "SELECT town, COUNT(*) AS n FROM visits GROUP BY town",
    "unknown keys, more": "SELECT town, COUNT(*) AS n, AVG(cost) AS a, MEDIAN(age) AS m FROM visits GROUP BY town",
    "unknown and declared": "SELECT town, ward, COUNT(*) AS n FROM visits GROUP BY town, ward",
    "unknown dates": "SELECT day, COUNT(*) AS n FROM visits GROUP BY day",
    # largest groups
    "largest ward": "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward ORDER BY n DESC LIMIT 1",
    "largest days": "SELECT EXTRACT(day FROM day) AS d, EXTRACT(month FROM day) AS m, COUNT(*) AS n FROM visits "
    "GROUP BY d, m ORDER BY n DESC LIMIT 3",
    # conditions
    "equal": "SELECT COUNT(*) AS n FROM visits WHERE ward = 'A'",
    "not equal": "SELECT COUNT(*) AS n FROM visits WHERE ward <> 'A'",
    "between": "SELECT COUNT(*) AS n FROM visits WHERE age BETWEEN 18 AND 65",
    "in a list": "SELECT COUNT(*) AS n FROM visits WHERE ward IN ('A', 'B') AND age NOT IN (1, 2)",
    "like": "SELECT COUNT(*) AS n FROM visits WHERE town LIKE 'town%' OR town LIKE '%_3'",
    "null": "SELECT COUNT(*) AS n FROM visits WHERE cost IS NULL OR age IS NOT NULL",
    "not": "SELECT COUNT(*) AS n FROM visits WHERE NOT (age > 30 OR new)",
    "date": "SELECT COUNT(*) AS n FROM visits WHERE day >= DATE '2024-03-01' AND day < DATE '2024-06-01'",
    "timestamp": "SELECT COUNT(*) AS n FROM visits WHERE at < TIMESTAMP '2024-06-01 12:00:00'",
    "boolean": "SELECT COUNT(*) AS n FROM visits WHERE new",
    "columns compared": "SELECT COUNT(*) AS n FROM visits WHERE cost > age * 10",
    # functions of a row
    "case keys": "SELECT CASE WHEN age < 18 THEN 'child' WHEN age < 65 THEN 'adult' ELSE 'old' END AS k, COUNT(*) AS n "
    "FROM visits GROUP BY k",
    "upper": "SELECT UPPER(ward) AS w, COUNT(*) AS n FROM visits GROUP BY w",
    "lower and trim": "SELECT COUNT(*) AS n FROM visits WHERE LOWER(TRIM(ward)) = 'a'",
    "substring": "SELECT COUNT(*) AS n FROM visits WHERE SUBSTRING(town, 1, 4) = 'town'",
    "left and right": "SELECT COUNT(*) AS n FROM visits WHERE LEFT(town, 2) = 'to' AND RIGHT(town, 1) = '3'",
    "concat": "SELECT CONCAT(ward, '-', ward) AS w, COUNT(*) AS n FROM visits GROUP BY w",
    "length": "SELECT COUNT(*) AS n FROM visits WHERE LENGTH(town) = 6",
    "coalesce": "SELECT COALESCE(ward, 'none') AS w, COUNT(*) AS n FROM visits GROUP BY w",
    "greatest": "SELECT AVG(GREATEST(age, 18)) AS a, AVG(LEAST(age, 65)) AS b FROM visits",
    "absolute": "SELECT AVG(ABS(share)) AS a FROM visits",
    "rounded": "SELECT SUM(ROUND(cost)) AS s, SUM(FLOOR(cost / 10)) AS f FROM visits",
    "nullif": "SELECT AVG(NULLIF(age, 0)) AS a FROM visits",
    "width bucket": "SELECT WIDTH_BUCKET(age, 0, 100, 5) AS b, COUNT(*) AS n FROM visits GROUP BY b",
    "months": "SELECT EXTRACT(month FROM day) AS m, COUNT(*) AS n FROM visits GROUP BY m",
    "hours": "SELECT EXTRACT(hour FROM at) AS h, COUNT(*) AS n FROM visits GROUP BY h",
    "weekday": "SELECT COUNT(*) AS n FROM visits WHERE EXTRACT(dow FROM day) = 1",
    "truncated dates": "SELECT DATE_TRUNC('month', day) AS m, COUNT(*) AS n FROM visits "
    "WHERE day >= DATE '2024-01-01' AND day < DATE '2024-04-01' GROUP BY m",
    # after the release
    "having": "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward HAVING COUNT(*) > 10",
    "ordered": "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward ORDER BY n DESC, ward",
    "limited": "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward ORDER BY ward LIMIT 2",
    # relations
    "public join": "SELECT COUNT(*) AS n FROM visits JOIN wards ON visits.ward = wards.ward",
    "public columns": "SELECT wards.site, COUNT(*) AS n, AVG(wards.beds) AS b FROM visits JOIN wards ON visits.ward = wards.ward "
    "GROUP BY wards.site",
    "public left join": "SELECT COUNT(*) AS n FROM visits LEFT JOIN wards ON visits.ward = wards.ward WHERE wards.site = 'north'",
    "person join": "SELECT COUNT(*) AS n FROM visits JOIN stays ON visits.person = stays.patient",
    "correlation": "SELECT CORR(cost, age) AS c, COVAR_POP(cost, age) AS v FROM visits WHERE age % 2 = 0",
    "covariance by ward": "SELECT ward, COVAR_SAMP(cost, age) AS v FROM visits GROUP BY ward",
    "quotient": "SELECT AVG(LEAST(GREATEST(cost / NULLIF(age, 0), 0), 9)) AS a, SUM(SQRT(ABS(cost))) AS s FROM visits",
    "remainders": "SELECT age % 10 AS k, AVG(LN(age + 1)) AS a, SUM(SIGN(cost)) AS s FROM visits GROUP BY k",
    "person join by ward": "SELECT visits.ward, AVG(stays.nights) AS a FROM visits JOIN stays ON visits.person = stays.patient "
    "GROUP BY visits.ward",
    "not in": "SELECT COUNT(*) AS n FROM visits WHERE person NOT IN (SELECT patient FROM stays WHERE nights > 3)",
    "exists": "SELECT ward, COUNT(*) AS n FROM visits v WHERE EXISTS (SELECT 1 FROM stays s WHERE s.patient = v.person "
    "AND s.nights < v.age) GROUP BY ward",
    "left join": "SELECT COUNT(*) AS n FROM visits LEFT JOIN stays ON person = patient AND nights > 3 WHERE nights IS NULL",
    "in public": "SELECT COUNT(*) AS n FROM visits WHERE ward IN (SELECT ward FROM wards WHERE site = 'north')",
    "own counts": "SELECT AVG(LEAST(k, 5)) AS a FROM (SELECT person, COUNT(*) AS k FROM visits GROUP BY person) AS q",
    "own sums": "SELECT COUNT(*) AS n FROM (SELECT person, SUM(age) AS s FROM visits GROUP BY person) AS q WHERE s > 100",
    "own distinct": "SELECT COUNT(*) AS n FROM (SELECT DISTINCT person, ward FROM visits) AS q",
    "own changes": "SELECT AVG(c) AS a FROM (SELECT age - LAG(age) OVER (PARTITION BY person ORDER BY day) AS c FROM visits) AS q",
    "first rows": "SELECT ward, COUNT(*) AS n FROM (SELECT * FROM visits QUALIFY ROW_NUMBER() OVER (PARTITION BY person ORDER BY day) = 1) AS q GROUP BY ward",
    "inner filter": "SELECT ward, COUNT(*) AS n FROM (SELECT * FROM visits WHERE age > 30) AS q GROUP BY ward",
    "with": "WITH old AS (SELECT * FROM visits WHERE age > 60) SELECT ward, AVG(cost) AS a FROM old GROUP BY ward",
    "union": "SELECT COUNT(*) AS n FROM (SELECT person, age FROM visits UNION ALL SELECT patient, nights FROM stays) AS q",
    "stays by floor": "SELECT floor, COUNT(*) AS n, AVG(nights) AS a FROM stays GROUP BY floor",
}

# Beside the price: other words of the question.
TERMS: dict[str, tuple[str, dict[str, object]]] = {
    "weights": ("count and average", {"bounding": "weights"}),
    "groups": ("count and average", {"bounding": "groups"}),
    "clip": ("count and average", {"bounding": "clip"}),
    "confidence": ("rows by ward", {"confidence": "99%"}),
    "size": ("average by ward", {"size": 500}),
    "wished error": ("rows by ward", {"error": {"n": 20}}),
    "wished errors": ("count and average", {"error": {"n": 50, "cost": 100}, "size": 1000}),
    "other": ("rows by unknown keys", {"other": "others"}),
    "delta": ("rows by unknown keys", {"delta": "1e-8"}),
    "rho": ("count and average", {"rho": "0.01"}),
}
BATCHES: dict[str, list[str]] = {
    "two counts": ["rows by ward", "two groups"],
    "ranges": ["between", "equal", "in a list", "not equal"],
    "all kinds": ["count and average", "median", "people by ward", "deviations"],
    "unknown beside declared": ["rows by ward", "unknown keys"],
}
