"""Steps from a file or an address to a policy, one question at a time; a terminal or a page shows them."""
