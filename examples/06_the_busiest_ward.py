"""Choose the busiest ward, say by how much it leads, and list the top three: the same data, three prices."""

import dither

wards = ["north", "south", "east", "west", "harbour"]
visits = [310, 295, 120, 14, 288]

best = dither.PermuteAndFlip(epsilon="0.5", sensitivity=1, candidates=wards, monotone=True, integers=True)
print(f"busiest: {best.release(visits)}, at most {best.error(0.95):g} visits behind the best (95%); {best.guarantee}")

lead = dither.NoisyMax(epsilon="0.5", sensitivity=1, candidates=wards, monotone=True, integers=True)
winner, gap = lead.release(visits)
print(f"busiest: {winner}, ahead by about {gap}; {lead.guarantee}")

three = dither.TopK(k=3, epsilon="1.5", sensitivity=1, candidates=wards, monotone=True, integers=True)
print(f"top three: {', '.join(three.release(visits))}; {three.guarantee}, ρ = {three.guarantee.rho():.4f}")

budget = best.guarantee + lead.guarantee + three.guarantee
print(f"together: {budget.epsilon():.4g} pure, or {budget.epsilon('1e-6'):.4g} at δ = 1e-6")
