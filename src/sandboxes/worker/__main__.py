"""`python -I -m sandbox_worker verify|execute`: the entry point of the image."""

import sys

from .judge import main

if __name__ == "__main__":
    main(sys.argv[1])
