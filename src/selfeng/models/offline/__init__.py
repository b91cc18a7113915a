"""The offline model: an OpenAI-compatible HTTP server on loopback, for use without a key and for
tests.
"""
