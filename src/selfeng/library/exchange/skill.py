"""A tool as an Agent Skill (https://agentskills.io/specification): instructions for agents, the
script, and its tests.
"""

import json
import re

from selfeng.core.signature import Parameter
from selfeng.library.exchange.exported_tool import ExportedTool
from selfeng.library.exchange.script import script

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
    """The name of the skill, which is that of its folder: lower case, with single hyphens."""
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
