"""The two sources of a tool, and the digest that says whether they are still the verified ones."""

import hashlib

from selfeng.core.value import Value


class Sources(Value):
    code: str
    tests: str

    @property
    def digest(self) -> str:
        return source_digest(self.code, self.tests)


def source_digest(code: str, tests: str) -> str:
    """sha256 over both, each preceded by its length, so that no two different pairs share their bytes."""
    state = hashlib.sha256(b"tool-sources-1")
    for text in (code, tests):
        content = text.encode("utf-8", "surrogatepass")
        state.update(len(content).to_bytes(8, "big"))
        state.update(content)
    return state.hexdigest()
