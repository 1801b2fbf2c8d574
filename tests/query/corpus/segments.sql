-- [hospital: visits by ward]
SELECT ward, COUNT(*) AS n, SUM(cost) AS cost FROM visits GROUP BY ward ORDER BY n DESC

-- [hospital: by two columns]
SELECT ward, smokes, COUNT(*) AS n FROM visits GROUP BY ward, smokes

-- [hospital: age classes by CASE]
SELECT CASE WHEN age < 18 THEN 'child' WHEN age < 65 THEN 'adult' ELSE 'old' END AS class, COUNT(*) AS n FROM visits GROUP BY class

-- [hospital: age classes by width]
SELECT WIDTH_BUCKET(age, 0, 100, 5) AS b, COUNT(*) AS n FROM visits GROUP BY b
-- uncompared: DuckDB has no WIDTH_BUCKET

-- [hospital: decades]
SELECT FLOOR(age / 10) AS decade, COUNT(*) AS n FROM visits GROUP BY decade

-- [hospital: decades with their first year]
SELECT FLOOR(age / 10) * 10 AS decade, COUNT(*) AS n FROM visits GROUP BY decade

-- [hospital: every age]
SELECT age, COUNT(*) AS n FROM visits WHERE age BETWEEN 30 AND 40 GROUP BY age

-- [hospital: costs in classes]
SELECT ROUND(cost, -2) AS class, COUNT(*) AS n FROM visits WHERE cost IS NOT NULL GROUP BY class

-- [hospital: even and odd]
SELECT age % 2 AS odd, COUNT(*) AS n FROM visits GROUP BY odd

-- [hospital: a condition as key]
SELECT cost > 1000 AS dear, COUNT(*) AS n FROM visits GROUP BY dear

-- [hospital: most frequent ward]
SELECT MODE(ward) AS ward FROM visits

-- [hospital: different wards]
SELECT COUNT(DISTINCT ward) AS n FROM visits

-- [hospital: text functions]
SELECT UPPER(ward) AS w, COUNT(*) AS n FROM visits GROUP BY w

-- [hospital: first letter]
SELECT SUBSTRING(ward, 1, 1) AS letter, COUNT(*) AS n FROM visits GROUP BY letter

-- [hospital: pairs as one text]
SELECT CONCAT(ward, '/', CASE WHEN smokes THEN 'yes' ELSE 'no' END) AS k, COUNT(*) AS n FROM visits GROUP BY k

-- [hospital: not in a list]
SELECT COUNT(*) AS n FROM visits WHERE ward NOT IN ('surgery')

-- [hospital: pattern]
SELECT COUNT(*) AS n FROM visits WHERE ward LIKE '%o%y'

-- [hospital: pattern in any case]
SELECT COUNT(*) AS n FROM visits WHERE ward ILIKE 'CARD%'

-- [hospital: pairs in a list]
SELECT COUNT(*) AS n FROM visits WHERE (ward, smokes) IN (('surgery', TRUE), ('maternity', FALSE))

-- [hospital: is distinct from]
SELECT COUNT(*) AS n FROM visits WHERE cost IS DISTINCT FROM 0

-- [hospital: missing as zero]
SELECT AVG(COALESCE(cost, 0)) AS cost FROM visits

-- [hospital: largest of two]
SELECT SUM(GREATEST(age, 18)) AS s FROM visits

-- [hospital: IF]
SELECT IF(age >= 65, 'old', 'young') AS k, COUNT(*) AS n FROM visits GROUP BY k

-- [shop: coupons that nobody declared]
SELECT coupon, COUNT(*) AS n FROM orders WHERE coupon IS NOT NULL GROUP BY coupon

-- [shop: top coupons]
SELECT coupon, COUNT(DISTINCT customer_id) AS people FROM orders WHERE coupon IS NOT NULL GROUP BY coupon ORDER BY people DESC LIMIT 2

-- [shop: listed coupons]
SELECT coupon, COUNT(*) AS n FROM orders WHERE coupon IN ('SPRING', 'VIP') GROUP BY coupon

-- [shop: missing as a key]
SELECT COALESCE(country, 'none') AS c, COUNT(*) AS n FROM customers GROUP BY c

-- [shop: how many coupons]
SELECT COUNT(DISTINCT coupon) AS n FROM orders

-- [shop: rollup of country and segment]
SELECT country, segment, COUNT(*) AS n FROM customers GROUP BY ROLLUP (country, segment)

-- [shop: cube]
SELECT country, segment, COUNT(*) AS n FROM customers GROUP BY CUBE (country, segment)

-- [shop: grouping sets]
SELECT country, segment, COUNT(*) AS n FROM customers GROUP BY GROUPING SETS ((country), (segment), ())

-- [shop: mail addresses]
SELECT email FROM customers WHERE country = 'DE'
-- because: it shows single rows

-- [shop: all of one customer]
SELECT * FROM orders WHERE customer_id = 7
-- because: it shows single rows

-- [shop: texts in one]
SELECT STRING_AGG(coupon, ',') AS c FROM orders
-- because: it shows what single rows hold

-- [web: pages that nobody declared]
SELECT page, COUNT(*) AS n FROM clicks GROUP BY page ORDER BY n DESC

-- [web: pages of both kinds of keys]
SELECT device, page, COUNT(DISTINCT user_id) AS people FROM clicks GROUP BY device, page

-- [web: top page]
SELECT page, COUNT(*) AS n FROM clicks GROUP BY page ORDER BY n DESC LIMIT 1

-- [web: a constant key]
SELECT 'all' AS k, COUNT(*) AS n FROM clicks GROUP BY 1

-- [web: length of pages]
SELECT LENGTH(page) AS l, COUNT(*) AS n FROM clicks GROUP BY l
-- rewrite: an inner question gives it a name, and its keys are released at a price
SELECT l, COUNT(*) AS n FROM (SELECT LENGTH(page) AS l FROM clicks) t GROUP BY l
