"""Source of a function that searches the memory of its own process: `count(moved)` tells how often
a text is there.

The text arrives with each letter moved by one, see `moved`, so that the search finds neither itself
nor its copies. The memory goes through a pipe, since the kernel says of what was given back
meanwhile that it is gone, where reading it would end the process.
"""

SEARCH = """
import ctypes, os
MOVED = bytes((n + 1) % 256 for n in range(256))
def count(moved):
    libc, (read, write), found = ctypes.CDLL(None), os.pipe(), 0
    with open("/proc/self/maps") as maps:
        regions = [line.split()[:2] for line in maps]
    for span, mode in regions:
        if mode.startswith("rw"):
            start, end = (int(number, 16) for number in span.split("-"))
            region = bytearray()
            for place in range(start, end, 65536):
                written = libc.write(write, ctypes.c_void_p(place), min(65536, end - place))
                if written <= 0: break
                region += os.read(read, written)
            found += region.translate(MOVED).count(moved.encode())
    os.close(read)
    os.close(write)
    return found
"""


def moved(text: str) -> str:
    return "".join(chr(ord(letter) + 1) for letter in text)
