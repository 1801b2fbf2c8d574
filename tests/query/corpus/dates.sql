-- [taxi: trips by month]
SELECT DATE_TRUNC('month', pickup) AS m, COUNT(*) AS n FROM trips GROUP BY m ORDER BY m

-- [taxi: trips by day of January]
SELECT CAST(pickup AS DATE) AS d, COUNT(*) AS n FROM trips WHERE pickup >= DATE '2024-01-01' AND pickup < DATE '2024-02-01' GROUP BY d

-- [taxi: trips by hour of the day]
SELECT EXTRACT(hour FROM pickup) AS h, COUNT(*) AS n FROM trips GROUP BY h ORDER BY h

-- [taxi: trips by weekday]
SELECT EXTRACT(isodow FROM pickup) AS w, COUNT(*) AS n, AVG(fare) AS fare FROM trips GROUP BY w

-- [taxi: trips by week]
SELECT DATE_TRUNC('week', pickup) AS w, COUNT(*) AS n FROM trips WHERE pickup BETWEEN DATE '2024-03-04' AND DATE '2024-03-31' GROUP BY w

-- [taxi: length of trips in minutes]
SELECT AVG(DATE_DIFF('minute', pickup, dropoff)) AS minutes FROM trips
-- within: 0.5

-- [taxi: length of trips, bounded]
SELECT AVG(LEAST(GREATEST(DATE_DIFF('minute', pickup, dropoff), 0), 120)) AS minutes FROM trips

-- [taxi: trips of more than half an hour]
SELECT COUNT(*) AS n FROM trips WHERE dropoff - pickup > INTERVAL '30 minutes'

-- [taxi: nights]
SELECT SUM(CASE WHEN EXTRACT(hour FROM pickup) >= 22 OR EXTRACT(hour FROM pickup) < 6 THEN 1 ELSE 0 END) AS nights, COUNT(*) AS n FROM trips

-- [taxi: quarter]
SELECT EXTRACT(quarter FROM pickup) AS q, SUM(fare) AS fare FROM trips GROUP BY q ORDER BY q

-- [taxi: last four weeks of a day]
SELECT COUNT(*) AS n FROM trips WHERE pickup >= DATE '2024-06-30' - INTERVAL '28 days' AND pickup < DATE '2024-06-30'

-- [hospital: visits by month as text]
SELECT STRFTIME(day, '%Y-%m') AS m, COUNT(*) AS n FROM visits GROUP BY m
-- rewrite: the first day of the month
SELECT DATE_TRUNC('month', day) AS m, COUNT(*) AS n FROM visits GROUP BY m
-- uncompared: the text of a month is not its first day

-- [hospital: year and month]
SELECT EXTRACT(year FROM day) AS y, EXTRACT(month FROM day) AS m, COUNT(*) AS n FROM visits GROUP BY y, m ORDER BY y, m

-- [hospital: year over year, by functions]
SELECT YEAR(day) AS y, SUM(cost) AS cost FROM visits GROUP BY y

-- [hospital: stay by dates]
SELECT AVG(DATE_DIFF('day', admitted, left_on)) AS days FROM stays WHERE left_on <= admitted + INTERVAL '30 days'

-- [hospital: stays that began on a weekend]
SELECT COUNT(*) AS n FROM stays WHERE EXTRACT(isodow FROM admitted) IN (6, 7)

-- [hospital: visits of a day beside a timestamp]
SELECT COUNT(*) AS n FROM visits WHERE day < TIMESTAMP '2024-03-01 12:00:00'

-- [hospital: first and last day]
SELECT MIN(day) AS first, MAX(day) AS last FROM visits

-- [hospital: days since the new year]
SELECT MEDIAN(DATE_DIFF('day', DATE '2024-01-01', day)) AS days FROM visits
-- within: 3

-- [hospital: cohort by season]
SELECT CASE WHEN EXTRACT(month FROM day) IN (12, 1, 2) THEN 'winter' WHEN EXTRACT(month FROM day) IN (6, 7, 8) THEN 'summer' ELSE 'between' END AS season, COUNT(*) AS n FROM visits GROUP BY season

-- [web: clicks by minute of an hour]
SELECT EXTRACT(minute FROM seen) AS m, COUNT(*) AS n FROM clicks GROUP BY m

-- [web: clicks by hour of a day]
SELECT DATE_TRUNC('hour', seen) AS h, COUNT(*) AS n FROM clicks WHERE seen >= TIMESTAMP '2024-05-01 00:00:00' AND seen < TIMESTAMP '2024-05-02 00:00:00' GROUP BY h

-- [web: up to today]
SELECT COUNT(*) AS n FROM clicks WHERE seen < CURRENT_DATE
-- because: it would be another question every day; a written day is asked once

-- [shop: customers by month of joining]
SELECT DATE_TRUNC('month', since) AS m, COUNT(*) AS n FROM customers GROUP BY 1 ORDER BY 1

-- [shop: age in decades]
SELECT FLOOR((2024 - born) / 10) * 10 AS decade, COUNT(*) AS n FROM customers WHERE born IS NOT NULL GROUP BY decade
