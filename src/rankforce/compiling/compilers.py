"""How Numba compiles our functions: each kernel whole and by itself, users' methods with checks that know their line.

The same kernel must be the same machine code whatever a process has compiled or loaded before. Numba shares in two
places. Functions that were not inlined are symbols that all libraries of a process share, and the first library that
brings one wins: a copy that was optimised elsewhere, with other roundings. Here they belong to their kernel. And what
Numba compiles for its own use it keeps for the next caller, with the flags of the first. Here each function of ours
begins with nothing.

Every index in a user's method is checked, and in what the method calls. An index out of bounds raises an
``IndexError`` whose traceback ends in the line of the user's method.
"""

from __future__ import annotations

import functools
from typing import Any

from rankforce.compiling.turns import TURN

# What a checked function of ours returns when an index is out of bounds: an error code (they begin with 1) that tells
# the user's method which called it to put its own line to the error.
NO_PLACE = 77


@functools.cache
def function_compiler() -> Any:
    """What compiles subroutines and methods of ours. Indices are checked where a checked method is the caller."""
    from numba.core import compiler, targetconfig

    class FunctionCompiler(compiler.Compiler):
        def __init__(self, typing: Any, target: Any, library: Any, args: Any, result: Any, flags: Any, locals: Any):
            caller = targetconfig.ConfigStack().top_or_none()
            if caller is not None and caller.boundscheck:
                flags.boundscheck = True
            super().__init__(typing, target, library, args, result, flags, locals)
            self.state.targetctx.cached_internal_func = {}
            if flags.boundscheck:
                self.state.targetctx.__class__ = _checked_context()  # a copy, made for this function

    return FunctionCompiler


@functools.cache
def kernel_compiler() -> Any:
    """What compiles kernels: into a library that shares no function with any other."""

    class KernelCompiler(function_compiler()):  # type: ignore[misc]  # made at run time
        def compile_extra(self, function: Any) -> Any:
            self.state.library = _kernel_library()(self.state.targetctx.codegen(), function.__qualname__)
            self.state.library.enable_object_caching()
            try:
                return super().compile_extra(function)
            except BaseException:  # Ctrl-C, too: others would wait for what does not come
                TURN.give_up()
                raise

    return KernelCompiler


@functools.cache
def _kernel_library() -> Any:
    from numba.core import codegen

    class KernelLibrary(codegen.JITCodeLibrary):
        def _optimize_final_module(self) -> None:
            super()._optimize_final_module()
            for function in self._final_module.functions:
                if not function.is_declaration and function.linkage.name == "linkonce_odr":
                    function.linkage = "internal"

    return KernelLibrary


@functools.cache
def method_compiler() -> Any:
    """What compiles users' methods: with checks, and errors that have the place of the statement that raised them."""
    from numba.core import compiler, lowering, typed_passes
    from numba.core.compiler_machinery import register_pass

    class Lower(lowering.Lower):
        def lower_inst(self, statement: Any) -> None:
            self.context.call_conv.place = self.loc
            super().lower_inst(statement)

    @register_pass(mutates_CFG=True, analysis_only=False)
    class Lowering(typed_passes.NativeLowering):
        _name = "rankforce_lowering"

        @property
        def lowering_class(self) -> Any:
            return Lower

    class MethodCompiler(function_compiler()):  # type: ignore[misc]  # made at run time
        def define_pipelines(self) -> Any:
            default_passes = compiler.DefaultPassBuilder.define_nopython_pipeline(self.state)
            passes = compiler.PassManager(default_passes.pipeline_name)
            for step, description in default_passes.passes:
                passes.add_pass(Lowering if step is typed_passes.NativeLowering else step, description)
            passes.finalize()
            return [passes]

    return MethodCompiler


@functools.cache
def _checked_context() -> Any:
    from numba.core import callconv, cpu

    class CallConvention(callconv.CPUCallConv):
        """Numba's, but that errors which it leaves without a place have one."""

        place: Any = None  # of the statement being compiled, in a user's method

        def return_user_exc(
            self, builder: Any, exc: Any, exc_args: Any = None, loc: Any = None, func_name: Any = None
        ) -> None:
            if loc is None and self.place is None and exc is IndexError and not hasattr(builder, "_in_try_block"):
                self.set_static_user_exc(builder, exc, exc_args)
                self._return_errcode_raw(builder, callconv.RETCODE_USEREXC.type(NO_PLACE))
                return
            super().return_user_exc(builder, exc, exc_args, loc or self.place, func_name or "method")

        def return_status_propagate(self, builder: Any, status: Any) -> None:
            if self.place is not None:
                with builder.if_then(builder.icmp_signed("==", status.code, status.code.type(NO_PLACE))):
                    super().return_user_exc(builder, IndexError, ("index is out of bounds",), self.place, "method")
            super().return_status_propagate(builder, status)

    class Context(cpu.CPUContext):
        @functools.cached_property
        def call_conv(self) -> Any:
            return CallConvention(self)

    return Context
