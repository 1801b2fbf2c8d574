"""Questions about public tables alone: plain SQL of our own nodes, answered exactly and at no price."""
