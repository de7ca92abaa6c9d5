"""Warm-up reaches every kernel, or says why not."""

from __future__ import annotations

import importlib
import pkgutil

import pytest

import rankforce as rf
import rankforce.kernels
from rankforce.jit import KERNELS, PLAIN
from rankforce.rankers.warmup import NOT_WARMED, warm_up


@pytest.mark.skipif(PLAIN, reason="nothing is compiled")
def test_every_kernel_is_warmed_or_listed():
    for module in pkgutil.iter_modules(rankforce.kernels.__path__):
        importlib.import_module(f"rankforce.kernels.{module.name}")
    warmed = {kernel.name for kernel in warm_up([rf.NDCG(10)])}
    everything = {kernel.name for kernel in KERNELS if kernel.py_func.__module__.startswith("rankforce.")}
    assert everything - warmed <= set(NOT_WARMED)
    assert set(NOT_WARMED) <= everything


def test_a_measure_on_another_label_source_can_be_warmed():
    assert isinstance(warm_up([rf.CNDCG("clicks", 5)]), list)
