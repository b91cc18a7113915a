"""The exchange room: tools that leave for other programs and libraries, and tools that arrive."""
