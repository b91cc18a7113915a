"""`python -I -m sandbox_worker`: the entry point of the image."""

from .judge import main

if __name__ == "__main__":
    main()
