"""Everything a machine needs besides Python packages. This file imports nothing, because part of
set-up runs before the packages are installed.
"""
