"""Models."""

__all__ = []
