"""Every wrong tool and every hostile suite that the tests know, as `make bench-forging` takes them through the whole gate."""

from dataclasses import dataclass

from tests.sandbox import hostile, test_forging, test_forging_sideways, test_hostile_suites


@dataclass(frozen=True)
class WrongTool:
    name: str
    function: str
    specified: str
    """A module whose function has the signature that is wanted."""
    code: str
    suite: str


RIGHT = WrongTool("the right tool", "solution", test_forging.RIGHT, test_forging.RIGHT, test_forging.SUITE)


def wrong_tools() -> list[WrongTool]:
    attacks = {**test_forging.ATTACKS, **test_forging_sideways.ATTACKS}
    forging = [WrongTool(name, "solution", RIGHT.code, _with_function(code), RIGHT.suite) for name, code in attacks.items()]
    tools = [
        WrongTool(case, hostile.NAME, hostile.HONEST, form(hostile.CASES[case].payload).replace("(x=0):", "(x):"), hostile.SUITE)
        for case in hostile.of_role("tool")
        for form in (hostile.as_module, hostile.as_function)
    ]
    suites = [
        WrongTool(case, hostile.NAME, hostile.HONEST, f"def {hostile.NAME}(x): return None\n", test_hostile_suites.suite(case))
        for case in hostile.of_role("tests")
    ]
    return [*forging, *tools, *suites]


def _with_function(code: str) -> str:
    """With the function that the gate asks for, so that what is done while the module is loaded is tried too."""
    return code if "def solution(" in code else code + test_forging.WRONG
