"""What goes with agents."""

__all__ = []
