"""Stubs: modules with the signature of a tool that do nothing right. An honest suite fails on each
of them.
"""

from selfeng.core.signature import Signature
from selfeng.core.value import Value

NOT_WRITTEN = "NotWritten"
"""Name of the exception of the module that raises."""
DISTINCT = 2
"""How many of the stubs that return something return values of types of their own."""


class Stub(Value):
    does: str
    """The function's behaviour, as the end of a sentence."""
    code: str


def stub(signature: Signature) -> str:
    """The module that raises; no honest test passes on it.

    It raises an exception of its own, so that only tests which accept any exception at all pass.
    """
    return (
        f"class {NOT_WRITTEN}(Exception):\n    pass\n\n\n{_head(signature)}    raise "
        f"{NOT_WRITTEN}('{signature.function} is not written yet')\n"
    )


_ZEROS: dict[str, str] = {
    "int": "0",
    "float": "0.0",
    "str": "''",
    "bool": "False",
    "list": "[]",
    "dict": "{}",
    "tuple": "()",
    "set": "set()",
}
"""The least value of a type; not of `bool`, as half of all honest answers are False."""


def returning_stubs(signature: Signature) -> tuple[Stub, ...]:
    """Modules that return values unrelated to the task, first the `DISTINCT` ones; a test that
    passes on all of them accepts any value.

    A comparison with a literal passes on one of them at most, and of two different calls, such as
    `f(f(x)) == f(x)`, on two. One of a call with itself passes on all, however it is written.
    """
    names = [p.name for p in signature.parameters]
    arguments = names[0] if len(names) == 1 else f"({', '.join(names)})"
    zero = _ZEROS.get(signature.returns.partition("[")[0])
    return (
        Stub(does="returns None", code=f"{_head(signature)}    return None\n"),
        Stub(
            does="returns some number for its arguments",
            code=f"from zlib import crc32\n\n\n{_head(signature)}    return "
            f"crc32(repr({arguments}).encode()) % 9973\n",
        ),
        Stub(does="returns its arguments", code=f"{_head(signature)}    return {arguments}\n"),
        *(
            [Stub(does=f"always returns {zero}", code=f"{_head(signature)}    return {zero}\n")]
            if zero
            else []
        ),
    )


def _head(signature: Signature) -> str:
    parameters = ", ".join(
        p.name + ("" if p.default is None else f"={p.default}") for p in signature.parameters
    )
    return f"def {signature.function}({parameters}):\n"
