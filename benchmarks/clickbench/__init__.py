"""ClickBench: 43 questions about the clicks of a web site, of which the people are protected by `UserID`."""
