"""Routes: each reads a request, calls the gateway and writes what it gave; none decides anything about privacy."""
