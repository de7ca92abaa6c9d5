"""Judged products of a shop as a CSV file, as an export of a database would have them; for docs/start.md.

    python examples/shop_table.py products.csv

Made up, and the same every time: 240 queries of 15 products, with scores of the search engine, a brand, a price, a
date. Judges like what matches the title; of what matches equally well they prefer what is rated high and in stock, and
one brand is better than it seems.
"""

from __future__ import annotations

import csv
import datetime
import random
import sys
from pathlib import Path

QUERIES, PRODUCTS = 240, 15
KINDS = ("shoes", "boots", "jacket", "coat", "shirt", "bag", "hat", "gloves")
COLOURS = ("red", "blue", "black", "white", "green", "brown")
BRANDS = {"Alder": 0.0, "Birch": 0.1, "Cedar": 0.7, "Elm": -0.1, "Fir": 0.0}
HEADER = ("query", "product", "grade", "bm25", "title_match", "rating", "price", "brand", "in_stock", "added")
TODAY = datetime.date(2026, 1, 1)


def rows(seed: int = 3) -> list[tuple[object, ...]]:
    """One tuple per judged product, in the order of HEADER."""
    drawn = random.Random(seed)
    found: list[tuple[object, ...]] = []
    for query in range(QUERIES):
        words = f"{drawn.choice(COLOURS)} {drawn.choice(KINDS)} {query}"
        for _ in range(PRODUCTS):
            match = drawn.choice((0.0, 0.5, 0.5, 1.0))
            rating = round(min(5.0, max(1.0, drawn.gauss(3.6, 0.9))), 1)
            brand, in_stock = drawn.choice(list(BRANDS)), drawn.random() < 0.8
            age = int(drawn.expovariate(1 / 200))
            liked = 2.2 * match + 0.5 * (rating - 3.6) + BRANDS[brand] + 0.6 * in_stock + drawn.gauss(0.0, 0.35)
            grade = sum(liked > limit for limit in (1.2, 2.0, 2.8))
            bm25 = round(max(0.0, 6.0 + 5.0 * match + drawn.gauss(0.0, 2.0)), 2)
            price, added = round(drawn.uniform(10, 200), 2), TODAY - datetime.timedelta(days=age)
            row = (words, f"p{len(found)}", grade, bm25, match, rating, price, brand, str(in_stock).lower(), added)
            found.append(row)
    return found


def write_table(path: Path) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(HEADER)
        writer.writerows(rows())


if __name__ == "__main__":
    write_table(Path(sys.argv[1]))
