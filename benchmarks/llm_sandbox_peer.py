"""A program around llm-sandbox's pooled Docker backend, in an environment of its own: `python
llm_sandbox_peer.py IMAGE`.

It answers each line of stdin, a JSON string with a script, with a line of stdout: what the script
printed, as a JSON string. Each script is a session of its own on a container that stands ready. A
script that fails ends the program.
"""

import json
import sys
import time

from llm_sandbox import SandboxBackend, SandboxSession  # type: ignore[import-not-found]
from llm_sandbox.pool import PoolConfig, create_pool_manager  # type: ignore[import-not-found]

READY = (
    "import signal, venv; venv.create('/sandbox/.sandbox-venv', system_site_packages=True, "
    "symlinks=True); signal.pause()"
)
"""The files that its own set-up makes, without the network: the image needs no other packages."""

PROBE = "/sandbox/.sandbox-venv/bin/python -c pass"


def main(image: str) -> None:
    container = {"entrypoint": ["python", "-c", READY], "network_mode": "none", "mem_limit": "256m"}
    one = PoolConfig(min_pool_size=1, max_pool_size=1, health_check_interval=3600)
    options = {"image": image, "skip_environment_setup": True, "runtime_configs": container}
    pool = create_pool_manager(backend=SandboxBackend.DOCKER, config=one, lang="python", **options)
    try:
        with SandboxSession(lang="python", pool=pool) as session:
            while session.execute_command(PROBE).exit_code:
                time.sleep(0.1)
        for line in sys.stdin:
            with SandboxSession(lang="python", pool=pool) as session:
                ran = session.run(json.loads(line))
            if ran.exit_code:
                raise RuntimeError(ran.stdout + ran.stderr)
            sys.stdout.write(json.dumps(ran.stdout) + "\n")
            sys.stdout.flush()
    finally:
        pool.close()


if __name__ == "__main__":
    main(sys.argv[1])
