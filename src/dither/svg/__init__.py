"""Charts as SVG text, without a library or a network: elements, axes, labels, marks with whiskers, one theme."""
