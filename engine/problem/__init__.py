"""One problem from all constraint rows,  w = A lam + b:  its operator, residual and islands."""
