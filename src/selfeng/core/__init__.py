"""Frozen values, events, errors and protocols that all packages of the engine share; imports
nothing else of the project.
"""
