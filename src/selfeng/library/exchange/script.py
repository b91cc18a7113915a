"""A tool as one Python file: PEP 723 metadata, the tools that it imports, and a command line that
takes JSON and prints JSON.
"""

import ast
import json

from selfeng.library.exchange.exported_tool import ExportedTool

_PYTHON = ">=3.11"
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


def script(tool: ExportedTool) -> str:
    """The source of the file. `python NAME.py '{"text": "x"}'` calls the tool, `uv run` installs
    its packages first, and as a module it is the tool.
    """
    code, modules = tool.draft.code, tool.ordered_modules
    head, body = _split(code) if modules else ("", code)
    loader = _free("_load_imported_tools", code)
    parts = [_metadata(tool.packages), head]
    if modules:
        sources = ",\n".join(_entry(name, source) for name, source in modules.items())
        parts.append(_LOADER.format(loader=loader, sources=sources))
    command_line = _COMMAND_LINE.format(
        main=_free("_command_line", code),
        function=tool.draft.name,
        usage=repr(_usage(tool)),
    )
    return "\n".join(filter(None, [*parts, body.rstrip("\n") + "\n"])) + command_line


def _metadata(packages: tuple[str, ...]) -> str:
    lines = [
        "# /// script",
        f'# requires-python = "{_PYTHON}"',
        f"# dependencies = {json.dumps(packages)}",
        "# ///",
    ]
    return "".join(f"{line}\n" for line in lines)


def _split(code: str) -> tuple[str, str]:
    """What has to stay at the top of a module, its docstring and `__future__` imports, and the
    rest.
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
