"""The gateway: people ask over a network, and the data stays where it is. Every door calls `core`."""
