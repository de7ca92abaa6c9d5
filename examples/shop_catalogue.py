"""A small shop with a search engine inside: SQLite's FTS5, which ranks by BM25. The tutorial is made of it.

    python examples/shop_catalogue.py shop          # writes log.jsonl, judgments.csv and clicks.csv into ./shop

Everything is made up and the same every time. Products have a kind, a colour, a material and a brand, and descriptions
that also name other things ("goes well with boots"), as descriptions do: words alone do not tell what is meant.
"""

from __future__ import annotations

import csv
import itertools
import json
import math
import random
import sqlite3
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

KINDS = ("shoes", "boots", "sandals", "jacket", "coat", "shirt", "bag", "hat", "gloves", "scarf")
COLOURS = ("red", "blue", "black", "white", "green", "brown")
MATERIALS = ("leather", "cotton", "wool", "canvas")
BRANDS = ("Alder", "Birch", "Cedar", "Elm")
FEATURES = ("bm25", "bm25_title", "bm25_description", "words_in_title", "rating", "sales", "price", "title_length")
SEED = 7


class Product(NamedTuple):
    id: str
    title: str
    description: str
    kind: str
    colour: str
    material: str
    brand: str
    price: float
    rating: float
    sales: int


def make_products(count: int = 800, seed: int = SEED) -> list[Product]:
    """The catalogue."""
    drawn = random.Random(seed)
    products = []
    for number in range(count):
        kind, colour, material, brand = map(drawn.choice, (KINDS, COLOURS, MATERIALS, BRANDS))
        others = drawn.sample([one for one in KINDS if one != kind], 2)
        title = f"{brand} {kind} {colour}" if drawn.random() < 0.7 else f"{colour} {material} {kind} by {brand}"
        description = (
            f"A {colour} {kind.rstrip('s')} made of {material}. Goes well with {others[0]}, {others[0]} in "
            f"{drawn.choice(COLOURS)}, and {others[1]}." + (f" Our best {kind}." if drawn.random() < 0.3 else "")
        )
        rating = round(min(5.0, max(1.0, drawn.gauss(3.6, 0.9))), 1)
        sales = int(drawn.expovariate(1 / 40) * (0.3 + rating / 5))
        price = round(drawn.uniform(10, 200), 2)
        products.append(Product(f"p{number}", title, description, kind, colour, material, brand, price, rating, sales))
    return products


def make_queries(count: int = 120, seed: int = SEED) -> dict[str, str]:
    """Query id → what the user types."""
    drawn = random.Random(seed + 1)
    every = [f"{colour} {kind}" for colour, kind in itertools.product(COLOURS, KINDS)]
    every += [f"{colour} {material} {kind}" for colour, material, kind in itertools.product(COLOURS, MATERIALS, KINDS)]
    return {f"q{number}": words for number, words in enumerate(drawn.sample(every, count))}


class Shop:
    """The products in a full-text index."""

    def __init__(self, products: list[Product]) -> None:
        self.products = {product.id: product for product in products}
        self.index = sqlite3.connect(":memory:")
        self.index.execute("CREATE VIRTUAL TABLE products USING fts5(id UNINDEXED, title, description)")
        rows = [(product.id, product.title, product.description) for product in products]
        self.index.executemany("INSERT INTO products VALUES (?, ?, ?)", rows)

    def search(self, words: str, limit: int = 40) -> list[str]:
        """Products with any of the words, the best by BM25 first."""
        found = self.index.execute(
            "SELECT id FROM products WHERE products MATCH ? ORDER BY bm25(products), id LIMIT ?",
            (" OR ".join(words.split()), limit),
        )
        return [name for (name,) in found]

    def features(self, words: str, documents: list[str]) -> dict[str, dict[str, float | None]]:
        """Features of documents for a query; None where a field does not match."""
        matched = " OR ".join(words.split())
        scores: dict[str, dict[str, float]] = {}
        for fields in ("title description", "title", "description"):
            asked = "SELECT id, -bm25(products) FROM products WHERE products MATCH ?"
            scores[fields] = dict(self.index.execute(asked, (f"{{{fields}}}: ({matched})",)).fetchall())
        made: dict[str, dict[str, float | None]] = {}
        for name in documents:
            product = self.products[name]
            title = product.title.lower().split()
            made[name] = {
                "bm25": scores["title description"].get(name),
                "bm25_title": scores["title"].get(name),
                "bm25_description": scores["description"].get(name),
                "words_in_title": sum(word in title for word in words.split()) / len(words.split()),
                "rating": product.rating,
                "sales": math.log1p(product.sales),
                "price": product.price,
                "title_length": float(len(title)),
            }
        return made


def grade(words: str, product: Product) -> int:
    """What a judge says: 0 for another kind of thing, up to 4 for what was asked for and is liked."""
    wanted = set(words.split())
    if product.kind not in wanted:
        return 0
    asked = [one for one in (product.colour, product.material) if one in wanted]
    wrong = len(wanted) - 1 - len(asked)
    return max(1, 3 - wrong) + (1 if not wrong and product.rating >= 4.0 else 0)


def judged(words: str, product: Product) -> int:
    """A grade by a judge who errs by one now and then."""
    drawn = random.Random(f"{words} {product.id}")
    wrong = drawn.choice((-1, 1)) if drawn.random() < 0.15 else 0
    return min(4, max(0, grade(words, product) + wrong))


def responses(shop: Shop, queries: dict[str, str]) -> Iterator[dict[str, Any]]:
    """What OpenSearch with its learning-to-rank plugin would log: a response per query, its id beside it."""
    for query, words in queries.items():
        hits = []
        for name, features in shop.features(words, shop.search(words)).items():
            logged = [{"name": key} | ({} if value is None else {"value": value}) for key, value in features.items()]
            hits.append({"_id": name, "fields": {"_ltrlog": [{"main": logged}]}})
        yield {"qid": query, "response": {"hits": {"hits": hits}}}


def clicks(shop: Shop, queries: dict[str, str], sessions: int = 30, seed: int = SEED) -> Iterator[tuple[Any, ...]]:
    """Users who look at the ten best by BM25 from the top, click on what is good, and stop when content."""
    drawn = random.Random(seed + 2)
    for query, words in queries.items():
        shown = shop.search(words, 10)
        for session in range(sessions):
            reading = True
            for position, name in enumerate(shown, start=1):
                clicked = reading and drawn.random() < 0.05 + 0.2 * grade(words, shop.products[name])
                yield f"{query}-{session}", query, name, position, int(clicked)
                reading = reading and drawn.random() < (0.3 if clicked else 0.85)


def write_files(folder: Path) -> None:
    """log.jsonl (features), judgments.csv and clicks.csv."""
    folder.mkdir(parents=True, exist_ok=True)
    shop, queries = Shop(make_products()), make_queries()
    with (folder / "log.jsonl").open("w", encoding="utf-8") as file:
        file.writelines(json.dumps(response) + "\n" for response in responses(shop, queries))
    with (folder / "judgments.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["query", "document", "grade"])
        for query, words in queries.items():
            # judges see what the engine finds, but for one in ten
            seen = (name for place, name in enumerate(shop.search(words)) if place % 10 != 9)
            writer.writerows((query, name, judged(words, shop.products[name])) for name in seen)
    with (folder / "clicks.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["session", "query", "document", "position", "clicked"])
        writer.writerows(clicks(shop, queries))


if __name__ == "__main__":
    write_files(Path(sys.argv[1] if len(sys.argv) > 1 else "shop"))
