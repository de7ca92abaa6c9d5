"""Files for a Vespa application: rank profiles, the model, and queries."""

from __future__ import annotations

from rankforce.export.bundles.request_files import WORDS, Bundled, json_text, readme


def files(bundled: Bundled) -> dict[str, str]:
    """Profiles: the features, the model's functions if it is no file of trees, and the ranking."""
    features = f"{bundled.name}_features"
    made = {f"schemas/SCHEMA/{features}.profile": _feature_profile(features, bundled.features)}
    if bundled.contents.startswith("{"):
        made[f"models/{bundled.name}.json"] = bundled.contents
        parent, score = features, f'lightgbm("{bundled.name}.json")'
    else:
        parent, score = f"{bundled.name}_model", "rf_score()"
        head = f"rank-profile {bundled.name} inherits default {{"
        assert bundled.contents.startswith(head)
        made[f"schemas/SCHEMA/{parent}.profile"] = bundled.contents.replace(
            head, f"rank-profile {parent} inherits {features} {{", 1
        )
    made[f"schemas/SCHEMA/{bundled.name}.profile"] = (
        f"rank-profile {bundled.name} inherits {parent} {{\n"
        "    first-phase {\n        expression: nativeRank\n    }\n"
        f"    second-phase {{\n        expression: {score}\n        rerank-count: 100\n    }}\n}}\n"
    )
    search = {"yql": "select * from sources * where userQuery()", "query": WORDS}
    return made | {
        "log.json": json_text({**search, "ranking": features, "hits": 100}),
        "query.json": json_text({**search, "ranking": bundled.name, "hits": 10}),
        "README.md": _readme(bundled, features),
    }


def _feature_profile(name: str, features: tuple[str, ...]) -> str:
    functions = "".join(
        f"    function {feature}() {{\n        expression: attribute({feature})\n    }}\n"
        for feature in features
        if "(" not in feature
    )
    listed = "".join(f"        {feature}\n" for feature in features)
    return f"rank-profile {name} inherits default {{\n{functions}    match-features {{\n{listed}    }}\n}}\n"


def _readme(bundled: Bundled, features: str) -> str:
    post = 'curl -s -X POST -H "Content-Type: application/json"'
    return readme(
        f"{bundled.name}: a model for Vespa",
        bundled,
        {
            "Copy `schemas/SCHEMA` and `models` into the application package, SCHEMA being the name of the schema, and "
            "deploy it. Functions of features are skeletons: each reads an attribute of its own name.": (
                "vespa deploy --wait 300 APPLICATION"
            ),
            "Rank with it: the 100 best of the first phase are ranked anew.": (
                f'{post} "$VESPA/search/" --data @query.json'
            ),
            f"Log features for the next training (profile `{features}`), and read them.": (
                f'{post} "$VESPA/search/" --data @log.json > QUERY-ID.json\n'
                "rankforce features QUERY-ID.json --query file --judgments judgments.csv --out train.parquet"
            ),
        },
    )
