-- [shop: rows of a public table]
SELECT * FROM products ORDER BY id LIMIT 5

-- [shop: totals of a public table]
SELECT category, COUNT(*) AS n, AVG(list_price) AS price FROM products GROUP BY category ORDER BY category

-- [shop: above the average of a public table]
SELECT id, list_price FROM products WHERE list_price > (SELECT AVG(list_price) FROM products) ORDER BY list_price DESC, id

-- [hospital: beds by site]
SELECT site, SUM(beds) AS beds FROM wards GROUP BY site HAVING SUM(beds) > 5 ORDER BY site

-- [hospital: keys of a public table]
SELECT DISTINCT site FROM wards ORDER BY 1

-- [taxi: self join of a public table]
SELECT a.zone, b.zone AS other FROM zones a JOIN zones b ON a.borough = b.borough AND a.zone < b.zone ORDER BY 1, 2

-- [taxi: correlated]
SELECT zone FROM zones z WHERE EXISTS (SELECT 1 FROM zones o WHERE o.borough = z.borough AND o.zone > z.zone) ORDER BY zone
