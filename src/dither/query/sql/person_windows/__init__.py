"""Windows within one person: LAG, ROW_NUMBER and the like in inner questions, and QUALIFY."""
