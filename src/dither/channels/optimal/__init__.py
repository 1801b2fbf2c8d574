"""Optimal mechanisms for a prior and a gain: closed form, linear program, and dual certificates of their optimality."""
