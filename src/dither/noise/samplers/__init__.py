"""Samplers: exact draws by cumulative tables (inversion), and by rejection from a staircase for large scales."""
