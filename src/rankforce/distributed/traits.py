"""What must be the same for all members of a training, be they Dask's workers or processes of MPI."""

from __future__ import annotations

import hashlib
import platform
from collections.abc import Mapping

import numpy as np

from rankforce.console.wording import listed
from rankforce.errors import SettingsError
from rankforce.models.provenance import versions
from rankforce.training.members_alike import differences


def traits() -> dict[str, str]:
    """What decides the last bits of a model beside the data: by name."""
    from rankforce.compiling import jit

    features = getattr(np._core._multiarray_umath, "__cpu_features__", {})  # type: ignore[attr-defined]
    enabled = ",".join(sorted(name for name, there in features.items() if there))
    return {f"version of {name}": version for name, version in versions().items()} | {
        "processor (NUMBA_CPU_NAME sets it)": jit.cpu_target(),
        "C library": " ".join(platform.libc_ver()) or platform.platform(),
        "NumPy's processor features": hashlib.blake2b(enabled.encode(), digest_size=6).hexdigest(),
    }


def refuse_unlike(members: Mapping[str, Mapping[str, str]], kind: str) -> None:
    """Refuse members (by their names) whose models would have other last bits; ``kind`` is what they are called."""
    for trait, unlike, usual in differences(members):
        odd = [f"{name} ({value})" for name, value in unlike.items()]
        raise SettingsError(
            f"{kind} differ in their {trait}, which decides the last bits of a model: {listed(odd, written=str)}; "
            f"the others have {usual}. Use the same image and the same kind of machine for all, or leave these out"
        )
