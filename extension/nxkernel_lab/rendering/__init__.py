"""Layout of compilations, and from it SVG, Graphviz and text."""
