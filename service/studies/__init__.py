"""Studies: searches whose evaluations are the runs of a batch."""
