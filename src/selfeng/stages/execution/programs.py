"""A program: code that imports tools of the library, and is called as one of them, without a
registration.
"""

import ast
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime

from selfeng.core.composition import Importable
from selfeng.core.errors import RequestError
from selfeng.core.events import Event, Witnessed
from selfeng.core.signature import UNREADABLE, SignatureError, parse_signature
from selfeng.core.tool import Need, Tool
from selfeng.core.verdict import CallLimits
from selfeng.synthesis.checks import module_problem
from selfeng.synthesis.suite.source import Suite

FUNCTION = "program"
"""The function that a program defines, and the module that it is."""
LONGEST = 100_000
"""Characters."""
_NETWORK = """
    aiohttp ftplib http.client http.server httpx imaplib logging.handlers poplib psycopg
    readcells.read_query requests smtplib socket socketserver ssl urllib.request urllib.robotparser
    urllib3 webbrowser websockets xml.sax xmlrpc
"""
"""Modules that a program may not use, as it would send requests to the hosts of its tools itself.
"""
_INDIRECT = "__dict__ __import__ compile eval exec getattr globals locals pandas readcells vars"
"""Names that may lead there: modules that read addresses, too, and names that are made of text."""
_REMEDY = (
    "import a tool of the library as `from NAME import NAME`, and compute with what it returns"
)


class Program(Tool):
    """The tools hold their own grants: a program itself needs none."""

    name: str = FUNCTION
    description: str = ""
    tests: str = ""
    digest: str = ""
    version: int = 0
    created_at: datetime = datetime.min.replace(tzinfo=UTC)
    imported_tools: tuple[Tool, ...]
    """Those that its code imports directly."""

    @property
    def needs(self) -> tuple[Need, ...]:
        return ()

    @property
    def witness_modules(self) -> dict[str, str]:
        """Its own, and those of the tools, which they import."""
        modules = {n: code for t in self.imported_tools for n, code in t.witness_modules.items()}
        return super().witness_modules | modules

    def notes(self, events: Iterable[Event]) -> list[str]:
        """Notes for a person on its tools and on the events of its call, in sentences."""
        suspect = [
            f"{tool.name} is suspect: a service that it asks answers otherwise than recorded."
            for tool in self.imported_tools
            if tool.standing == "suspect"
        ]
        names = ", ".join(tool.name for tool in self.imported_tools if tool.witnesses)
        doubts = [event for event in events if isinstance(event, Witnessed) and event.other]
        return suspect + [
            f"With another implementation of {names} it returns {doubt.other}." for doubt in doubts
        ]


def program_of(code: str, tools: Sequence[Tool]) -> Program:
    """The code as a program, pinned to the tools as they are; `tools` have the hosts that they may
    use.

    Raises:
        RequestError: it defines no function `program`, imports what is not there, or reaches for
            the network or its interpreter itself.
    """
    if len(code) > LONGEST:
        raise RequestError(f"the program is longer than {LONGEST:,} characters", "shorten it")
    importable = Importable(tools)
    try:
        signature = parse_signature(code, FUNCTION)
        imported, lock = importable.imported(code), importable.lock(code)
        problem = module_problem(code, signature, importable, lock) or _own_network(code, imported)
    except (SignatureError, *UNREADABLE) as error:
        remedy = f"define `def {FUNCTION}(...)`, which gets the arguments by name"
        raise RequestError(str(error), remedy) from error
    if problem:
        raise RequestError(problem, _REMEDY)
    return Program(
        code=code,
        signature=signature,
        requires=importable.requires(code),
        lock=lock,
        imported_tools=tuple(imported),
        network=tuple(dict.fromkeys(a for t in imported for a in t.network if not a.argument)),
        exchanges=tuple(exchange for tool in imported for exchange in tool.exchanges),
        limits=_largest([tool.limits for tool in imported]),
        witnesses=tuple(
            _importing(code, tool.name, module)
            for tool in imported
            for module in tool.witness_modules
        ),
    )


def _own_network(code: str, imported: Sequence[Tool]) -> str:
    """How the code itself could use the network; "" if it could not."""
    module, names = Suite(code, ""), set[str]()
    for node in module.nodes:
        match node:
            case ast.Import(names=items):
                names |= {item.name for item in items}
            case ast.ImportFrom(module=str(origin), names=items):
                names |= {f"{origin}.{item.name}" for item in items}
            case ast.Attribute(attr="__dict__" as attribute):
                names.add(attribute)
            case ast.Name() | ast.Attribute():
                names.add(module.dotted(node))
    connected = any(tool.network for tool in imported)
    refused = f"{_NETWORK} {_INDIRECT}" if connected else _NETWORK
    for name in refused.split():
        if any(f".{name}." in f".{used}." for used in names):
            return (
                f"the program uses `{name}`, through which it could reach the network itself; only "
                "the tools that it imports may"
            )
    return ""


def _largest(limits: Sequence[CallLimits]) -> CallLimits:
    """The limits of a call of any of the tools."""
    largest = {
        name: max((getattr(each, name) or 0 for each in limits), default=0) or None
        for name in CallLimits.model_fields
    }
    return CallLimits(**largest)


def _importing(code: str, name: str, module: str) -> str:
    """The code with the function `name` imported from another module."""
    tree = ast.parse(code)
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module == name:
            node.module = module
        elif isinstance(node, ast.Import):
            for item in (item for item in node.names if item.name == name):
                item.name, item.asname = module, name
    return ast.unparse(tree)
