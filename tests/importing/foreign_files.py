"""Small files of every format that is imported, written by hand."""

from __future__ import annotations

import json
import struct
from typing import Any

LIGHTGBM_TEXT = """tree
version=v4
num_class=1
num_tree_per_iteration=1
label_index=0
max_feature_idx=2
objective=lambdarank
feature_names=bm25 clicks length
feature_infos=[0:1] [0:9] [0:99]
tree_sizes=300 60

Tree=0
num_leaves=3
num_cat=0
split_feature=0 2
split_gain=1.5 0.5
threshold=0.25 -3.5
decision_type=10 8
left_child=-1 -2
right_child=1 -3
leaf_value=0.125 -0.3 0.7
leaf_weight=1 2 3
leaf_count=10 20 30
internal_value=0 0
internal_weight=0 0
internal_count=60 50
is_linear=0
shrinkage=0.1


Tree=1
num_leaves=1
num_cat=0
leaf_value=0.5
is_linear=0
shrinkage=1


end of trees

feature_importances:
bm25=1

parameters:
[boosting: gbdt]
end of parameters
"""

LIGHTGBM_SETS = (
    (
        LIGHTGBM_TEXT.replace("num_cat=0\nsplit_feature=0 2", "num_cat=1\nsplit_feature=0 2", 1)
        .replace("threshold=0.25 -3.5\ndecision_type=10 8", "threshold=0.25 0\ndecision_type=10 9")
        .replace("internal_count=60 50\n", "internal_count=60 50\ncat_boundaries=0 2\ncat_threshold=5 8\n")
        .replace("feature_infos=[0:1] [0:9] [0:99]", "feature_infos=[0:1] [0:9] -1:2:0:35")
        .replace("[boosting: gbdt]\n", "[boosting: gbdt]\n[categorical_feature: 2]\n")
    )
    + "\npandas_categorical:"
    + json.dumps([[f"colour {k}" for k in range(36)]])
    + "\n"
)

RANKLIB_TEXT = """## LambdaMART
## No. of trees = 2
## No. of leaves = 3
## Learning rate = 0.1

<ensemble>
\t<tree id="1" weight="0.1">
\t\t<split>
\t\t\t<feature> 2 </feature>
\t\t\t<threshold> 0.5 </threshold>
\t\t\t<split pos="left">
\t\t\t\t<feature> 1 </feature>
\t\t\t\t<threshold> -1.5 </threshold>
\t\t\t\t<split pos="left">
\t\t\t\t\t<output> -1.25 </output>
\t\t\t\t</split>
\t\t\t\t<split pos="right">
\t\t\t\t\t<output> 0.3 </output>
\t\t\t\t</split>
\t\t\t</split>
\t\t\t<split pos="right">
\t\t\t\t<output> 2.0 </output>
\t\t\t</split>
\t\t</split>
\t</tree>
\t<tree id="2" weight="0.1">
\t\t<split>
\t\t\t<feature> 4 </feature>
\t\t\t<threshold> 0.0 </threshold>
\t\t\t<split pos="left">
\t\t\t\t<output> 0.75 </output>
\t\t\t</split>
\t\t\t<split pos="right">
\t\t\t\t<output> -0.1 </output>
\t\t\t</split>
\t\t</split>
\t</tree>
</ensemble>
"""
_TREES = RANKLIB_TEXT[RANKLIB_TEXT.index("<ensemble>") :]
RANKLIB_FOREST = "## Random Forests\n## No. of bags = 2\n" + _TREES + "\n" + _TREES.replace("0.75", "3.25")

LIGHTGBM_JSON: dict[str, Any] = {
    "name": "tree",
    "version": "v4",
    "num_class": 1,
    "num_tree_per_iteration": 1,
    "max_feature_idx": 2,
    "objective": "lambdarank",
    "average_output": False,
    "feature_names": ["bm25", "clicks", "length"],
    "tree_info": [
        {
            "tree_index": 0,
            "num_leaves": 2,
            "num_cat": 0,
            "tree_structure": {
                "split_index": 0,
                "split_feature": 1,
                "split_gain": 1.5,
                "threshold": 0.25,
                "decision_type": "<=",
                "default_left": True,
                "missing_type": "NaN",
                "left_child": {"leaf_index": 0, "leaf_value": 0.1, "leaf_count": 3},
                "right_child": {"leaf_index": 1, "leaf_value": -0.1, "leaf_count": 4},
            },
        }
    ],
}

LIGHTGBM_JSON_SETS: dict[str, Any] = json.loads(json.dumps(LIGHTGBM_JSON))
LIGHTGBM_JSON_SETS["tree_info"][0]["tree_structure"] |= {"decision_type": "==", "threshold": "0||2||35"}
LIGHTGBM_JSON_SETS |= {
    "feature_infos": {"clicks": {"min_value": -1, "max_value": 35, "values": [-1, 2, 0, 35]}},
    "pandas_categorical": [[f"colour {k}" for k in range(36)]],
}

XGBOOST_JSON: dict[str, Any] = {
    "learner": {
        "attributes": {},
        "feature_names": [],
        "gradient_booster": {
            "name": "gbtree",
            "model": {
                "gbtree_model_param": {"num_parallel_tree": "1", "num_trees": "1"},
                "iteration_indptr": [0, 1],
                "trees": [
                    {
                        "base_weights": [0.0, 0.5, -0.5],
                        "categories": [],
                        "default_left": [1, 0, 0],
                        "left_children": [1, -1, -1],
                        "right_children": [2, -1, -1],
                        "loss_changes": [1.5, 0.0, 0.0],
                        "split_conditions": [0.25, 0.5, -0.5],
                        "split_indices": [1, 0, 0],
                        "split_type": [0, 0, 0],
                        "sum_hessian": [7.5, 3.5, 4.0],
                        "tree_param": {"num_nodes": "3", "num_feature": "2", "size_leaf_vector": "1"},
                    }
                ],
            },
        },
        "learner_model_param": {"base_score": "[5E-1]", "num_class": "0", "num_feature": "2", "num_target": "1"},
        "objective": {"name": "rank:ndcg"},
    },
    "version": [3, 2, 0],
}

XGBOOST_SETS: dict[str, Any] = json.loads(json.dumps(XGBOOST_JSON))
XGBOOST_SETS["learner"]["gradient_booster"]["model"]["trees"][0] |= {
    "categories": [0, 2, 35],
    "categories_nodes": [0],
    "categories_segments": [0],
    "categories_sizes": [3],
    "split_type": [1, 0, 0],
}
XGBOOST_SETS["learner"]["gradient_booster"]["model"]["cats"] = {
    "enc": [
        {"offsets": [], "values": []},
        {"offsets": list(range(37)), "values": [48 + k for k in range(36)]},
    ],
    "feature_segments": [0, 0, 36],
    "sorted_idx": list(range(36)),
}

XGBOOST_DUMP: list[dict[str, Any]] = [
    {
        "nodeid": 0,
        "depth": 0,
        "split": "bm25",
        "split_condition": 0.25,
        "yes": 1,
        "no": 2,
        "missing": 2,
        "children": [{"nodeid": 1, "leaf": 0.5}, {"nodeid": 2, "leaf": -0.5}],
    },
    {"nodeid": 0, "leaf": 0.25},
]

CATBOOST_JSON: dict[str, Any] = {
    "features_info": {
        "float_features": [
            {"borders": [0.5], "feature_id": "", "feature_index": k, "flat_feature_index": k, "has_nans": False}
            | {"nan_value_treatment": "AsIs"}
            for k in range(2)
        ]
    },
    "oblivious_trees": [
        {
            "leaf_values": [0.1, 0.2, 0.3, 0.4],
            "leaf_weights": [1, 2, 3, 4],
            "splits": [
                {"border": 0.5, "float_feature_index": k, "split_index": k, "split_type": "FloatFeature"}
                for k in (0, 1)
            ],
        }
    ],
    "scale_and_bias": [1, [0.25]],
}


def as_ubjson(value: Any) -> bytes:
    """A value as XGBoost writes it; lists of numbers as typed arrays."""
    if isinstance(value, dict):
        return b"{" + b"".join(_text(key) + as_ubjson(item) for key, item in value.items()) + b"}"
    if isinstance(value, str):
        return b"S" + _text(value)
    if isinstance(value, list):
        for kind, form, allowed in ((b"l", ">i", (int,)), (b"d", ">f", (int, float))):
            if value and all(type(item) in allowed for item in value):
                packed = b"".join(struct.pack(form, item) for item in value)
                return b"[$" + kind + b"#" + _length(len(value)) + packed
        return b"[#" + _length(len(value)) + b"".join(map(as_ubjson, value))
    if value is None or isinstance(value, bool):
        return {None: b"Z", True: b"T", False: b"F"}[value]
    return b"D" + struct.pack(">d", value) if isinstance(value, float) else b"L" + struct.pack(">q", value)


def _length(count: int) -> bytes:
    return b"L" + struct.pack(">q", count)


def _text(text: str) -> bytes:
    return _length(len(text.encode())) + text.encode()


FILES: dict[str, bytes] = {
    "LightGBM text": LIGHTGBM_TEXT.encode(),
    "LightGBM JSON": json.dumps(LIGHTGBM_JSON).encode(),
    "LightGBM text with sets": LIGHTGBM_SETS.encode(),
    "LightGBM JSON with sets": json.dumps(LIGHTGBM_JSON_SETS).encode(),
    "XGBoost JSON with sets": json.dumps(XGBOOST_SETS).encode(),
    "XGBoost JSON": json.dumps(XGBOOST_JSON).encode(),
    "XGBoost UBJSON": as_ubjson(XGBOOST_JSON),
    "XGBoost dump": json.dumps(XGBOOST_DUMP).encode(),
    "CatBoost JSON": json.dumps(CATBOOST_JSON).encode(),
    "RankLib text": RANKLIB_TEXT.encode(),
    "RankLib forest": RANKLIB_FOREST.encode(),
}
