-- [hospital: first visit of each patient]
SELECT ward, COUNT(*) AS n FROM (SELECT patient, ward, ROW_NUMBER() OVER (PARTITION BY patient ORDER BY day, ward) AS k FROM visits) t WHERE k = 1 GROUP BY ward

-- [hospital: days since the visit before]
SELECT AVG(gap) AS days FROM (SELECT patient, DATE_DIFF('day', LAG(day) OVER (PARTITION BY patient ORDER BY day), day) AS gap FROM visits) t

-- [hospital: next ward]
SELECT ward, next_ward, COUNT(*) AS n FROM (SELECT patient, ward, LEAD(ward) OVER (PARTITION BY patient ORDER BY day, ward) AS next_ward FROM visits) t WHERE next_ward IS NOT NULL GROUP BY ward, next_ward

-- [hospital: QUALIFY the first]
SELECT COUNT(*) AS n FROM (SELECT patient, cost FROM visits QUALIFY ROW_NUMBER() OVER (PARTITION BY patient ORDER BY day) = 1) t

-- [hospital: first ward by value]
SELECT f, COUNT(*) AS n FROM (SELECT patient, FIRST_VALUE(ward) OVER (PARTITION BY patient ORDER BY day, ward) AS f FROM visits) t GROUP BY f

-- [hospital: spending up to a visit]
SELECT AVG(s) AS so_far FROM (SELECT patient, SUM(cost) OVER (PARTITION BY patient ORDER BY day) AS s FROM visits) t

-- [hospital: dense rank of visits]
SELECT COUNT(*) AS n FROM (SELECT patient, DENSE_RANK() OVER (PARTITION BY patient ORDER BY day) AS k FROM visits) t WHERE k = 2

-- [hospital: visits beside their number]
SELECT n, COUNT(*) AS visits FROM (SELECT patient, COUNT(*) OVER (PARTITION BY patient) AS n FROM visits) t GROUP BY n

-- [hospital: rank over everybody]
SELECT COUNT(*) AS n FROM (SELECT patient, RANK() OVER (ORDER BY cost DESC) AS k FROM visits) t WHERE k <= 10
-- because: whether a row is among the first depends on other people's rows

-- [shop: second orders]
SELECT AVG(total) AS total FROM (SELECT customer_id, total, ROW_NUMBER() OVER (PARTITION BY customer_id ORDER BY day, id) AS k FROM orders) t WHERE k = 2

-- [shop: time between orders]
SELECT MEDIAN(gap) AS days FROM (SELECT customer_id, DATE_DIFF('day', LAG(day) OVER (PARTITION BY customer_id ORDER BY day), day) AS gap FROM orders) t
-- within: 4

-- [shop: QUALIFY over the answer]
SELECT country, segment, COUNT(*) AS n FROM customers GROUP BY country, segment QUALIFY RANK() OVER (PARTITION BY country ORDER BY COUNT(*) DESC) = 1

-- [taxi: moving average of months]
SELECT DATE_TRUNC('month', pickup) AS m, AVG(COUNT(*)) OVER (ORDER BY DATE_TRUNC('month', pickup) ROWS BETWEEN 2 PRECEDING AND CURRENT ROW) AS n FROM trips GROUP BY m

-- [taxi: share of months within a zone]
SELECT zone, payment, COUNT(*) AS n, COUNT(*) * 1.0 / SUM(COUNT(*)) OVER (PARTITION BY zone) AS share FROM trips GROUP BY zone, payment

-- [web: sessions by half an hour]
SELECT AVG(s) AS sessions FROM (SELECT user_id, SUM(new) AS s FROM (SELECT user_id, CASE WHEN DATE_DIFF('minute', LAG(seen) OVER (PARTITION BY user_id ORDER BY seen), seen) < 30 THEN 0 ELSE 1 END AS new FROM clicks) g GROUP BY user_id) t

-- [web: event before a purchase]
SELECT e, COUNT(*) AS n FROM (SELECT user_id, event, LAG(event) OVER (PARTITION BY user_id ORDER BY seen) AS e FROM clicks) t WHERE event = 'buy' AND e IS NOT NULL GROUP BY e
