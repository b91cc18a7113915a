"""Frozen values, events, errors and protocols that every room of the engine shares; imports nothing
of ours.
"""
