"""Questions of a batch that are counted together, in cells that they share."""
