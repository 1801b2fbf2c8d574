"""Private samples."""
