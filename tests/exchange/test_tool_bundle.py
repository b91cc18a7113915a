"""Bundles: what is written is read again, and everything else is refused before any of it is used."""

import hashlib
import json
import stat
import warnings
import zipfile
from pathlib import Path

import pytest

from selfeng.core.errors import RequestError
from selfeng.core.http import NetworkAccess
from selfeng.core.package_lock import Package, PackageLock
from selfeng.core.verdict import CallLimits
from selfeng.library.exchange import tool_bundle as module
from selfeng.library.exchange.tool_bundle import LARGEST, MOST, read_bundle, write_bundle
from tests.doubles import recorded
from tests.exchange.bundles import (
    CODE,
    authors_keys,
    bundle,
    draft,
    members,
    packed,
    redescribed,
    unsigned,
)


def test_what_is_written_is_read_again(tmp_path: Path) -> None:
    drafts = (
        draft(),
        draft("needs_numpy", f"import numpy\n{CODE}".replace("reverse_text", "needs_numpy")),
    )
    content = bundle(tmp_path, *drafts)
    found = read_bundle(content)
    assert (found.tools, found.digest) == (drafts, hashlib.sha256(content).hexdigest())
    assert authors_keys(tmp_path).signer(found.signed, found.signature).status == "own"
    assert bundle(tmp_path, *drafts) == content, "the same tools make the same bytes"
    described = json.loads(members(content)["bundle.json"])["tools"]
    assert [len(tool["packages"]) for tool in described] == [0, 1]


def test_a_bundle_without_a_signature_is_read(tmp_path: Path) -> None:
    files = members(bundle(tmp_path))
    del files["signature.json"]
    assert read_bundle(packed(files.items())).signature is None


def test_a_bundle_has_hosts_and_probes_but_nothing_of_calls(tmp_path: Path) -> None:
    access = NetworkAccess(host="api.example.org", purpose="It knows.")
    probe = recorded("https://api.example.org/?q=1", {"rate": 1})
    of_call = recorded("https://api.example.org/?q=somebody", 2)
    of_call = of_call.model_copy(update={"from_call": True})
    content = bundle(tmp_path, draft(network=(access,), exchanges=(probe, of_call)))
    (found,) = read_bundle(content).tools
    assert (found.network, found.exchanges) == ((access,), (probe,))
    assert b"somebody" not in b"".join(members(content).values())
    described = json.loads(members(bundle(tmp_path))["bundle.json"])["tools"]
    assert not {"network", "exchanges", "lock", "limits"} & described[0].keys()


LOCKED = "humanize==4.9.0 ; python_full_version >= '3.11' \\\n    --hash=sha256:0\n"


def test_a_bundle_has_packages_and_limits_and_no_claims_about_them(tmp_path: Path) -> None:
    claims = Package(name="humanize", version="4.9.0", licence="any", vulnerabilities=())
    claims = claims.model_copy(update={"modules": ("humanize",)})
    lock = PackageLock(requirements=("humanize",), text=LOCKED, facts=(claims,))
    limits = CallLimits(seconds=600)
    (found,) = read_bundle(bundle(tmp_path, draft(lock=lock, limits=limits))).tools
    assert found.lock
    assert (found.lock.text, found.limits) == (LOCKED, limits)
    known = Package(name="humanize", version="4.9.0", modules=("humanize",))
    assert found.needs == (known, limits)


@pytest.mark.parametrize(
    "line",
    [
        "--index-url https://evil.example.org",
        "-r /etc/passwd",
        "evil @ https://evil.example.org/evil.whl",
        "humanize==4.9.0",
        "evil==1 --hash=sha256:0 --global-option=x",
        "evil==1 ; os_name == 'a' --hash=sha256:0 # more",
        "./evil.whl --hash=sha256:0",
    ],
)
def test_a_lock_is_nothing_but_versions_and_hashes(tmp_path: Path, line: str) -> None:
    lock = PackageLock(requirements=("humanize",), text=LOCKED)
    files = members(bundle(tmp_path, draft(lock=lock)))
    described = json.loads(files["bundle.json"])
    described["tools"][0]["lock"]["text"] = f"{LOCKED}{line}\n"
    files["bundle.json"] = json.dumps(described).encode()
    with pytest.raises(RequestError, match="lock"):
        read_bundle(packed(files.items()))


def member(name: str, **fields: int) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name)
    for field, value in fields.items():
        setattr(info, field, value)
    return info


LINK = member("tools/reverse_text.py", external_attr=(stat.S_IFLNK | 0o777) << 16)
DEVICE = member("tools/reverse_text.py", external_attr=(stat.S_IFCHR | 0o666) << 16)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("../evil.py", "'../evil.py' can't be a file of a bundle"),
        ("tools/../../evil.py", "can't be a file of a bundle"),
        ("/etc/cron.d/evil", "can't be a file of a bundle"),
        ("C:\\evil.py", "can't be a file of a bundle"),
        ("tools\\..\\evil.py", "can't be a file of a bundle"),
        ("tools/", "can't be a file of a bundle"),
        ("tools/evil.pth", "can't be a file of a bundle"),
        ("tools/evil.pkl", "can't be a file of a bundle"),
        ("tools/sub/evil.py", "can't be a file of a bundle"),
        ("tools/EVIL.py", "can't be a file of a bundle"),
        ("tools/evil.py\n", "can't be a file of a bundle"),
        ("tools/ev\u202eil.py", r"'tools/ev\u202eil.py' can't be a file of a bundle"),
        ("tools/evil.py\0.txt", "can't be a file of a bundle"),
        ("tools/evil.py", "tools/evil.py belongs to no tool of the bundle"),
        ("tools/conftest.py", "tools/conftest.py belongs to no tool of the bundle"),
        (LINK, "tools/reverse_text.py is a link or another special file"),
        (DEVICE, "tools/reverse_text.py is a link or another special file"),
    ],
)
def test_members_that_lead_elsewhere_are_refused(
    tmp_path: Path, name: str | zipfile.ZipInfo, said: str
) -> None:
    path = name if isinstance(name, str) else name.filename
    files = [(n, c) for n, c in members(bundle(tmp_path)).items() if n != path]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        content = packed([*files, (name, b"../../../etc/passwd")])
    if isinstance(name, str) and "\0" in name:  # zipfile cuts it when it writes
        content = packed([*files, ("tools/evil.pyX.txt", b"")]).replace(b"evil.pyX", b"evil.py\0")
    with pytest.raises(RequestError) as raised:
        read_bundle(content)
    assert said in raised.value.message
    assert raised.value.remedy
    assert sorted(path.name for path in tmp_path.iterdir()) == ["author"]


def test_two_members_of_one_name_are_refused(tmp_path: Path) -> None:
    files = list(members(bundle(tmp_path)).items())
    with pytest.warns(UserWarning, match="Duplicate name"):
        content = packed([*files, ("tools/reverse_text.py", b"import os")])
    with pytest.raises(RequestError, match=r"tools/reverse_text\.py is in the file twice"):
        read_bundle(content)


def test_bombs_are_refused_before_they_are_unpacked(tmp_path: Path) -> None:
    files = members(bundle(tmp_path))
    bomb = packed([*files.items(), ("tools/bomb.py", bytes(2**26))])
    with pytest.raises(RequestError, match=r"tools/bomb\.py has 67,108,864 bytes, more than"):
        read_bundle(bomb)
    many = [(f"tools/a{n}.py", bytes(500_000)) for n in range(80)]
    with pytest.raises(RequestError, match="the file unpacks to 40,0"):
        read_bundle(packed([*files.items(), *many]))
    crowd = [(f"tools/a{n}.py", b"") for n in range(2 * MOST + 3)]
    with pytest.raises(RequestError, match=r"the file has 1,007 members"):
        read_bundle(packed([*files.items(), *crowd]))
    with pytest.raises(RequestError, match="the file has 8,388,609 bytes"):
        read_bundle(bytes(LARGEST + 1))
    for method in (zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA):
        with pytest.raises(RequestError, match="is compressed in a way that is not read"):
            read_bundle(packed(files.items(), method))


def test_a_member_that_lies_about_its_size_is_refused(tmp_path: Path) -> None:
    content = packed([("bundle.json", b"x" * 100_000)])
    lie = content.replace((100_000).to_bytes(4, "little"), (10).to_bytes(4, "little"))
    assert lie != content
    with pytest.raises(RequestError, match="the file is no bundle: Bad CRC-32"):
        read_bundle(lie)


def test_encrypted_members_are_refused(tmp_path: Path) -> None:
    content = bytearray(bundle(tmp_path))
    at = content.index(b"PK\x01\x02")
    content[at + 8] |= 1
    with pytest.raises(RequestError, match="is encrypted"):
        read_bundle(bytes(content))


@pytest.mark.parametrize(
    "content",
    [b"", b"PK", b"not a zip file", b"PK\x05\x06" + bytes(18), b"\x80\x04\x95cos\nsystem\n."],
)
def test_what_is_no_bundle_is_refused(content: bytes) -> None:
    with pytest.raises(RequestError) as raised:
        read_bundle(content)
    assert "selfeng export --as bundle" in raised.value.remedy


def test_damaged_bundles_are_refused(tmp_path: Path) -> None:
    whole = bundle(tmp_path)
    for length in range(0, len(whole), 97):
        with pytest.raises(RequestError):
            read_bundle(whole[:length])
    for at in range(0, len(whole), 61):
        flipped = bytearray(whole)
        flipped[at] ^= 0xFF
        try:
            found = read_bundle(bytes(flipped))  # a time, or a mode
        except RequestError:
            continue
        assert found.tools == (draft(),)


def tool(described: dict, **change: object) -> None:
    described["tools"][0] |= change


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda d: d.update(format="another"), "bundle.json: format: Input should be"),
        (lambda d: d.update(version=2), "bundle.json: version: Input should be 1"),
        (lambda d: d.update(tools=[]), "bundle.json: tools: Tuple should have at least 1 item"),
        (lambda d: d.update(tools=d["tools"] * 2), "two tools named reverse_text"),
        (lambda d: d.update(run="evil"), "bundle.json: run: Extra inputs are not permitted"),
        (lambda d: tool(d, trusted=True), "tools.0.trusted: Extra inputs are not permitted"),
        (lambda d: tool(d, name="../evil"), "bundle.json: tools.0.name: String should match"),
        (lambda d: tool(d, name="reverse_text\n"), "bundle.json: tools.0.name"),
        (lambda d: tool(d, name="other"), "belongs to no tool of the bundle"),
        (lambda d: tool(d, code="0" * 64), "reverse_text.py is not the file that bundle.json"),
        (lambda d: tool(d, tests="0" * 64), "test_reverse_text.py is not the file"),
        (lambda d: tool(d, description="x" * 1001), "description: String should have at most"),
        (lambda d: tool(d, example_requests=["x"] * 51), "example_requests: Tuple should have at"),
    ],
)
def test_a_description_that_does_not_fit_is_refused(tmp_path: Path, change, said: str) -> None:
    with pytest.raises(RequestError) as raised:
        read_bundle(redescribed(bundle(tmp_path), change))
    assert said in raised.value.message


@pytest.mark.parametrize(
    ("code", "said"),
    [
        (b"\xff\xfe\x00d", "tools/reverse_text.py is not UTF-8: invalid start byte at byte 0"),
        (b"# coding: latin-1\n\xe9", "tools/reverse_text.py is not UTF-8"),
        (b"\x80\x04\x95pickle", "is not UTF-8"),
        (b"import os; os.abort()", "the code defines no function reverse_text at top level"),
        (b"def reverse_text(:", "is not valid Python"),
        (b"def reverse_text(text): return '\0'", "is not valid Python"),
        (b"(" * 100_000, "is not valid Python"),
        (b"x = " + b"-" * 100_000 + b"1", "is not valid Python"),
        (b"async def reverse_text(text): ...", "reverse_text is async"),
        (b"def reverse_text(*texts): ...", "takes positional-only, * or ** parameters"),
    ],
)
def test_code_that_is_no_tool_is_refused_and_nothing_is_run(code: bytes, said: str) -> None:
    with pytest.raises(RequestError) as raised:
        read_bundle(unsigned("reverse_text", code))
    assert said in raised.value.message


def test_code_that_runs_when_it_is_imported_is_only_read(tmp_path: Path, capsys) -> None:
    mark = tmp_path / "mark"
    code = f"open({str(mark)!r}, 'w')\nprint('run')\n@print\ndef reverse_text(text=open({str(mark)!r}, 'w')): ...\n"
    (found,) = read_bundle(unsigned("reverse_text", code.encode())).tools
    assert found.code == code
    assert (mark.exists(), capsys.readouterr().out) == (False, "")


def test_files_that_are_missing_are_named(tmp_path: Path) -> None:
    for name in ("tools/reverse_text.py", "tools/test_reverse_text.py", "bundle.json"):
        files = members(bundle(tmp_path))
        del files[name]
        with pytest.raises(RequestError, match=name):
            read_bundle(packed(files.items()))


@pytest.mark.parametrize(
    ("signature", "said"),
    [
        (b"{}", "signature.json: key: Field required"),
        (b"[" * 100_000, "signature.json: Invalid JSON"),
        (b'{"key": "", "signature": "", "name": "Ada"}', "name: Extra inputs are not permitted"),
    ],
)
def test_a_signature_that_is_none_is_refused(tmp_path: Path, signature: bytes, said: str) -> None:
    files = members(bundle(tmp_path)) | {"signature.json": signature}
    with pytest.raises(RequestError) as raised:
        read_bundle(packed(files.items()))
    assert said in raised.value.message


def test_more_tools_than_can_be_read_are_not_written(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(module, "MOST", 1)
    with pytest.raises(RequestError, match="2 tools are too many for one bundle"):
        write_bundle([draft(), draft("another")], authors_keys(tmp_path).sign)
