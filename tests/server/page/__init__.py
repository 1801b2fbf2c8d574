"""The page, in browsers and without."""
