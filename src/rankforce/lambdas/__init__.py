"""λ-functions, pairwise and listwise: what pulls the documents of a query up and down.

Public are the bases of one's own, the reader of written forms, every λ-function of this folder, and what the methods
of a listwise one may call.
"""

from __future__ import annotations

from collections.abc import Mapping

from rankforce.public_names import loaded_on_first_use

_HOME = {
    "LambdaFunction": "rankforce.lambdas.base",
    "PairwiseLambdaFunction": "rankforce.lambdas.pairwise",
    "ListwiseLambdaFunction": "rankforce.lambdas.listwise",
    "lambda_function": "rankforce.lambdas.catalogue",
    "value_if_moved": "rankforce.kernels.forces.listwise_forces",
    "change_if_swapped": "rankforce.kernels.forces.listwise_forces",
    "centre": "rankforce.kernels.forces.listwise_forces",
}


def _classes() -> Mapping[str, type]:
    from rankforce.lambdas.catalogue import lambda_function_classes

    return lambda_function_classes()


__all__ = [*_HOME]  # λ-functions, found by their files, are public, too
__getattr__, __dir__ = loaded_on_first_use(__name__, _HOME, _classes)
