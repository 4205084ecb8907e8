"""Energy and momentum books: what the state holds, and the work of every force and impulse."""
