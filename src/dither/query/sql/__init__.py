"""Text to a question: SQL is read, never translated."""
