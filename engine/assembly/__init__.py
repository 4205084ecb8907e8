"""One problem from all rows:  w = A lam + b."""
