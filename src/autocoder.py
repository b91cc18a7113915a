"""The Python API of builds, under the name `autocoder`: `from autocoder import autocoder`."""

from selfeng.autocoder import *  # noqa: F403  the names are listed there
