"""A tool can't put names into a suite, nor read what a suite expects out of the names of folders,
tests and processes.
"""

import pytest

from selfeng.core.verdict import Verdict

pytestmark = pytest.mark.asyncio(loop_scope="session")

STAR = "import pytest\nfrom pytest import approx\nfrom solution import *\n"
SUITE = (
    STAR
    + """
def close(a, b): return abs(a - b) < 1e-9
def test_approx(): assert solution(2) == approx(41)
def test_abs(): assert close(solution(2), 41)
def test_len(): assert len([solution(2)]) == 1 and sorted([solution(2)]) == [41]
def test_raises():
    with pytest.raises(ValueError): solution(2)
"""
)
ANY = "def anything(*args, **kwargs): return 0\n"
NAMES = ["approx", "abs", "len", "sorted", "pytest", "close", "raises", "test_approx"]

SHADOWS = {
    "__all__ that is made at run time": f"{ANY}__all__ = ['solution'] + {NAMES}\nfor n in "
"__all__: globals()[n] = anything\n",
    "a module that answers for every name": f"{ANY}solution = anything\n"
    f"def __getattr__(name): return {NAMES} if name == '__all__' else anything\n",
    "names in its source": f"{ANY}{' = '.join(n for n in NAMES if n != 'test_approx')} = solution "
"= anything\n",
    "__all__ in its source": f"__all__ = {['solution', *NAMES]}\n{ANY}approx = abs = len = sorted "
"= pytest = close = solution = anything\n",
    "another class of module": f"{ANY}import sys, types\nclass M(types.ModuleType):\n    __all__ "
f"= {['solution', *NAMES]}\n"
    "    def __getattr__(self, name): return anything\nsys.modules[__name__].__class__ = "
"M\nsolution = anything\n",
}  # fmt: skip


@pytest.mark.parametrize("attack", SHADOWS.values(), ids=SHADOWS.keys())
async def test_importing_everything_binds_only_what_the_source_names(verify, attack: str) -> None:
    verdict: Verdict = await verify(attack, SUITE)
    assert (verdict.problem, {r.test: r.outcome for r in verdict.tests}) == (
        None,
        dict.fromkeys(("test_approx", "test_abs", "test_len", "test_raises"), "failed"),
    )


@pytest.mark.parametrize(
    "code",
    [
        "def solution(n): return n\nglobals()['hidden'] = 1",
        "def solution(n): return n\ndef __getattr__(name): return 1",
        "import sys\ndef solution(n): return n\nsetattr(sys.modules[__name__], 'hid' + 'den', 1)",
    ],
)
@pytest.mark.parametrize(
    "suite",
    ["from solution import hidden", "import solution\nx = solution.hidden"],
    ids=["from", "attribute"],
)
async def test_a_name_that_the_source_lacks_is_not_there(verify, code: str, suite: str) -> None:
    verdict: Verdict = await verify(
        code, f"{suite}\nfrom solution import solution\ndef test_a(): assert solution(1) == 1"
    )
    assert "hidden" in verdict.problem
    assert verdict.tests == ()


async def test_everything_that_a_source_names_is_imported(verify) -> None:
    code = (
        "import math\nLIMIT = 3\ndef helper(n): return n + 1\ndef solution(n): return "
        "helper(n)\nif LIMIT:\n    late = 4\n_own = 5\n"
    )
    tests = (
        "from solution import *\nfrom solution import _own\n"
        "def test_a(): assert (solution(1), helper(2), LIMIT, late, _own) == (2, 3, 3, 4, 5)"
    )
    assert (await verify(code, tests)).passed


LOOK = """
import glob, os, sys, threading
def solution(n):
    seen = [repr(os.environ), repr(sys.argv), repr(threading.enumerate()), os.getcwd()]
    for folder, folders, files in os.walk("/tmp"): seen += [folder, *folders, *files]
    for path in glob.glob("/proc/[0-9]*/*") + glob.glob("/proc/[0-9]*/task/*/comm"):
        try: seen.append(open(path, errors="replace").read(100000))
        except OSError: pass
        try: seen.append(os.readlink(path))
        except OSError: pass
    print([word for word in ("expectedvalue", "test_secretly", "secretfixture", "/tmp") if any(word in text for text in seen)])
"""
EXPECTING = {
    "tmp_path": (
        '@pytest.mark.parametrize("n, e", [(1, "expectedvalue")])\ndef test_secretly(n, e, '
'tmp_path): assert solution(str(tmp_path)) == e'
    ),
    "tmpdir": (
        '@pytest.mark.parametrize("e", ["expectedvalue"], ids=str)\ndef test_secretly(e, '
'tmpdir):\n    assert solution(str(tmpdir)) == e'
    ),
    "a fixture's folder": '@pytest.fixture(params=["expectedvalue"])\ndef secretfixture(request, '
'tmp_path):\n    return request.param\n'
    "def test_secretly(secretfixture): assert solution(1) == secretfixture",
    "the test's id alone": '@pytest.mark.parametrize("e", ["expectedvalue"])\ndef '
'test_secretly(e): assert solution(1) == e',
    "the current folder": '@pytest.mark.parametrize("e", ["expectedvalue"])\ndef test_secretly(e, '
'tmp_path, monkeypatch):\n'
    "    monkeypatch.chdir(tmp_path)\n    assert solution(1) == e",
}  # fmt: skip


@pytest.mark.parametrize("suite", EXPECTING.values(), ids=EXPECTING.keys())
async def test_a_tool_sees_neither_tests_nor_what_they_expect(verify, suite: str) -> None:
    verdict: Verdict = await verify(LOOK, f"import pytest\nfrom solution import solution\n{suite}")
    assert ([r.outcome for r in verdict.tests], verdict.output) == (["failed"], "['/tmp']\n")
