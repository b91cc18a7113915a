"""The forms in which other programs get a tool: one Python file, with PEP 723 metadata, the tools
that it imports, and a command line that takes JSON and prints JSON; or an Agent Skill
(https://agentskills.io/specification), with instructions for agents, the script, and its tests.
"""

import ast
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from graphlib import TopologicalSorter

from selfeng.core.composition import imported_names, packages_of
from selfeng.core.packages import with_reader
from selfeng.core.signature import Parameter
from selfeng.core.tool import ToolDraft

_PYTHON = ">=3.11"
_METADATA = """\
# /// script
# requires-python = "{python}"
# dependencies = {packages}
# ///
"""
_LOADER = '''\
def {loader}():
    """Load the tools that this one imports."""
    import sys
    import types

    sources = {{
{sources}
    }}
    for name, source in sources.items():
        sys.modules[name] = module = types.ModuleType(name)
        exec(compile(source, f"{{name}}.py", "exec"), module.__dict__)


{loader}()
'''
_COMMAND_LINE = '''\


def {main}():
    """Call the tool with a JSON object, an argument or standard input, and print JSON."""
    import inspect
    import json
    import sys

    def plain(value):
        for method in ("tolist", "isoformat", "to_dict"):
            if hasattr(value, method):
                return getattr(value, method)()
        return list(value) if isinstance(value, (set, frozenset)) else str(value)

    usage = {usage}
    if sys.argv[1:] in (["-h"], ["--help"]):
        print(usage)
        return 0
    try:
        if len(sys.argv) == 1 and sys.stdin.isatty():
            raise TypeError("no arguments are given")
        given = json.loads(sys.stdin.read() if len(sys.argv) == 1 else " ".join(sys.argv[1:]))
        if not isinstance(given, dict):
            raise TypeError("the arguments are not a JSON object")
        inspect.signature({function}).bind(**given)
    except (TypeError, ValueError) as error:
        print(f"error: {{error}}\\n{{usage}}", file=sys.stderr)
        return 2
    try:
        print(json.dumps({function}(**given), default=plain))
    except Exception as error:
        print(f"{{type(error).__name__}}: {{error}}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    raise SystemExit({main}())
'''


@dataclass(frozen=True)
class ExportedTool:
    """A draft with everything that it needs elsewhere."""

    draft: ToolDraft
    version: int
    modules: Mapping[str, str]
    """Sources of the tools that it imports, directly or not, in the pinned versions, by name."""

    @property
    def packages(self) -> tuple[str, ...]:
        """The packages that it needs, as in `numpy==2.4.6`."""
        return packages_of((self.draft.code, *self.modules.values()), self.draft.lock)

    @property
    def ordered_modules(self) -> dict[str, str]:
        """The sources of the imported tools, and of the reader of cells, each after those that it
        imports itself.
        """
        modules = with_reader(self.modules, self.draft.code)
        graph = {name: imported_names(code) & set(modules) for name, code in modules.items()}
        return {name: modules[name] for name in TopologicalSorter(graph).static_order()}


def script(tool: ExportedTool) -> str:
    """The source of the file. `python NAME.py '{"text": "x"}'` calls the tool, `uv run` installs
    its packages first, and as a module it is the tool.
    """
    code, modules = tool.draft.code, tool.ordered_modules
    head, body = _split(code) if modules else ("", code)
    loader = _free("_load_imported_tools", code)
    parts = [_METADATA.format(python=_PYTHON, packages=json.dumps(tool.packages)), head]
    if modules:
        sources = ",\n".join(_entry(name, source) for name, source in modules.items())
        parts.append(_LOADER.format(loader=loader, sources=sources))
    command_line = _COMMAND_LINE.format(
        main=_free("_command_line", code),
        function=tool.draft.name,
        usage=repr(_usage(tool)),
    )
    return "\n".join(filter(None, [*parts, body.rstrip("\n") + "\n"])) + command_line


def _split(code: str) -> tuple[str, str]:
    """The lines that have to stay at the top of a module, its docstring and `__future__` imports,
    and the rest.
    """
    last = 0
    for node in ast.parse(code).body:
        match node:
            case ast.Expr(value=ast.Constant(value=str())) if last == 0:
                last = node.end_lineno or 0
            case ast.ImportFrom(module="__future__"):
                last = node.end_lineno or 0
            case _:
                break
    lines = code.split("\n")
    return "\n".join(lines[:last]), "\n".join(lines[last:])


def _entry(name: str, source: str) -> str:
    lines = "\n".join(f"            {line!r}" for line in source.splitlines(keepends=True))
    return f"        {name!r}: (\n{lines}\n        )"


def _free(name: str, code: str) -> str:
    while name in code:
        name = f"_{name}"
    return name


def _usage(tool: ExportedTool) -> str:
    draft = tool.draft
    example = ", ".join(f'"{p.name}": …' for p in draft.signature.parameters if p.required)
    described = [
        f"  {p.name}: {p.description}" for p in draft.signature.parameters if p.description
    ]
    return "\n".join(
        [
            f"usage: {draft.name}.py '{{{example}}}'",
            draft.description,
            str(draft.signature),
            *described,
        ]
    )


_LONGEST_DESCRIPTION = 1024
_REQUESTS = 3
_TEXT = """\
---
name: {name}
description: {description}
compatibility: {compatibility}
metadata:
  version: "{version}"
---

# {title}

{about}

Run the script with the arguments as one JSON object. It prints the result as JSON.

```sh
{command} '{{{example}}}'
```

| argument | type | |
|---|---|---|
{rows}

`{command} --help` says the same. Exit code 1: the tool refused the values; 2: the arguments do not
fit. Stderr says why.

The tests run with pytest: `python -m pytest -o pythonpath=scripts tests`.
"""


def skill_name(tool: str) -> str:
    """The name of the skill, and of its folder: lower case, with single hyphens."""
    return re.sub(r"_+", "-", tool).strip("-")


def skill(tool: ExportedTool) -> dict[str, str]:
    """The files of the skill, by their paths; the first part is the skill's folder."""
    name, function = skill_name(tool.draft.name), tool.draft.name
    return {
        f"{name}/SKILL.md": _instructions(tool, name),
        f"{name}/scripts/{function}.py": script(tool),
        f"{name}/tests/test_{function}.py": tool.draft.tests,
    }


def _instructions(tool: ExportedTool, name: str) -> str:
    draft, packages = tool.draft, tool.packages
    requests_text = "; ".join(draft.example_requests[:_REQUESTS])
    when = f" Use it for requests such as: {requests_text}" if requests_text else ""
    runner = "uv run" if packages else "python3"
    example = ", ".join(f'"{p.name}": …' for p in draft.signature.parameters if p.required)
    needs = f" and {', '.join(packages)}, which uv run installs" if packages else ""
    return _TEXT.format(
        name=name,
        description=_yaml(f"{draft.description}{when}"[:_LONGEST_DESCRIPTION]),
        compatibility=_yaml(f"Needs Python 3.11 or later{needs}."),
        version=tool.version,
        title=name.replace("-", " ").capitalize(),
        about=draft.description,
        command=f"{runner} scripts/{draft.name}.py",
        example=example,
        rows="\n".join(map(_row, draft.signature.parameters)),
    )


def _row(parameter: Parameter) -> str:
    default = "" if parameter.default is None else f" (default `{parameter.default}`)"
    cells = f"`{parameter.name}`", f"`{parameter.annotation}`", f"{parameter.description}{default}"
    return f"| {' | '.join(map(_cell, cells))} |"


def _yaml(text: str) -> str:
    """The text as a double-quoted scalar, which JSON's strings are."""
    return json.dumps(text, ensure_ascii=False)


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")
