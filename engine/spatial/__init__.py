"""Mathematics without bodies: small tuples of floats that live in registers, nothing allocated."""
