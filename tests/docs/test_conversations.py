"""Each reference conversation is held by the tests that it names."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
CONVERSATIONS = (ROOT / "docs/turns.md").read_text().partition("\n## Reference conversations\n")[2]
SECTIONS = re.split(r"^- ", CONVERSATIONS, flags=re.MULTILINE)[1:]


def test_every_request_stands_in_a_test_that_its_section_names():
    assert len(SECTIONS) == 5
    for section in SECTIONS:
        tests = "".join(
            (ROOT / path).read_text() for path in re.findall(r"`(tests/[\w./]+)`", section)
        )
        held = tests + "".join(
            (ROOT / "docs" / document).read_text()
            for document in re.findall(r"\]\((\w+\.md)[)#]", section)
        )
        requests = re.findall(r"“(.+?)”", section)
        assert tests
        assert [request for request in requests if request not in held] == []
