"""The modules of this folder, for a checkout in which only requirements.txt is installed: importing
`src` makes its packages importable, `selfeng` first of all.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import selfeng  # noqa: F401 - this checkout's, even where another one is installed

sys.path.append(sys.path.pop(0))  # last: an installed miniagents or autocoder comes before ours
