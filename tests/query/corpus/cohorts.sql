-- [shop: first orders by month]
SELECT DATE_TRUNC('month', first) AS m, COUNT(*) AS n FROM (SELECT customer_id, MIN(day) AS first FROM orders GROUP BY customer_id) t GROUP BY m ORDER BY m

-- [shop: activity by cohort]
SELECT EXTRACT(month FROM c.since) AS joined, EXTRACT(month FROM o.day) AS active, COUNT(DISTINCT c.id) AS people FROM customers c JOIN orders o ON o.customer_id = c.id GROUP BY joined, active

-- [shop: retention of a month]
SELECT COUNT(DISTINCT a.customer_id) AS n FROM (SELECT customer_id FROM orders WHERE day < DATE '2024-04-01' GROUP BY customer_id) a JOIN (SELECT customer_id FROM orders WHERE day >= DATE '2024-04-01' GROUP BY customer_id) b ON a.customer_id = b.customer_id

-- [shop: orders of a first month and later]
SELECT COUNT(*) AS n FROM orders o JOIN (SELECT customer_id, MIN(day) AS first FROM orders GROUP BY customer_id) f ON o.customer_id = f.customer_id WHERE o.day > f.first

-- [shop: people by number of orders]
SELECT n AS orders, COUNT(*) AS people FROM (SELECT customer_id, COUNT(*) AS n FROM orders GROUP BY customer_id) t GROUP BY orders ORDER BY orders

-- [shop: repeat rate]
SELECT AVG(CASE WHEN n > 1 THEN 1 ELSE 0 END) AS rate FROM (SELECT customer_id, COUNT(*) AS n FROM orders GROUP BY customer_id) t

-- [shop: value of a customer]
SELECT AVG(total) AS value FROM (SELECT customer_id, SUM(total) AS total FROM orders GROUP BY customer_id) t

-- [shop: value by country]
SELECT c.country, AVG(t.total) AS value FROM customers c JOIN (SELECT customer_id, SUM(total) AS total FROM orders GROUP BY customer_id) t ON t.customer_id = c.id GROUP BY c.country

-- [shop: active months of a customer]
SELECT AVG(m) AS months FROM (SELECT customer_id, COUNT(DISTINCT EXTRACT(month FROM day)) AS m FROM orders GROUP BY customer_id) t

-- [hospital: patients of several wards]
SELECT COUNT(*) AS n FROM (SELECT patient FROM visits GROUP BY patient HAVING COUNT(DISTINCT ward) > 1) t

-- [hospital: came again within the year]
WITH own AS (SELECT patient, COUNT(*) AS n FROM visits GROUP BY patient) SELECT COUNT(*) AS n FROM own WHERE n >= 2

-- [hospital: readmitted]
SELECT COUNT(*) AS n FROM (SELECT patient, COUNT(*) AS stays FROM stays GROUP BY patient HAVING COUNT(*) >= 2) t

-- [hospital: days between first and last visit]
SELECT AVG(DATE_DIFF('day', first, last)) AS days FROM (SELECT patient, MIN(day) AS first, MAX(day) AS last FROM visits GROUP BY patient) t

-- [hospital: averages of averages]
SELECT AVG(a) AS cost FROM (SELECT patient, AVG(cost) AS a FROM visits GROUP BY patient) t
-- within: 2

-- [taxi: riders by trips in three classes]
SELECT CASE WHEN n = 1 THEN 'once' WHEN n < 6 THEN 'some' ELSE 'often' END AS kind, COUNT(*) AS riders FROM (SELECT rider, COUNT(*) AS n FROM trips GROUP BY rider) t GROUP BY kind

-- [taxi: weekly active riders]
SELECT DATE_TRUNC('month', pickup) AS m, COUNT(DISTINCT rider) AS riders FROM trips GROUP BY m ORDER BY m

-- [web: new and returning]
SELECT COUNT(*) FILTER (WHERE n = 1) AS new, COUNT(*) FILTER (WHERE n > 1) AS returning FROM (SELECT user_id, COUNT(DISTINCT CAST(seen AS DATE)) AS n FROM clicks GROUP BY user_id) t
