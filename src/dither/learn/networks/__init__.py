"""Networks: gradients of single rows on a lattice, summed over Poisson samples, with exact noise. They need torch."""
