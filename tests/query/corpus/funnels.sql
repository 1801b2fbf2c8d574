-- [web: three steps in one pass]
SELECT COUNT(DISTINCT CASE WHEN event = 'view' THEN user_id END) AS views, COUNT(DISTINCT CASE WHEN event = 'cart' THEN user_id END) AS carts, COUNT(DISTINCT CASE WHEN event = 'buy' THEN user_id END) AS buys FROM clicks

-- [web: by filter]
SELECT COUNT(DISTINCT user_id) FILTER (WHERE event = 'cart') AS carts FROM clicks

-- [web: people of each event]
SELECT event, COUNT(DISTINCT user_id) AS people FROM clicks GROUP BY event

-- [web: people who viewed and bought]
SELECT COUNT(*) AS n FROM (SELECT user_id, MAX(CASE WHEN event = 'view' THEN 1 ELSE 0 END) AS v, MAX(CASE WHEN event = 'buy' THEN 1 ELSE 0 END) AS b FROM clicks GROUP BY user_id) t WHERE v = 1 AND b = 1

-- [web: viewed and never bought]
SELECT COUNT(*) AS n FROM (SELECT user_id FROM clicks GROUP BY user_id HAVING SUM(CASE WHEN event = 'buy' THEN 1 ELSE 0 END) = 0) t

-- [web: bought after a cart]
SELECT COUNT(*) AS n FROM (SELECT user_id, MIN(CASE WHEN event = 'cart' THEN DATE_DIFF('day', DATE '2024-01-01', seen) END) AS c, MAX(CASE WHEN event = 'buy' THEN DATE_DIFF('day', DATE '2024-01-01', seen) END) AS b FROM clicks GROUP BY user_id) t WHERE b >= c

-- [web: bought after a cart, by timestamps]
SELECT COUNT(*) AS n FROM (SELECT user_id, MIN(CASE WHEN event = 'cart' THEN seen END) AS c, MAX(CASE WHEN event = 'buy' THEN seen END) AS b FROM clicks GROUP BY user_id) t WHERE b > c

-- [web: conversion by device]
SELECT device, COUNT(DISTINCT CASE WHEN event = 'buy' THEN user_id END) * 1.0 / COUNT(DISTINCT user_id) AS rate FROM clicks GROUP BY device

-- [web: buyers by IN]
SELECT COUNT(*) AS n FROM clicks WHERE user_id IN (SELECT user_id FROM clicks WHERE event = 'buy')
-- rewrite: a join on the person with an inner question of one row a person
SELECT COUNT(*) AS n FROM clicks c JOIN (SELECT user_id FROM clicks WHERE event = 'buy' GROUP BY user_id) b ON c.user_id = b.user_id

-- [web: clicks of those who never bought]
SELECT COUNT(*) AS n FROM clicks WHERE user_id NOT IN (SELECT user_id FROM clicks WHERE event = 'buy')
-- rewrite: each person's own totals
SELECT SUM(n) AS n FROM (SELECT user_id, COUNT(*) AS n, SUM(CASE WHEN event = 'buy' THEN 1 ELSE 0 END) AS b FROM clicks GROUP BY user_id) t WHERE b = 0

-- [web: buyers by EXISTS]
SELECT COUNT(DISTINCT user_id) AS n FROM clicks c WHERE EXISTS (SELECT 1 FROM clicks b WHERE b.user_id = c.user_id AND b.event = 'buy')
-- rewrite: a join on the person with an inner question of one row a person
SELECT COUNT(DISTINCT c.user_id) AS n FROM clicks c JOIN (SELECT user_id FROM clicks WHERE event = 'buy' GROUP BY user_id) b ON c.user_id = b.user_id

-- [web: how many events somebody has]
SELECT k, COUNT(*) AS people FROM (SELECT user_id, COUNT(DISTINCT event) AS k FROM clicks GROUP BY user_id) t GROUP BY k ORDER BY k

-- [web: time to the first purchase in days]
SELECT AVG(LEAST(GREATEST(d, 0), 366)) AS days FROM (SELECT user_id, MIN(CASE WHEN event = 'buy' THEN DATE_DIFF('day', DATE '2024-01-01', seen) END) AS d FROM clicks GROUP BY user_id) t

-- [shop: customers with an order]
SELECT COUNT(*) AS n FROM customers c WHERE EXISTS (SELECT 1 FROM orders o WHERE o.customer_id = c.id)
-- rewrite: a join on the person with an inner question of one row a person
SELECT COUNT(*) AS n FROM customers c JOIN (SELECT customer_id FROM orders GROUP BY customer_id) o ON o.customer_id = c.id

-- [shop: customers without an order]
SELECT COUNT(*) AS n FROM customers c LEFT JOIN orders o ON o.customer_id = c.id WHERE o.id IS NULL
-- rewrite: both tables one below the other
SELECT COUNT(*) AS n FROM (SELECT id FROM (SELECT id, 0 AS o FROM customers UNION ALL SELECT customer_id, 1 FROM orders) u GROUP BY id HAVING MAX(o) = 0) t

-- [shop: without an order, by NOT EXISTS]
SELECT segment, COUNT(*) AS n FROM customers c WHERE NOT EXISTS (SELECT 1 FROM orders o WHERE o.customer_id = c.id) GROUP BY segment
