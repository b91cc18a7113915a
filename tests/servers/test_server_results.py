"""The results of other servers: resources become files with the names and types of these."""

from base64 import b64encode

import mcp_types as types
import pytest

from selfeng.core.files import FileLimits
from selfeng.core.verdict import Returned
from selfeng.servers.server_results import execution_of

TEXT, TABLE = "text/plain", "text/csv"
UNNAMED = "application/octet-stream"


def returned(*content: types.ContentBlock) -> Returned:
    execution = execution_of(types.CallToolResult(content=list(content)), FileLimits())
    assert isinstance(execution, Returned)
    return execution


def text(uri: str, kind: str | None) -> types.EmbeddedResource:
    contents = types.TextResourceContents(uri=uri, mime_type=kind, text="a,b")
    return types.EmbeddedResource(resource=contents)


def blob(uri: str, kind: str | None) -> types.EmbeddedResource:
    data = b64encode(b"a,b").decode()
    contents = types.BlobResourceContents(uri=uri, mime_type=kind, blob=data)
    return types.EmbeddedResource(resource=contents)


@pytest.mark.parametrize(
    ("uri", "kind", "name", "media_type"),
    [
        ("test://static/resource/1", TEXT, "resource_1.txt", TEXT),
        ("memo://insights", "text/markdown", "insights.md", "text/markdown"),
        ("file:///a/sales%20of%20May.csv", TABLE, "sales of May.csv", TABLE),
        ("file:///a/report.csv", TEXT, "report.csv", TABLE),
        ("x://a/prices/", "text/csv; charset=utf-8", "prices.csv", TABLE),
        ("x://a/places", "application/x-unheard-of+json", "places.json", "application/json"),
        ("x://a/notes", "text/x-unheard-of", "notes.txt", TEXT),
        ("x://a/release-1.2", TEXT, "release-1.2.txt", TEXT),
        ("x://a/thing", UNNAMED, "thing", UNNAMED),
        ("x://a/..", TABLE, "resource_1.csv", TABLE),
        ("https://example.com/", TABLE, "resource_1.csv", TABLE),
        ("x://[", TABLE, "resource_1.csv", TABLE),
        (f"x://a/{'n' * 200}", TABLE, "resource_1.csv", TABLE),
    ],
)
@pytest.mark.parametrize("made", [text, blob])
def test_a_resource_keeps_its_name_and_type(made, uri, kind, name, media_type):
    (file,) = returned(made(uri, kind)).files
    reference = file.reference()
    assert (file.content, reference.name, reference.media_type) == (b"a,b", name, media_type)


def test_a_text_without_a_type_is_plain_and_data_without_one_unknown():
    result = returned(text("x://a/first", None), blob("x://a/second", None))
    assert [file.name for file in result.files] == ["first.txt", "second"]


def test_a_link_names_its_resource():
    link = types.ResourceLink(
        uri="x://a/1", name="r1", title="Prices of May", mime_type=TABLE, type="resource_link"
    )
    other = types.ResourceLink(uri="x://a/2", name="r2", type="resource_link")
    result = returned(link, other, text("x://a/1", TABLE), text("x://a/2", TABLE))
    assert result.text == "Prices of May (text/csv): x://a/1\nr2: x://a/2"
    assert [file.name for file in result.files] == ["Prices of May.csv", "r2.csv"]


def test_two_resources_of_one_name_are_two_files():
    result = returned(text("x://a/data", TABLE), text("x://b/data", TABLE))
    assert [file.name for file in result.files] == ["data.csv", "data_2.csv"]
