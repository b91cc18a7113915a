"""The settings: see src/selfeng/settings.py."""

from selfeng.settings import *  # noqa: F403
