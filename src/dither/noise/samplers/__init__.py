"""How noise is drawn: tables, small and large scales."""
