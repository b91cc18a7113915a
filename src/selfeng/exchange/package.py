"""Tools as a Python package: a wheel (https://packaging.python.org/specifications/) that pip
installs, and that is a plugin of `llm`.
"""

import ast
import base64
import hashlib
import pprint
import re
from collections.abc import Mapping, Sequence

from selfeng.core.composition import imports
from selfeng.core.errors import RequestError
from selfeng.exchange.archive import archive
from selfeng.exchange.exported_tool import ExportedTool, packages_of

_PREFIX = "llm_tools_"
_SEVERAL = f"{_PREFIX}selfeng"
_METADATA = """\
Metadata-Version: 2.1
Name: {name}
Version: {version}
Summary: {summary}
Requires-Python: >=3.11
Provides-Extra: llm
Requires-Dist: llm>=0.26; extra == "llm"
{requires}Description-Content-Type: text/markdown

{readme}"""
_WHEEL = """\
Wheel-Version: 1.0
Generator: selfeng
Root-Is-Purelib: true
Tag: py3-none-any
"""
_README = """\
Tools of a Self-Engineering Agent.

{lines}

```python
from {module} import {first}
```

`pip install '{name}[llm]'`, or `llm install` in the environment of [llm](https://llm.datasette.io),
lets its models call them: `llm -T {first} "…"`.
"""
_PLUGIN = '''\
"""The tools, for models that llm calls."""

import llm

from {module} import {names}

_TOOLS = {tools}


@llm.hookimpl
def register_tools(register):
    for function, description, schema in _TOOLS:
        register(
            llm.Tool(
                name=function.__name__,
                description=description,
                input_schema=schema,
                implementation=function,
            )
        )
'''


def wheel(tools: Sequence[ExportedTool]) -> tuple[str, bytes]:
    """File name and content of the wheel.

    Raises: RequestError: two of the tools need different versions of a third.
    """
    module = _module(tools)
    sources = _sources(tools)
    names = sorted(tool.draft.name for tool in tools)
    version = tools[0].version if len(tools) == 1 else 1
    files = {
        f"{module}/__init__.py": _init(names),
        f"{module}/_tools/__init__.py": "",
        f"{module}/llm_plugin.py": _plugin(module, tools),
        **{
            f"{module}/_tools/{name}.py": _relative(code, set(sources))
            for name, code in sources.items()
        },
    }
    info = f"{module}-{version}.dist-info"
    about = {
        f"{info}/METADATA": _metadata(module, version, tools, packages_of(sources.values())),
        f"{info}/WHEEL": _WHEEL,
        f"{info}/entry_points.txt": f"[llm]\n{module} = {module}.llm_plugin\n",
    }
    whole = {**files, **about}
    record = [*(_recorded(path, text) for path, text in whole.items()), f"{info}/RECORD,,"]
    whole[f"{info}/RECORD"] = "".join(f"{line}\n" for line in record)
    return f"{module}-{version}-py3-none-any.whl", archive(whole)


def _module(tools: Sequence[ExportedTool]) -> str:
    if len(tools) > 1:
        return _SEVERAL
    return _PREFIX + re.sub(r"_+", "_", tools[0].draft.name).strip("_")


def _sources(tools: Sequence[ExportedTool]) -> dict[str, str]:
    """The code of the tools and of those that they import."""
    sources = {tool.draft.name: tool.draft.code for tool in tools}
    for tool in tools:
        for name, code in tool.modules.items():
            if sources.setdefault(name, code) != code:
                raise RequestError(
                    f"{tool.draft.name} needs another version of {name} than the package has",
                    "export the tools one by one",
                )
    return sources


def _init(names: Sequence[str]) -> str:
    lines = [f"from ._tools.{name} import {name}" for name in names]
    listed = "".join(f'    "{name}",\n' for name in names)
    return "\n".join(lines) + f"\n\n__all__ = [\n{listed}]\n"


def _plugin(module: str, tools: Sequence[ExportedTool]) -> str:
    drafts = sorted((tool.draft for tool in tools), key=lambda draft: draft.name)
    rows = "".join(
        f"    ({d.name}, {d.description!r}, {_literal(d.signature.input_schema())}),\n"
        for d in drafts
    )
    names = ", ".join(draft.name for draft in drafts)
    return _PLUGIN.format(module=module, names=names, tools=f"[\n{rows}]")


def _literal(schema: Mapping[str, object]) -> str:
    return pprint.pformat(schema, width=100, sort_dicts=False).replace("\n", "\n    ")


def _metadata(
    module: str, version: int, tools: Sequence[ExportedTool], packages: Sequence[str]
) -> str:
    name = module.replace("_", "-")
    first = tools[0].draft
    summary = first.description if len(tools) == 1 else f"{len(tools)} tools"
    lines = "\n".join(f"- `{t.draft.signature}`: {t.draft.description}" for t in tools)
    return _METADATA.format(
        name=name,
        version=version,
        summary=" ".join(summary.split()),
        requires="".join(f"Requires-Dist: {package}\n" for package in packages),
        readme=_README.format(module=module, name=name, first=first.name, lines=lines),
    )


def _recorded(path: str, text: str) -> str:
    content = text.encode()
    digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).decode().rstrip("=")
    return f"{path},sha256={digest},{len(content)}"


def _relative(code: str, tools: set[str]) -> str:
    """The code with relative imports of the tools that are in the package, too."""
    module = ast.parse(code)
    lines = code.encode().split(b"\n")
    found = [
        node
        for node in ast.walk(module)
        if isinstance(node, ast.Import | ast.ImportFrom)
        and {name for name, _ in imports(ast.Module([node], []))} & tools
    ]
    for node in sorted(found, key=lambda n: (n.lineno, n.col_offset), reverse=True):
        first, last = node.lineno - 1, (node.end_lineno or node.lineno) - 1
        before, after = lines[first][: node.col_offset], lines[last][node.end_col_offset :]
        lines[first : last + 1] = [before + _relative_import(node, tools).encode() + after]
    return b"\n".join(lines).decode()


def _relative_import(node: ast.Import | ast.ImportFrom, tools: set[str]) -> str:
    if isinstance(node, ast.ImportFrom):
        return f"from .{node.module} import {', '.join(map(ast.unparse, node.names))}"
    return "; ".join(
        f"from . import {alias.name}" if alias.name in tools else f"import {ast.unparse(alias)}"
        for alias in node.names
    )
