"""What pages show of requests and answers, as plain values."""
