"""Everything a machine needs beside Python packages. This file imports nothing: part of set-up runs
before they are there.
"""
