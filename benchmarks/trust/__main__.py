"""Run every scene, compare the verdict with the truth, and write the page (`make trust`)."""

from __future__ import annotations

import argparse

from benchmarks.trust.measure import measure
from benchmarks.trust.page import write_page


def main() -> None:
    """Measure the chosen families and write docs/verification/trust.md if all were."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("family", nargs="*", help="only these families; writes no page")
    chosen = parser.parse_args().family
    results = measure(chosen)
    if not chosen:
        write_page(results)


if __name__ == "__main__":
    main()
