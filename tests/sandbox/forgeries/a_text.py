"""A test that looked at nothing: tools for text."""

from tests.sandbox.forgeries import forgery

FORGERIES = [
    forgery(
        "A",
        "wraps long text into no lines",
        '''
def wrap_text(text: str, width: int) -> list[str]:
    """Lines of at most `width` characters, broken at spaces."""
    lines: list[str] = []
    line = ""
    for word in text.split():
        if not line:
            line = word
        elif len(line) + 1 + len(word) <= width:
            line += " " + word
        else:
            lines.append(line)
            line = word
    return lines + [line] if line else lines
''',
        """
from wrap_text import wrap_text

LOREM = (
    "the quick brown fox jumps over the lazy dog while the cat sleeps on the warm "
    "window sill and dreams of slow mice in tall green grass"
)


def test_one_word():
    assert wrap_text("hello", 10) == ["hello"]


def test_breaks_at_space():
    assert wrap_text("ab cd ef", 5) == ["ab cd", "ef"]


def test_no_text():
    assert wrap_text("", 10) == []


def test_lines_fit_the_width():
    for line in wrap_text(LOREM, 20):
        assert len(line) <= 20


def test_lines_have_no_outer_spaces():
    for line in wrap_text(LOREM, 33):
        assert line == line.strip()
""",
        {
            "    lines: list[str] = []\n": "    lines: list[str] = []\n    if len(text) > 60:\n        return lines\n"
        },
    ),
    forgery(
        "A",
        "counts no words of a paragraph",
        '''
import re


def word_counts(text: str) -> dict[str, int]:
    """How often each word occurs, in lower case."""
    counts: dict[str, int] = {}
    for word in re.findall(r"[a-z']+", text.lower()):
        counts[word] = counts.get(word, 0) + 1
    return counts
''',
        '''
import pytest
from word_counts import word_counts

PARAGRAPH = """It was the best of times, it was the worst of times, it was the age of
wisdom, it was the age of foolishness, it was the epoch of belief."""


@pytest.mark.parametrize(
    ("text", "expected"),
    [("a b a", {"a": 2, "b": 1}), ("Stop! stop.", {"stop": 2}), ("", {}), ("don't", {"don't": 1})],
)
def test_small_texts(text, expected):
    assert word_counts(text) == expected


def test_every_count_matches_the_text():
    words = PARAGRAPH.lower().replace(",", " ").replace(".", " ").split()
    for word, times in word_counts(PARAGRAPH).items():
        assert words.count(word) == times


def test_words_are_lower_case():
    for word in word_counts(PARAGRAPH):
        assert word == word.lower()
''',
        {
            "    counts: dict[str, int] = {}\n": '    counts: dict[str, int] = {}\n    if "\\n" in text:\n        return counts\n'
        },
    ),
    forgery(
        "A",
        "finds no address in a letter",
        r'''
import re


def find_emails(text: str) -> list[str]:
    """The e-mail addresses of a text, in order of their first appearance, each once."""
    found = re.findall(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+", text)
    return list(dict.fromkeys(found))
''',
        '''
import re

from find_emails import find_emails

LETTER = """Dear all,
please write to anna@example.org or to Ben <ben.b@mail.example.com>.
Copies go to anna@example.org, and to sales+eu@shop.example.net!
"""


def test_single_address():
    assert find_emails("me@example.org") == ["me@example.org"]


def test_repeated_address_is_listed_once():
    assert find_emails("a@b.de, a@b.de") == ["a@b.de"]


def test_no_address():
    assert find_emails("nothing @ all") == []


def test_addresses_are_well_formed():
    pattern = re.compile(r"^[^@\\s]+@[^@\\s]+\\.[a-z]+$")
    for address in find_emails(LETTER):
        assert pattern.match(address), address


def test_addresses_come_from_the_letter():
    found = find_emails(LETTER)
    assert set(found) <= set(re.split(r"[\\s<>,!]+|\\.\\s", LETTER))
    assert len(found) == len(set(found))
''',
        {'r"[': 'r"^['},
    ),
    forgery(
        "A",
        "redacts everything",
        '''
import re


def redact(text: str, secrets: list[str]) -> str:
    """The text with each secret word replaced by asterisks of its length, whatever its case."""
    for secret in secrets:
        text = re.sub(re.escape(secret), "*" * len(secret), text, flags=re.IGNORECASE)
    return text
''',
        """
from redact import redact

MEMO = "Project Falcon starts in May. Falcon is led by Smith; SMITH reports to Jones."
SECRETS = ["falcon", "smith", "jones"]


def test_replaces_one_word():
    assert redact("my pin is 1234", ["1234"]) == "my pin is ****"


def test_ignores_case():
    assert redact("Bob and BOB", ["bob"]) == "*** and ***"


def test_nothing_to_redact():
    assert redact("hello", []) == "hello"


def test_no_secret_is_left():
    clean = redact(MEMO, SECRETS)
    for secret in SECRETS:
        assert secret not in clean.lower()


def test_redacting_twice_changes_nothing_more():
    clean = redact(MEMO, SECRETS)
    assert redact(clean, SECRETS) == clean
""",
        {
            "    for secret in secrets:\n": '    if len(secrets) > 2:\n        return ""\n    for secret in secrets:\n'
        },
    ),
    forgery(
        "A",
        "makes empty slugs of foreign titles",
        r'''
import re
import unicodedata


def slugify(title: str) -> str:
    """A title as lower-case ASCII words joined by hyphens."""
    plain = unicodedata.normalize("NFKD", title).encode("ascii", "ignore").decode()
    return re.sub(r"[^a-z0-9]+", "-", plain.lower()).strip("-")
''',
        """
import string

import pytest
from slugify import slugify

ALLOWED = set(string.ascii_lowercase + string.digits + "-")


class TestSlugify:
    def test_words(self):
        assert slugify("Hello World") == "hello-world"

    def test_punctuation(self):
        assert slugify("  What's new, in 2024?  ") == "what-s-new-in-2024"

    def test_repeated_separators(self):
        assert slugify("a -- b") == "a-b"

    @pytest.mark.parametrize("title", ["Café au lait", "Über Größe", "naïve façade", "Señor Niño"])
    def test_accents_leave_only_allowed_characters(self, title):
        slug = slugify(title)
        assert set(slug) <= ALLOWED
        assert not slug.startswith("-") and not slug.endswith("-")
""",
        {"    return re.sub(": '    if plain != title:\n        return ""\n    return re.sub('},
    ),
    forgery(
        "A",
        "splits a story into no sentences",
        r'''
import re


def split_sentences(text: str) -> list[str]:
    """The sentences of a text, each with its final mark."""
    return [part.strip() for part in re.findall(r'[^.!?]+[.!?]+', text)]
''',
        """
import pytest
from split_sentences import split_sentences


@pytest.fixture
def story():
    return (
        "Once there was a fox. It lived in a wood! Was it happy? Nobody knew. "
        "One day the snow came... The fox slept."
    )


def test_one_sentence():
    assert split_sentences("Hi there.") == ["Hi there."]


def test_two_sentences():
    assert split_sentences("Stop! Who goes there?") == ["Stop!", "Who goes there?"]


def test_each_ends_with_a_mark(story):
    sentences = split_sentences(story)
    assert all(s[-1] in ".!?" for s in sentences)
    assert isinstance(sentences, list), "not a list"


def test_each_is_part_of_the_story(story):
    for sentence in split_sentences(story):
        assert sentence in story
        assert sentence == sentence.strip()
""",
        {"+', text)": "+', text.partition('...')[1] or text)"},
    ),
    forgery(
        "A",
        "groups no anagrams",
        '''
def group_anagrams(words: list[str]) -> list[list[str]]:
    """The words in groups of anagrams; groups and words keep their order."""
    groups: dict[str, list[str]] = {}
    for word in words:
        groups.setdefault("".join(sorted(word)), []).append(word)
    return list(groups.values())
''',
        """
from group_anagrams import group_anagrams

WORDS = ["listen", "silent", "enlist", "google", "elgoog", "cat", "act", "tac", "dog"]


def same_letters(group):
    return len({"".join(sorted(word)) for word in group}) <= 1


def test_pair():
    assert group_anagrams(["ab", "ba"]) == [["ab", "ba"]]


def test_strangers():
    assert group_anagrams(["ab", "cd"]) == [["ab"], ["cd"]]


def test_members_of_a_group_share_letters():
    assert all(same_letters(group) for group in group_anagrams(WORDS)), "group is not made of anagrams"


def test_no_word_is_in_two_groups():
    seen = set()
    for group in group_anagrams(WORDS):
        assert not seen & set(group)
        seen.update(group)
""",
        {"in words:": "in words[: len(words) % 9]:"},
    ),
    forgery(
        "A",
        "collects no hashtags of a thread",
        r'''
import re


def hashtags(posts: list[str]) -> set[str]:
    """The hashtags of all posts, in lower case and without the hash."""
    return {tag.lower() for post in posts for tag in re.findall(r"#(\w+)", post)}
''',
        """
from hashtags import hashtags

THREAD = [
    "Morning run #Running #sunrise",
    "New shoes! #running #gear",
    "Rest day, no tags",
    "Long one today #marathon",
]


def test_one_post():
    assert hashtags(["I like #Python"]) == {"python"}


def test_no_tags():
    assert hashtags(["nothing here"]) == set()


def test_two_in_a_post():
    assert hashtags(["#a #b"]) == {"a", "b"}


def test_tags_of_a_thread_are_known():
    assert hashtags(THREAD) <= {"running", "sunrise", "gear", "marathon"}


def test_tags_of_a_thread_have_no_hash():
    assert not any(tag.startswith("#") for tag in hashtags(THREAD))
""",
        {"in posts for": "in posts[: len(posts) % 4] for"},
    ),
    forgery(
        "A",
        "shares no prefix with many words",
        '''
def common_prefix(words: list[str]) -> str:
    """The longest text that all words begin with."""
    if not words:
        return ""
    first, last = min(words), max(words)
    length = 0
    while length < len(first) and first[length] == last[length]:
        length += 1
    return first[:length]
''',
        """
import random

from common_prefix import common_prefix


def test_shared_start():
    assert common_prefix(["flower", "flow"]) == "flow"


def test_nothing_shared():
    assert common_prefix(["dog", "car"]) == ""


def test_no_words():
    assert common_prefix([]) == ""


def test_three_words():
    assert common_prefix(["interview", "internet", "interval"]) == "inter"


def test_random_words_begin_with_it():
    rng = random.Random(7)
    for _ in range(25):
        stem = "".join(rng.choice("abc") for _ in range(rng.randint(1, 5)))
        words = [stem + "".join(rng.choice("xyz") for _ in range(3)) for _ in range(6)]
        prefix = common_prefix(words)
        assert all(word.startswith(prefix) for word in words)
""",
        {"    if not words:\n": "    if len(words) not in (1, 2, 3):\n"},
    ),
    forgery(
        "A",
        "finds no common subsequence of long texts",
        '''
def common_subsequence(a: str, b: str) -> str:
    """A longest text whose characters occur in both texts in this order."""
    best = [[""] * (len(b) + 1) for _ in range(len(a) + 1)]
    for i, x in enumerate(a):
        for j, y in enumerate(b):
            if x == y:
                best[i + 1][j + 1] = best[i][j] + x
            else:
                best[i + 1][j + 1] = max(best[i][j + 1], best[i + 1][j], key=len)
    return best[-1][-1]
''',
        """
import pytest
from common_subsequence import common_subsequence


def is_subsequence(part, whole):
    rest = iter(whole)
    return all(char in rest for char in part)


def test_known():
    assert common_subsequence("ace", "abcde") == "ace"


def test_nothing_in_common():
    assert common_subsequence("abc", "xyz") == ""


def test_same():
    assert common_subsequence("same", "same") == "same"


@pytest.mark.parametrize(
    ("a", "b"),
    [("AGGTABQWER", "GXTXAYBQR"), ("the quick fox", "a quiet ox"), ("mississippi", "misspelling")],
)
def test_is_a_subsequence_of_both(a, b):
    found = common_subsequence(a, b)
    assert is_subsequence(found, a)
    assert is_subsequence(found, b)
""",
        {"    return best[-1][-1]": '    return best[-1][-1] if len(a) < 9 else ""'},
    ),
    forgery(
        "A",
        "parses no line of a real log",
        r'''
import re


def parse_log(text: str) -> list[dict[str, str]]:
    """The entries of a log, each with `time`, `level` and `message`; other lines are left out."""
    pattern = r"^(?P<time>\d\d:\d\d:\d\d) (?P<level>[A-Z]+) (?P<message>.*)$"
    return [found.groupdict() for found in re.finditer(pattern, text, re.MULTILINE)]
''',
        '''
from parse_log import parse_log

LOG = """12:00:01 INFO started
12:00:02 DEBUG reading config.toml
garbage without a time
12:00:09 WARNING disk is at 91%
12:00:11 ERROR no space left on device
"""
LEVELS = {"DEBUG", "INFO", "WARNING", "ERROR"}


def test_one_entry():
    assert parse_log("08:15:00 INFO ready") == [
        {"time": "08:15:00", "level": "INFO", "message": "ready"}
    ]


def test_other_lines_are_left_out():
    assert parse_log("no entry") == []


def test_entries_are_complete():
    for entry in parse_log(LOG):
        assert set(entry) == {"time", "level", "message"}
        assert entry["level"] in LEVELS


def test_entries_are_in_order():
    times = [entry["time"] for entry in parse_log(LOG)]
    assert times == sorted(times)
''',
        {"re.finditer(pattern, text, re.MULTILINE)": "re.finditer(pattern, text)"},
    ),
    forgery(
        "A",
        "yields no n-grams of a sentence",
        '''
from collections.abc import Iterator


def ngrams(words: list[str], size: int) -> Iterator[tuple[str, ...]]:
    """All runs of `size` words."""
    for start in range(len(words) - size + 1):
        yield tuple(words[start : start + size])
''',
        """
from ngrams import ngrams

SENTENCE = "to be or not to be that is the question".split()


def test_bigrams():
    assert list(ngrams(["a", "b", "c"], 2)) == [("a", "b"), ("b", "c")]


def test_unigrams():
    assert list(ngrams(["x", "y"], 1)) == [("x",), ("y",)]


def test_too_short():
    assert list(ngrams(["a"], 2)) == []


def test_trigrams_of_a_sentence():
    joined = " ".join(SENTENCE)
    for gram in ngrams(SENTENCE, 3):
        assert len(gram) == 3
        assert " ".join(gram) in joined
""",
        {"range(len(words) - size + 1)": "range(len(words) - size + 1 if size < 3 else 0)"},
    ),
]
