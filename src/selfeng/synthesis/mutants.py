"""Mutants of a module: the share that a suite notices shows how well it would notice other
mistakes.
"""

import ast
import asyncio
import copy
import random
from collections.abc import Callable, Mapping
from itertools import takewhile
from typing import Literal

from selfeng.core.protocols import NO_MODULES, Sandbox
from selfeng.core.value import Value
from selfeng.core.verdict import Replay, Version
from selfeng.core.words import count

MOST = 20
"""Maximum number of mutants of one module; they are spread evenly over it, the same ones each time.
"""
LITERALS = 2
"""How many literals of one table are changed: a test for each value of it proves little more."""
FEWEST = 5
"""Mutants that a score needs: of fewer, it says little."""
SECONDS = 5.0
"""Time limit of a mutant's run: some never end, which counts as noticed."""

_AROUND = 50
"""Characters of a line that are shown on each side of a change."""
_TABLES = ast.Dict | ast.List | ast.Set | ast.Tuple
_SWAPS: dict[type[ast.AST], type[ast.AST]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Add,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.FloorDiv,
    ast.Pow: ast.Mult,
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.And: ast.Or,
    ast.Or: ast.And,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
}


class Mutant(Value):
    line: int
    before: str
    """The line without its indentation; of a long one, the part around the change."""
    after: str
    code: str
    """The whole changed module."""

    @property
    def change(self) -> str:
        """The change in words."""
        return f"line {self.line}: `{self.before}` became `{self.after}`"


class Strength(Value):
    """How much of what the code and its outcomes might be instead a suite notices."""

    killed: int
    mutants: int
    """Those that can be loaded."""
    survivors: tuple[Mutant, ...]
    replay: Replay = Replay()
    problem: str = ""
    """Why the failures of mutants prove nothing; then none of them counts as noticed."""

    @property
    def score(self) -> float:
        """0..1: the share of mutants that is noticed, of altered outcomes where there are too few
        mutants; 1 where there is nothing to alter either.
        """
        noticed, tried = (
            (self.killed, self.mutants)
            if self.mutants >= FEWEST
            else (self.replay.noticed, self.replay.tried)
        )
        return noticed / tried if tried else 1.0

    @property
    def summary(self) -> str:
        """A sentence for people."""
        if self.mutants >= FEWEST:
            return f"The tests notice {self.killed} of {count(self.mutants, 'mutant')}."
        altered = count(self.replay.tried, "altered outcome")
        return f"The tests notice {self.replay.noticed} of {altered}." if self.replay.tried else ""


async def strength(
    sandbox: Sandbox,
    name: str,
    code: str,
    tests: str,
    *,
    measured: bool = True,
    library: Mapping[str, str] = NO_MODULES,
) -> Strength:
    """Run the suite on mutants of code that passes it, and on the code itself after them: what
    fails there by itself would make every mutant look noticed. Beside them, replay it with altered
    outcomes. `measured`: False leaves the mutants out.

    Raises: SandboxUnavailable, SandboxFailed.
    """
    made = await asyncio.to_thread(mutants, code) if measured else []
    # As the mutants are: without comments, and with other lines.
    control = await asyncio.to_thread(lambda: ast.unparse(ast.parse(code)) + "\n")
    # In both containers, if there are two.
    controls = [Version(code=control, whole=True, apart=False)] * 2
    thorough: Literal["quick", "thorough"] = "thorough" if len(made) < FEWEST else "quick"
    (replayed,), (*verdicts, one, other) = await asyncio.gather(
        sandbox.verify_versions(
            name, [Version(code=code, whole=True, replay=thorough)], tests, library=library
        ),
        sandbox.verify_versions(
            name,
            [*(Version(code=mutant.code, apart=False) for mutant in made), *controls],
            tests,
            SECONDS,
            library=library,
        ),
    )
    loaded = [(m, v) for m, v in zip(made, verdicts, strict=True) if v.loaded]
    if len(loaded) < FEWEST <= len(made):
        (replayed,) = await sandbox.verify_versions(
            name, [Version(code=code, whole=True, replay="thorough")], tests, library=library
        )
    if not (one.passed and other.passed):  # it may only be slow
        one, other = await sandbox.verify_versions(name, controls, tests, library=library)
    problem = ""
    if not (one.passed and other.passed):
        problem = (
            "the tool fails where its mutants run, so their failures prove nothing: it keeps state "
            "between runs, or looks at its own source, or at what runs beside it"
        )
    elif not replayed.passed:
        problem = replayed.problem or "the tool failed when the suite was run once more"
    survivors = tuple(mutant for mutant, verdict in loaded if problem or verdict.passed)
    return Strength(
        killed=len(loaded) - len(survivors),
        mutants=len(loaded),
        survivors=survivors,
        replay=replayed.replay or Replay(),
        problem=problem,
    )


def mutants(code: str, most: int = MOST) -> list[Mutant]:
    """At most `most` modules, each with one thing changed: an operator, a comparison, a constant, a
    condition, a returned value.
    """
    module = ast.parse(code)
    unchanged, chance = ast.unparse(module), random.Random(0)
    spared = _spared(module, chance)
    places = [
        place
        for place, node in enumerate(ast.walk(module))
        if _change(node) and id(node) not in spared
    ]
    found: dict[str, tuple[int, Mutant]] = {}
    for place in chance.sample(places, len(places)):
        changed = copy.deepcopy(module)
        target = next(node for at, node in enumerate(ast.walk(changed)) if at == place)
        statement, change = _statement_of(target, changed), _change(target)
        assert change
        before = ast.unparse(statement)
        change()
        source = ast.unparse(changed)
        if source != unchanged:
            old, new = _difference(before, ast.unparse(statement))
            line = getattr(target, "lineno", statement.lineno)
            mutant = Mutant(line=line, before=old, after=new, code=source + "\n")
            found.setdefault(source, (place, mutant))
        if len(found) == most:
            break
    return [mutant for _, mutant in sorted(found.values(), key=lambda placed: placed[0])]


def _spared(module: ast.Module, chance: random.Random) -> set[int]:
    """The nodes, by `id`, that are not changed: of the literals of each table all but a few."""
    tables = [node for node in ast.walk(module) if isinstance(node, _TABLES)]
    inner = {id(n) for table in tables for n in ast.walk(table) if n is not table}
    spared = set[int]()
    for table in tables:
        literals = [id(n) for n in ast.walk(table) if isinstance(n, ast.Constant) and _change(n)]
        if id(table) not in inner:
            spared |= {*literals} - {*chance.sample(literals, min(len(literals), LITERALS))}
    return spared


def _statement_of(node: ast.AST, module: ast.Module) -> ast.stmt:
    """The innermost statement with the node."""
    return [
        outer
        for outer in ast.walk(module)
        if isinstance(outer, ast.stmt) and any(inner is node for inner in ast.walk(outer))
    ][-1]


def _difference(before: str, after: str) -> tuple[str, str]:
    """The first line in which two sources differ, in both; a long one is cut on both sides."""
    lines = zip(before.splitlines(), after.splitlines(), strict=False)
    old, new = next((old.strip(), new.strip()) for old, new in lines if old != new)
    same = _alike(old, new)
    same_at_end = _alike(old[same:][::-1], new[same:][::-1])
    start, spare = max(0, same - _AROUND), max(0, same_at_end - _AROUND)

    def cut(line: str) -> str:
        end = len(line) - spare
        return ("…" if start else "") + line[start:end] + ("…" if spare else "")

    return cut(old), cut(new)


def _alike(one: str, other: str) -> int:
    """How many characters two texts begin with in common."""
    pairs = zip(one, other, strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))


def _change(node: ast.AST) -> Callable[[], None] | None:
    """The change that mutates a node; None if there is none."""
    match node:
        case ast.BinOp(op=op) | ast.BoolOp(op=op) | ast.AugAssign(op=op) if type(op) in _SWAPS:
            return lambda: setattr(node, "op", _SWAPS[type(op)]())
        case ast.Compare(ops=[op, *_]) if type(op) in _SWAPS:
            return lambda: setattr(node, "ops", [_SWAPS[type(op)](), *node.ops[1:]])
        case ast.UnaryOp(op=ast.Not()):
            return lambda: setattr(node, "op", ast.UAdd())
        case ast.Constant(value=bool() as truth):
            return lambda: setattr(node, "value", not truth)
        case ast.Constant(value=int() as number):
            return lambda: setattr(node, "value", number + 1)
        case ast.Return(value=ast.expr() as value) if not (
            isinstance(value, ast.Constant) and value.value is None
        ):
            return lambda: setattr(node, "value", ast.Constant(None))
        case ast.If(test=test) | ast.While(test=test) | ast.IfExp(test=test) if not isinstance(
            test, ast.Constant
        ):
            return lambda: setattr(node, "test", ast.Constant(False))
    return None
