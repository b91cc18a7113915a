"""What goes with promises."""

__all__ = []
