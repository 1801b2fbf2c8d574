"""The processes of a gateway that hold ledgers and rows, and how the web process talks to them."""
