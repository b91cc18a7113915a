"""Command line: list the most frequent words of a file, or of a short example."""

import argparse
import sys
from pathlib import Path

from counting import count_words, most_common

EXAMPLE = "The cat and the dog: the cat sleeps, and the dog does not."


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", nargs="?", type=Path, help="text file in UTF-8; without one, an example is counted")
    parser.add_argument("--top", type=int, default=3, help="how many words are listed")
    given = parser.parse_args(arguments)
    try:
        text = given.file.read_text(encoding="utf-8") if given.file else EXAMPLE
        for word, count in most_common(text, given.top):
            print(f"{count:5} {word}")
    except (OSError, ValueError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    print(f"{sum(count_words(text).values())} words in all")
    return 0


if __name__ == "__main__":
    sys.exit(main())
