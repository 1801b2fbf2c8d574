"""The gateway: people ask over the network, and the rows, the ledger and its key stay with the owner."""
