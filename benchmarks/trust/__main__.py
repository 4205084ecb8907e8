"""Run every scene, compare the verdict with the truth, and write the page (`make trust`)."""

from __future__ import annotations

import argparse

from benchmarks.trust.measure import measure
from benchmarks.trust.page import known, matrix, write_page


def main() -> None:
    """Measure the chosen families and write docs/verification/trust.md if all were."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("family", nargs="*", help="only these families; writes no page")
    parser.add_argument("--seed", type=int, help="only scenes drawn from this seed; no page")
    asked = parser.parse_args()
    results = measure(asked.family, asked.seed)
    if asked.seed is not None:
        print("\n".join(matrix(known(results))))
    elif not asked.family:
        write_page(results)


if __name__ == "__main__":
    main()
