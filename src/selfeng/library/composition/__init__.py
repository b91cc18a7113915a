"""Composition: tools that import tools, from pinned versions to the modules given to the
sandbox.
"""
