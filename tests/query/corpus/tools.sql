-- [shop: quoted and qualified]
SELECT "orders"."status" AS "status", COUNT(*) AS "n" FROM "main"."orders" AS "orders" GROUP BY "orders"."status"

-- [shop: subquery without a name]
SELECT COUNT(*) AS n FROM (SELECT * FROM orders WHERE total > 50)

-- [shop: ordinals]
SELECT status, COUNT(*) AS n FROM orders GROUP BY 1 ORDER BY 2 DESC

-- [shop: GROUP BY ALL]
SELECT status, coupon IS NULL AS bare, COUNT(*) AS n FROM orders GROUP BY ALL

-- [shop: COUNT(1)]
SELECT COUNT(1) AS n, SUM(1) AS m FROM orders

-- [shop: HAVING COUNT(1) > 0]
SELECT status, SUM(total) AS total FROM orders GROUP BY status HAVING COUNT(1) > 0

-- [shop: cast to its own type]
SELECT CAST(status AS VARCHAR) AS s, COUNT(*) AS n FROM orders GROUP BY s

-- [shop: keys of a filter]
SELECT DISTINCT status FROM orders ORDER BY status

-- [shop: columns]
SELECT * FROM orders LIMIT 0

-- [shop: false condition]
SELECT * FROM orders WHERE 1 = 0

-- [shop: true condition]
SELECT COUNT(*) AS n FROM orders WHERE 1 = 1 AND total > 20

-- [shop: a date from text]
SELECT COUNT(*) AS n FROM orders WHERE day >= CAST('2024-02-01' AS DATE)

-- [shop: fetch first]
SELECT status, COUNT(*) AS n FROM orders GROUP BY status ORDER BY n DESC FETCH FIRST 1 ROWS ONLY

-- [shop: top of other tools]
SELECT TOP 1 status, COUNT(*) AS n FROM orders GROUP BY status
-- because: TOP is no word of this dialect; LIMIT is

-- [web: ISO timestamps]
SELECT COUNT(*) AS n FROM clicks WHERE seen >= TIMESTAMP '2024-02-01T00:00:00Z' AND seen < TIMESTAMP '2024-03-01T00:00:00Z'

-- [web: time series of a dashboard]
SELECT DATE_TRUNC('day', seen) AS time, COUNT(*) AS value FROM clicks WHERE seen BETWEEN TIMESTAMP '2024-02-01 00:00:00' AND TIMESTAMP '2024-02-07 23:59:59' GROUP BY 1 ORDER BY 1

-- [web: union of totals]
SELECT 'views' AS k, COUNT(*) AS n FROM clicks WHERE event = 'view' UNION ALL SELECT 'buys', COUNT(*) FROM clicks WHERE event = 'buy'

-- [web: parameters]
SELECT COUNT(*) AS n FROM clicks WHERE event = ?
-- because: a question says what it asks; the tool puts its parameters in

-- [web: comments and semicolon]
/* dashboard 7 */ SELECT COUNT(*) AS n FROM clicks;

-- [web: nested twice]
SELECT AVG(n) AS n FROM (SELECT user_id, COUNT(*) AS n FROM (SELECT user_id, page FROM clicks WHERE ms > 100) a GROUP BY user_id) b
