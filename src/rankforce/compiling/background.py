"""A second process that compiles a kernel while this one compiles the others.

Numba compiles one function at a time per process. What two processes compile, they share in the cache on disk. Before
the first tree of an installation half of the waiting is for one kernel.
"""

from __future__ import annotations

import atexit
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from rankforce.compiling import jit

LONGEST_WAIT = 120.0  # seconds: a process that is not done by then is given up

_RUN = """
import importlib, json, sys
sys.path[:] = json.loads(sys.argv[1])
getattr(importlib.import_module(sys.argv[2]), sys.argv[3])(*sys.argv[4:])
"""


def compile_meanwhile(
    kernel: jit.Kernel,
    first_kernel: jit.Kernel,
    call: Callable[..., None],
    *arguments: str,
    before_waiting: Callable[[], None] = lambda: None,
) -> None:
    """Start a process that compiles ``kernel`` by calling a function of ours; the first use of it here will wait.

    Instead of waiting idly, this process first calls ``before_waiting``, to compile what it will need afterwards. That
    must not hand work to other threads: whoever waits for the kernel keeps them from the compiler.

    Nothing is started where the kernel is compiled already, or need not be; where there is no place for compiled code
    to meet; and where ``first_kernel``, which this process needs before, is on disk: then there is nothing to do
    meanwhile. If the process fails, the kernel is compiled here.
    """
    if jit.PLAIN or not _is_python(sys.executable):
        return
    if kernel.compiled or not kernel.is_kept or kernel.is_on_disk or first_kernel.is_on_disk:
        return
    command = [sys.executable, "-c", _RUN, json.dumps(sys.path), call.__module__, call.__name__, *arguments]
    try:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env=os.environ | {"RANKFORCE_QUIET": "1"},
            start_new_session=True,  # Ctrl-C is for the training
        )
    except OSError:
        return

    def finish() -> None:
        before_waiting()
        try:
            process.wait(LONGEST_WAIT)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    parent = os.getpid()

    def end() -> None:
        if os.getpid() == parent:  # and not a forked child that ends before it
            process.kill()
            process.wait()

    atexit.register(end)
    kernel.awaits(finish)


def _is_python(executable: str | None) -> bool:
    """Whether this is an interpreter, and not a program that has one inside."""
    return bool(executable) and Path(str(executable)).name.lower().startswith("python")
