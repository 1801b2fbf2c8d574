"""At the source: surveys that randomise answers."""
