"""Composition: tools that import tools of the library, from their pinned versions to what the
sandbox is given.
"""
