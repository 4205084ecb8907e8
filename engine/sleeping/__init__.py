"""Bodies that have come to rest are left alone until something happens to them."""
