"""Join frames to an animated WebP without loss: `python -m benchmarks.film FILE` reads a path and
milliseconds a line. It needs Pillow, which has an environment of its own (benchmarks/pictures.txt).
"""

import sys
from pathlib import Path

from PIL import Image, ImageChops


def join(lines: list[str], file: Path) -> None:
    """Frames that show the same are one that stays as long."""
    frames: list[Image.Image] = []
    stays: list[int] = []
    for line in lines:
        path, milliseconds = line.rsplit(" ", 1)
        frame = Image.open(path).convert("RGB")
        if frames and ImageChops.difference(frames[-1], frame).getbbox() is None:
            stays[-1] += int(milliseconds)
        else:
            frames.append(frame)
            stays.append(int(milliseconds))
    first, *others = frames
    first.save(
        file, save_all=True, append_images=others, duration=stays, loop=0, lossless=True, method=6
    )


if __name__ == "__main__":
    join(sys.stdin.read().splitlines(), Path(sys.argv[1]))
