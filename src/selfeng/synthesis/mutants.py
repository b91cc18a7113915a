"""Mutants of a module: the share that a suite notices shows how well it would notice other
mistakes.
"""

import ast
import asyncio
import math
import random
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import takewhile
from textwrap import indent
from typing import Any

from selfeng.core.protocols import Sandbox
from selfeng.core.value import Value
from selfeng.core.verdict import MUTANT_SEED, Alterations, Replay, SandboxJob, Verdict, Version
from selfeng.core.words import count

MOST = 20
"""Maximum number of mutants of one module; they are spread evenly over it, the same ones each time.
"""
FEWEST = 5
"""The share that a suite notices of fewer mutants is not measured."""
LITERALS = 2
"""How many literals of one table are changed: a test for each value of it proves little more."""
SPARE = 2
"""How many mutants more than must be noticed run first; the others run if that does not decide."""
SECONDS, LEAST_SECONDS, SLOWER = 5.0, 0.05, 5
"""Time limit of a mutant's run, and the least one; it is that many times what the tool itself took.
Some mutants never end, which counts as noticed.
"""

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
_PAIRS = (
    ("all", "any"),
    ("ceil", "floor"),
    ("endswith", "startswith"),
    ("find", "rfind"),
    ("index", "rindex"),
    ("ljust", "rjust"),
    ("lstrip", "rstrip"),
    ("max", "min"),
    ("removeprefix", "removesuffix"),
)
_OPPOSITES = {name: opposite for pair in _PAIRS for name, opposite in (pair, pair[::-1])}

Change = tuple[ast.AST, str, Any, ast.AST]
"""A node, one of its fields, the new value of the field, and the node whose line is shown."""


class Mutant(Value):
    line: int
    before: str
    """The line without its indentation; of a long one, the part around the change."""
    after: str
    code: str
    looping: bool = False
    """Whether the change is in a `while` loop, which may then never end."""

    @property
    def change(self) -> str:
        return f"line {self.line}: `{self.before}` became `{self.after}`"


class Strength(Value):
    """How much of what the code and its outcomes might be instead a suite notices."""

    killed: int
    mutants: int
    """Those that ran; 0 if fewer than five can be loaded, which would measure nothing."""
    survivors: tuple[Mutant, ...]
    replay: Replay = Replay()
    problem: str = ""
    """Why the failures of mutants prove nothing; then none of them counts as noticed."""

    @property
    def alterations(self) -> Alterations:
        if self.mutants:
            return Alterations(noticed=self.killed, tried=self.mutants)
        return Alterations(noticed=self.replay.noticed, tried=self.replay.tried)

    @property
    def score(self) -> float:
        """0..1: the share of alterations that is noticed."""
        return self.alterations.score

    @property
    def summary(self) -> str:
        """A sentence for people."""
        if self.mutants:
            return f"The tests notice {self.killed} of {count(self.mutants, 'mutant')}."
        altered = count(self.replay.tried, "altered outcome")
        return f"The tests notice {self.replay.noticed} of {altered}." if self.replay.tried else ""


async def strength(
    sandbox: Sandbox,
    job: SandboxJob,
    *,
    least_score: float = 1.0,
    green: Verdict | None = None,
    mutated: Strength | None = None,
) -> Strength:
    """How much a suite notices of mutants, and of altered outcomes. `green` is the verdict on the
    code, with its replay, and `mutated` what `noticed_mutants` has shown; both are done here if
    they are missing.

    Raises: SandboxUnavailable, SandboxFailed.
    """
    mutated = mutated or await noticed_mutants(
        sandbox,
        job,
        least_score=least_score,
        seconds=green.seconds if green else SECONDS,
    )
    thorough = bool(least_score and not mutated.mutants)
    replay, problem = green.replay if green else None, ""
    if thorough or replay is None:
        again = Version(code=job.code, whole=True, replay="thorough" if thorough else "quick")
        (replayed,) = await sandbox.verify_versions(job, [again])
        replay = replayed.replay or Replay()
        if not replayed.passed:
            problem = replayed.problem or "the tool failed when the suite was run once more"
    update = {"replay": replay, "problem": problem or mutated.problem}
    return mutated.model_copy(update=update)


async def noticed_mutants(
    sandbox: Sandbox,
    job: SandboxJob,
    *,
    least_score: float,
    seconds: float,
) -> Strength:
    """Run the suite on mutants of code that passes it in `seconds`, and on the code itself after
    them: what fails there by itself would make every mutant look noticed.

    `least_score` is the share, 0..1, that the suite should notice. No more mutants run
    than show whether it does, those that may never end last; 0: no mutants are made.

    Raises: SandboxUnavailable, SandboxFailed.
    """
    candidates = await asyncio.to_thread(mutants, job.code) if least_score else []
    # As the mutants are: without comments, and with other lines.
    control = _unparsed(ast.parse(job.code))
    # In both containers, if there are two.
    controls = [Version(code=control, whole=True, apart=False)] * 2
    limit = min(SECONDS, max(LEAST_SECONDS, SLOWER * seconds))
    ran: dict[int, Verdict] = {}
    controls_passed = False
    order = sorted(range(len(candidates)), key=lambda n: (candidates[n].looping, n % 3))
    least = max(FEWEST, math.ceil(least_score * len(candidates)))
    for part in (order[: least + SPARE], order[least + SPARE :]):
        if not part or (ran and not controls_passed) or _killed(ran) >= least:
            break
        versions = [Version(code=candidates[n].code, apart=False) for n in part]
        *verdicts, first_control, second_control = await sandbox.verify_versions(
            job, [*versions, *controls], limit
        )
        if not (first_control.passed and second_control.passed):  # it may only be slow
            first_control, second_control = await sandbox.verify_versions(job, controls)
        controls_passed = first_control.passed and second_control.passed
        ran |= zip(part, verdicts, strict=True)
    loaded = [(candidates[n], verdict) for n, verdict in sorted(ran.items()) if verdict.loaded]
    problem = ""
    if len(ran) >= FEWEST and len(loaded) * 2 < len(ran):
        problem = (
            f"{len(ran) - len(loaded)} of {len(ran)} mutants can't be loaded, so what the suite "
            "notices can't be measured: a tool must not test itself while it is loaded"
        )
    elif ran and not controls_passed:
        problem = (
            "the tool fails where its mutants run, so their failures prove nothing: it keeps state "
            "between runs, or looks at its own source, or at what runs beside it"
        )
    survivors = tuple(mutant for mutant, verdict in loaded if problem or verdict.passed)
    measured = len(loaded) >= FEWEST
    return Strength(
        killed=len(loaded) - len(survivors) if measured else 0,
        mutants=len(loaded) if measured else 0,
        survivors=survivors,
        problem=problem,
    )


def _killed(ran: Mapping[int, Verdict]) -> int:
    return sum(verdict.loaded and not verdict.passed for verdict in ran.values())


def mutants(code: str) -> list[Mutant]:
    """At most `MOST` modules, each with one thing changed: an operator, a constant, a condition, an
    argument, a returned value, or an expression that became a part of itself.
    """
    module, chance = ast.parse(code), random.Random(MUTANT_SEED)
    nodes = list(ast.walk(module))
    printed, spared = _PrintedModule(module, nodes), _spared(nodes, chance)
    modules = {
        alias.asname or alias.name.partition(".")[0]
        for node in nodes
        if isinstance(node, ast.Import)
        for alias in node.names
    }
    whiles = [node for node in nodes if isinstance(node, ast.While)]
    loops = {id(node) for loop in whiles for node in ast.walk(loop)}
    changes = [
        change
        for node in nodes
        if id(node) not in spared
        for change in (*_changes(node), *_simplifications(node, modules))
        if id(change[3]) not in spared
    ]
    mutants_by_source: dict[str, tuple[int, Mutant]] = {}
    for place in _spread([_line(site) for *_, site in changes], chance):
        node, field, new, site = changes[place]
        source = printed.changed(node, field, new)
        if source != printed.source:
            before, after = _difference(printed.source, source)
            mutant = Mutant(
                line=_line(site),
                before=before,
                after=after,
                code=source,
                looping=id(site) in loops,
            )
            mutants_by_source.setdefault(source, (place, mutant))
        if len(mutants_by_source) == MOST:
            break
    return [
        mutant for _, mutant in sorted(mutants_by_source.values(), key=lambda placed: placed[0])
    ]


class _PrintedModule:
    """The source of a syntax tree, in which a change prints only the statement around it again."""

    def __init__(self, module: ast.Module, nodes: Sequence[ast.AST]) -> None:
        self._module, self.source = module, _unparsed(module)
        self._lines = self.source.splitlines(keepends=True)
        self._parents = {child: node for node in nodes for child in ast.iter_child_nodes(node)}
        statements = [n for n in nodes if isinstance(n, ast.stmt)]
        again = [n for n in ast.walk(ast.parse(self.source)) if isinstance(n, ast.stmt)]
        self._places = dict(zip(statements, again, strict=True))

    def changed(self, node: ast.AST, field: str, new: object) -> str:
        """The source with another value of a field; the tree stays as it is."""
        around = self._around(node)
        old = getattr(node, field)
        setattr(node, field, new)
        try:
            if around is None:
                return _unparsed(self._module)
            first, last = self._span(around)
            return "".join([*self._lines[:first], self._statement(around), *self._lines[last:]])
        finally:
            setattr(node, field, old)

    def _around(self, node: ast.AST | None) -> ast.stmt | None:
        """The innermost statement with the node that is printed the same by itself: an `elif`, a
        decorated function, or a text of several lines is not.
        """
        while node is not None:
            if isinstance(node, ast.stmt):
                first, last = self._span(node)
                if self._statement(node) == "".join(self._lines[first:last]):
                    return node
            node = self._parents.get(node)
        return None

    def _span(self, statement: ast.stmt) -> tuple[int, int]:
        """Its lines, from 0, the last one excluded."""
        place = self._places[statement]
        return place.lineno - 1, place.end_lineno or place.lineno

    def _statement(self, statement: ast.stmt) -> str:
        return indent(_unparsed(statement), " " * self._places[statement].col_offset)


def _spread(lines: Sequence[int], chance: random.Random) -> list[int]:
    """All places in random order: one of each line first, then another one of each, and so on."""
    order, earlier = chance.sample(range(len(lines)), len(lines)), Counter[int]()
    turns: dict[int, int] = {}
    for place in order:
        turns[place] = earlier[lines[place]]
        earlier[lines[place]] += 1
    return sorted(order, key=turns.__getitem__)


def _unparsed(node: ast.AST) -> str:
    return ast.unparse(node) + "\n"


def _line(node: ast.AST) -> int:
    return next(n.lineno for n in ast.walk(node) if isinstance(n, ast.stmt | ast.expr))


def _spared(nodes: Sequence[ast.AST], chance: random.Random) -> set[int]:
    """The nodes, by `id`, that are not changed: of the literals of each table all but a few, and
    what no test of results notices: annotations, decorators, docstrings, and what errors say.
    """
    tables = [node for node in nodes if isinstance(node, _TABLES)]
    inner = {id(n) for table in tables for n in ast.walk(table) if n is not table}
    spared = {id(n) for node in nodes for part in _unnoticed(node) for n in ast.walk(part)}
    for table in tables:
        literals = [id(n) for n in ast.walk(table) if isinstance(n, ast.Constant)]
        if id(table) not in inner:
            spared |= {*literals} - {*chance.sample(literals, min(len(literals), LITERALS))}
    return spared


def _unnoticed(node: ast.AST) -> Iterator[ast.AST]:
    match node:
        case ast.Raise(exc=ast.expr() as part) | ast.arg(annotation=ast.expr() as part):
            yield part
        case ast.AnnAssign(annotation=part) | ast.FormattedValue(format_spec=ast.expr() as part):
            yield part
        case ast.Expr(value=ast.Constant()):
            yield node
        case ast.FunctionDef() | ast.AsyncFunctionDef():
            yield from node.decorator_list
            if node.returns:
                yield node.returns
        case ast.ClassDef():
            yield from node.decorator_list


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


def _alike(first: str, second: str) -> int:
    """How many characters two texts begin with in common."""
    pairs = zip(first, second, strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))


def _changes(node: ast.AST) -> Iterator[Change]:
    """The changes of fields that mutate a node."""
    replacements: list[tuple[str, Any]] = []
    match node:
        case ast.BinOp(op=op) | ast.BoolOp(op=op) | ast.AugAssign(op=op) if type(op) in _SWAPS:
            replacements = [("op", _SWAPS[type(op)]())]
        case ast.Compare(ops=[op, *operators]) if type(op) in _SWAPS:
            replacements = [("ops", [_SWAPS[type(op)](), *operators])]
        case ast.Constant(value=bool() as truth):
            replacements = [("value", not truth)]
        case ast.Constant(value=int() | float() as number):
            replacements = [("value", number + 1)]
        case ast.Constant(value=str() as text):
            replacements = [("value", f"XX{text}XX")]
        case ast.Return(value=ast.expr() as value) if not (
            isinstance(value, ast.Constant) and value.value is None
        ):
            replacements = [("value", ast.Constant(None))]
        case ast.If(test=test) | ast.While(test=test) | ast.IfExp(test=test) if not isinstance(
            test, ast.Constant
        ):
            replacements = [("test", ast.Constant(False))]
        case ast.comprehension(ifs=[_, *_]):
            replacements = [("ifs", [])]
        case ast.Slice():
            replacements = [
                (bound, None) for bound in ("lower", "upper", "step") if getattr(node, bound)
            ]
        case ast.FormattedValue(format_spec=ast.expr()):
            replacements = [("format_spec", None)]
        case ast.Attribute(attr=name) if name in _OPPOSITES:
            replacements = [("attr", _OPPOSITES[name])]
        case ast.Call(func=func, args=args, keywords=keywords):
            if isinstance(func, ast.Name) and func.id in _OPPOSITES:
                replacements.append(("func", ast.Name(_OPPOSITES[func.id])))
            elif len(args) > 1:
                replacements += [("args", args[:-1]), ("args", [args[1], args[0], *args[2:]])]
            replacements += [
                ("keywords", [k for k in keywords if k is not keyword]) for keyword in keywords
            ]
    return ((node, field, new, node) for field, new in replacements)


def _simplifications(node: ast.AST, modules: Collection[str]) -> Iterator[Change]:
    """The changes that put a part of what a field holds in place of it."""
    if isinstance(node, ast.Expr):
        return  # whose call is left out as a whole
    for field, value in ast.iter_fields(node):
        for place, child in enumerate(value if isinstance(value, list) else [value]):
            if part := _part(child, modules):
                new = (
                    [*value[:place], part, *value[place + 1 :]] if isinstance(value, list) else part
                )
                yield node, field, new, child


def _part(node: object, modules: Collection[str]) -> ast.AST | None:
    """The rest of a node without its effect: a call's argument, a method's object."""
    match node:
        case ast.Expr(value=ast.Call() | ast.Await()) | ast.Delete():
            return ast.Pass()
        case ast.UnaryOp(op=ast.Not() | ast.USub(), operand=part):
            return part
        case ast.Call(func=ast.Attribute(value=part)) if not (
            isinstance(part, ast.Name) and part.id in modules
        ):
            return part
        case ast.Call(args=[part, *_]) if not isinstance(part, ast.Starred):
            return part
    return None
