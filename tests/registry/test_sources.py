from selfeng.library.tool_files import Sources, source_digest


def test_the_digest_depends_on_where_code_ends_and_tests_begin() -> None:
    assert source_digest("ab", "c") != source_digest("a", "bc") != source_digest("", "abc")


def test_the_digest_is_the_same_everywhere() -> None:
    assert Sources(code="x = 1\n", tests="").digest == source_digest("x = 1\n", "")
    assert (
        source_digest("x = 1\n", "ä")
        == "1f5797891318901725e0a90fb02ef5e8ccb7e4a329c33fce9d0b1facdaea2388"
    )
