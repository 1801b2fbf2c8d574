-- [shop: share of returned orders]
SELECT 100.0 * SUM(CASE WHEN status = 'returned' THEN 1 ELSE 0 END) / COUNT(*) AS percent FROM orders

-- [shop: share by filter]
SELECT COUNT(*) FILTER (WHERE status = 'paid') * 1.0 / COUNT(*) AS share FROM orders

-- [shop: share of each status]
SELECT status, COUNT(*) AS n, COUNT(*) * 1.0 / SUM(COUNT(*)) OVER () AS share FROM orders GROUP BY status

-- [shop: rank of statuses]
SELECT status, SUM(total) AS total, RANK() OVER (ORDER BY SUM(total) DESC) AS place FROM orders GROUP BY status

-- [shop: average order]
SELECT SUM(total) / COUNT(*) AS average FROM orders

-- [shop: orders a customer]
SELECT COUNT(*) * 1.0 / COUNT(DISTINCT customer_id) AS orders FROM orders

-- [shop: rounded]
SELECT ROUND(AVG(total), 1) AS average FROM orders
-- within: 0.1

-- [shop: coalesced sum]
SELECT COALESCE(SUM(total), 0) AS total FROM orders WHERE status = 'open'

-- [shop: difference of averages]
SELECT AVG(CASE WHEN coupon IS NOT NULL THEN total END) - AVG(CASE WHEN coupon IS NULL THEN total END) AS more FROM orders

-- [shop: conditional average by filter]
SELECT AVG(total) FILTER (WHERE status = 'paid') AS paid, AVG(total) FILTER (WHERE status = 'returned') AS returned FROM orders

-- [shop: people with a coupon]
SELECT COUNT(DISTINCT CASE WHEN coupon IS NOT NULL THEN customer_id END) AS n FROM orders

-- [hospital: smokers by ward]
SELECT ward, AVG(CASE WHEN smokes THEN 1 ELSE 0 END) AS share FROM visits GROUP BY ward

-- [hospital: COUNT_IF]
SELECT ward, COUNT_IF(smokes) AS smokers, COUNT(*) AS n FROM visits GROUP BY ward

-- [hospital: visits without a cost]
SELECT COUNT(*) - COUNT(cost) AS missing FROM visits

-- [hospital: cost per night]
SELECT SUM(nights) * 1.0 / COUNT(DISTINCT patient) AS nights FROM stays

-- [hospital: coefficient of variation]
SELECT STDDEV(cost) / AVG(cost) AS cv FROM visits

-- [hospital: change from month to month]
SELECT DATE_TRUNC('month', day) AS m, COUNT(*) AS n, COUNT(*) - LAG(COUNT(*)) OVER (ORDER BY DATE_TRUNC('month', day)) AS change FROM visits GROUP BY m ORDER BY m

-- [taxi: tip rate]
SELECT 100 * SUM(tip) / SUM(fare) AS rate FROM trips

-- [taxi: tip rate by payment]
SELECT payment, SUM(tip) / SUM(fare) AS rate FROM trips GROUP BY payment

-- [taxi: average of ratios]
SELECT AVG(tip / NULLIF(fare, 0)) AS rate FROM trips

-- [taxi: price per km]
SELECT SUM(fare) / SUM(km) AS price FROM trips

-- [taxi: share of the busiest]
SELECT zone, COUNT(*) AS n FROM trips GROUP BY zone ORDER BY n DESC LIMIT 1

-- [taxi: second and third zone]
SELECT zone, COUNT(*) AS n FROM trips GROUP BY zone ORDER BY n DESC LIMIT 2 OFFSET 1

-- [taxi: zones above a share]
SELECT zone, COUNT(*) AS n FROM trips GROUP BY zone HAVING COUNT(*) > 50

-- [taxi: groups of one key or another]
SELECT zone, COUNT(*) AS n FROM trips GROUP BY zone HAVING zone = 'Park' OR COUNT(*) > 100000

-- [web: events as percent of views]
SELECT 100.0 * SUM(CASE WHEN event = 'buy' THEN 1 ELSE 0 END) / SUM(CASE WHEN event = 'view' THEN 1 ELSE 0 END) AS percent FROM clicks

-- [web: running total]
SELECT DATE_TRUNC('month', seen) AS m, SUM(COUNT(*)) OVER (ORDER BY DATE_TRUNC('month', seen)) AS n FROM clicks GROUP BY m ORDER BY m
