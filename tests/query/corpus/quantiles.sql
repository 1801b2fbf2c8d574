-- [taxi: median fare]
SELECT MEDIAN(fare) AS fare FROM trips
-- within: 3

-- [taxi: ninetieth percentile]
SELECT QUANTILE_CONT(fare, 0.9) AS p90 FROM trips
-- within: 3

-- [taxi: by the standard]
SELECT PERCENTILE_CONT(0.25) WITHIN GROUP (ORDER BY fare) AS q1, PERCENTILE_CONT(0.75) WITHIN GROUP (ORDER BY fare) AS q3 FROM trips
-- within: 3

-- [taxi: median by zone]
SELECT zone, MEDIAN(km) AS km FROM trips GROUP BY zone
-- within: 4

-- [taxi: smallest and largest]
SELECT MIN(fare) AS least, MAX(fare) AS most FROM trips
-- within: 3

-- [taxi: spread]
SELECT STDDEV_POP(fare) AS s, VAR_POP(km) AS v FROM trips

-- [taxi: sample variance]
SELECT payment, VARIANCE(tip) AS v FROM trips GROUP BY payment

-- [taxi: correlation]
SELECT CORR(fare, tip) AS r FROM trips

-- [taxi: slope]
SELECT REGR_SLOPE(tip, fare) AS slope, REGR_INTERCEPT(tip, fare) AS start FROM trips

-- [taxi: covariance]
SELECT COVAR_POP(fare, km) AS c FROM trips

-- [taxi: logarithm]
SELECT AVG(LN(fare + 1)) AS l FROM trips
-- within: 0.05

-- [taxi: root and power]
SELECT AVG(SQRT(km)) AS r, AVG(POWER(km, 2)) AS p FROM trips
-- within: 0.5

-- [taxi: squares by hand]
SELECT AVG(km * km) AS p FROM trips

-- [taxi: above the average]
SELECT COUNT(*) AS n FROM trips WHERE fare > (SELECT AVG(fare) FROM trips)
-- within: 3

-- [taxi: median of a rider's trips]
SELECT MEDIAN(n) AS n FROM (SELECT rider, COUNT(*) AS n FROM trips GROUP BY rider) t
-- within: 1.6

-- [hospital: approximate quantile]
SELECT APPROX_QUANTILE(age, 0.5) AS age FROM visits
-- within: 4

-- [hospital: how many different ages]
SELECT APPROX_COUNT_DISTINCT(age) AS n FROM visits
-- rewrite: COUNT(DISTINCT ...), with an error bar
SELECT COUNT(DISTINCT age) AS n FROM visits
-- uncompared: the plain one is an approximation

-- [hospital: sum of different costs]
SELECT SUM(DISTINCT cost) AS s FROM visits
-- because: whether a row counts depends on whether others have the same value

-- [hospital: sign]
SELECT SUM(SIGN(age - 50)) AS s FROM visits
