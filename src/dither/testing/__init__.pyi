from dither.query.conformance.engine_checks import check_engine as check_engine
from dither.query.conformance.engine_checks import engine_checks as engine_checks
from dither.testing.conformance import Report as Report
from dither.testing.conformance import check_mechanism as check_mechanism
from dither.testing.conformance import mechanism_checks as mechanism_checks
from dither.testing.enumerate import Outcomes as Outcomes
from dither.testing.enumerate import outcomes as outcomes
from dither.testing.seeds import seeded as seeded
