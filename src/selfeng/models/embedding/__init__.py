"""Embedders: text in, unit vectors out, on this machine without a network or, by setting, from a
server.
"""
