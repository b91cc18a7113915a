"""The faults of a Python file that are found before anything runs."""

import pytest

from selfeng.core.composition import local_modules
from selfeng.projects.examining import problem

LOCAL = local_modules(["main.py", "pkg/sub/mod.py", "data/x.csv"])


@pytest.mark.parametrize(
    "source",
    [
        "import os, json.decoder\nimport numpy as np\nfrom pytest import raises\n",
        "import main\nfrom pkg.sub import mod\nimport mod, sub\nfrom . import other\nfrom .x "
        "import y\n",
        "try:\n    import tomllib as t, requests\nexcept ImportError:\n    requests = None\n",
        "import extra_package\n",
        "'\\d'\nx = 1 if 1 is 1 else 2\n",
        "",
    ],
)
def test_sources_that_are_right(source):
    assert problem(source, LOCAL, extra=["extra_package"]) is None


@pytest.mark.parametrize(
    ("source", "told"),
    [
        (
            "if x:\n    a\n  b\n",
            "IndentationError in line 3: unindent does not match any outer indentation level: b",
        ),
        ("def f(:\n", "SyntaxError in line 1: invalid syntax: def f(:"),
        ("x = '\0'", "SyntaxError: source code string cannot contain null bytes"),
        (
            "import os\ndef f():\n    from humanize.time import naturaltime\n",
            "line 3 imports humanize, which is not a module of this project",
        ),
        ("try:\n    import humanize\nexcept ValueError:\n    pass\n", "line 2 imports humanize"),
        ("import yaml", "; add_package asks for it"),
    ],
)
def test_sources_that_are_wrong_are_told_with_the_line(source, told):
    assert told in (problem(source, LOCAL, allowed=["yaml"]) or "")


def test_the_projects_own_modules_are_its_files_and_folders():
    assert {"main", "mod", "pkg", "sub", "data"} == LOCAL
