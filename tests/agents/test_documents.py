"""The reference conversation in docs/turns.md runs with the offline model in a real sandbox, and
prints what stands below it.
"""

import re
from pathlib import Path

import pytest

from tests.home import Home

pytestmark = [pytest.mark.bubblewrap, pytest.mark.timeout(240)]

TURNS = (Path(__file__).parents[2] / "docs/turns.md").read_text()
AGENTS = TURNS.partition("\n## Agents\n")[2].partition("\n## ")[0]


def test_the_reference_conversation_goes_as_documented(tmp_path, monkeypatch, capsys):
    (example,) = re.findall(r"```python\n(.*?)```\n```text\n(.*?)\n```\n", AGENTS, re.DOTALL)
    for name, value in (
        Home(tmp_path / "home", bubblewrap=True).environment(SANDBOX="bubblewrap").items()
    ):
        monkeypatch.setenv(name, value)
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    code, printed = example
    exec(code, {"__name__": "__main__"})
    assert capsys.readouterr().out.strip() == printed.strip()
