-- [shop: revenue by country]
SELECT c.country, SUM(o.total) AS revenue FROM customers c JOIN orders o ON o.customer_id = c.id GROUP BY c.country

-- [shop: comma join]
SELECT c.segment, COUNT(*) AS n FROM customers c, orders o WHERE c.id = o.customer_id GROUP BY c.segment

-- [shop: revenue by category]
SELECT p.category, SUM(i.quantity * i.price) AS revenue FROM items i JOIN products p ON p.id = i.product_id GROUP BY p.category

-- [shop: along the chain]
SELECT o.status, SUM(i.quantity) AS pieces FROM orders o JOIN items i ON i.order_id = o.id GROUP BY o.status

-- [shop: chain, public table, and the person]
SELECT c.country, p.category, COUNT(*) AS n FROM customers c JOIN orders o ON o.customer_id = c.id JOIN items i ON i.order_id = o.id JOIN products p ON p.id = i.product_id GROUP BY c.country, p.category

-- [shop: public table first]
SELECT p.category, COUNT(*) AS n FROM products p JOIN items i ON p.id = i.product_id GROUP BY p.category

-- [shop: using]
SELECT COUNT(*) AS n FROM orders JOIN (SELECT customer_id, COUNT(*) AS k FROM orders GROUP BY customer_id) t USING (customer_id) WHERE k > 2

-- [shop: items below their list price]
SELECT COUNT(*) AS n FROM items i JOIN products p ON p.id = i.product_id WHERE i.price < p.list_price

-- [shop: left join of a public table]
SELECT COUNT(*) AS n FROM items i LEFT JOIN products p ON p.id = i.product_id AND p.category = 'books' WHERE p.id IS NULL
-- rewrite: the condition on the joined row
SELECT COUNT(*) AS n FROM items i JOIN products p ON p.id = i.product_id WHERE NOT p.category = 'books'

-- [shop: orders a customer, zeros too]
SELECT AVG(n) AS orders FROM (SELECT c.id, COUNT(o.id) AS n FROM customers c LEFT JOIN orders o ON o.customer_id = c.id GROUP BY c.id) t
-- rewrite: both tables one below the other
SELECT AVG(n) AS orders FROM (SELECT id, SUM(o) AS n FROM (SELECT id, 0 AS o FROM customers UNION ALL SELECT customer_id, 1 FROM orders) u GROUP BY id) t

-- [shop: full join]
SELECT COUNT(*) AS n FROM customers c FULL JOIN orders o ON o.customer_id = c.id

-- [shop: pairs of customers]
SELECT COUNT(*) AS n FROM customers a JOIN customers b ON a.country = b.country
-- because: a row would belong to two people

-- [shop: column list of an inner question]
SELECT s, COUNT(*) AS n FROM (SELECT customer_id, SUM(quantity) FROM orders o JOIN items i ON i.order_id = o.id GROUP BY customer_id) AS t (c, s) GROUP BY s

-- [shop: column list behind WITH]
WITH t (who, k) AS (SELECT customer_id, COUNT(*) FROM orders GROUP BY customer_id) SELECT AVG(k) AS n FROM t

-- [hospital: visits by site]
SELECT site, COUNT(*) AS n FROM visits JOIN wards ON visits.ward = wards.ward GROUP BY site

-- [hospital: visits and stays of a person]
SELECT COUNT(*) AS n FROM visits v JOIN stays s ON v.patient = s.patient

-- [hospital: stays in the ward of a visit]
SELECT COUNT(*) AS n FROM visits v JOIN stays s ON v.patient = s.patient AND v.ward = s.ward

-- [hospital: natural join]
SELECT COUNT(*) AS n FROM visits NATURAL JOIN wards
-- rewrite: ON with the column
SELECT COUNT(*) AS n FROM visits JOIN wards ON visits.ward = wards.ward

-- [hospital: union of both]
WITH days AS (SELECT patient, ward FROM visits UNION ALL SELECT patient, ward FROM stays) SELECT ward, COUNT(*) AS n FROM days GROUP BY ward

-- [hospital: union without all]
SELECT COUNT(*) AS n FROM (SELECT patient, ward FROM visits UNION SELECT patient, ward FROM stays) u
-- rewrite: UNION ALL, then each row of a person once
SELECT COUNT(*) AS n FROM (SELECT DISTINCT patient, ward FROM (SELECT patient, ward FROM visits UNION ALL SELECT patient, ward FROM stays) u) d

-- [hospital: beds beside visits]
SELECT wards.ward, COUNT(*) * 1.0 / 10 AS visits FROM visits JOIN wards ON visits.ward = wards.ward WHERE beds > 12 GROUP BY wards.ward

-- [taxi: trips by borough]
SELECT z.borough, AVG(t.fare) AS fare FROM trips t JOIN zones z USING (zone) GROUP BY z.borough

-- [taxi: cross join of zones]
SELECT COUNT(*) AS n FROM trips CROSS JOIN zones
-- because: without an equality every row would meet every other

-- [taxi: semi join with a public table]
SELECT COUNT(*) AS n FROM trips WHERE zone IN (SELECT zone FROM zones WHERE borough = 'East')
-- rewrite: an inner join
SELECT COUNT(*) AS n FROM trips JOIN zones ON trips.zone = zones.zone WHERE borough = 'East'
