"""Dates and timestamps in questions: functions, intervals, and what is not answered."""
