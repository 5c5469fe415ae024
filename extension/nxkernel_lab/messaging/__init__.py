"""What pages and Python tell each other, and what stands in an output where no widget can live."""
