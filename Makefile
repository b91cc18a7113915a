# `make run` and `make test` set up whatever they need; the rest is for developers.

VENV := .venv
comma := ,
PYTHON ?= $(shell for p in python3 python3.13 python3.12 python3.11; do \
	command -v $$p >/dev/null && $$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' && { echo $$p; break; }; done)
PY := $(VENV)/bin/python

.PHONY: run test provisions machine lint unit format lock clean bench-retrieval fit-retrieval bench-sandbox bench-sandbox-llm bench-stress bench-runtime bench-runtime-miniagents bench-verdicts bench-repair bench-learning bench-lookup bench-registry-kill
.DELETE_ON_ERROR:

run: $(VENV)/run.stamp
	@$(PY) web/app.py

test: $(VENV)/test.stamp machine
	@$(MAKE) --no-print-directory -j2 lint provisions
	@$(MAKE) --no-print-directory unit

# What the tests run on: model, libraries, and what both sandboxes run code in.
provisions: $(VENV)/test.stamp
	@$(PY) -m src setup
	@SANDBOX=bubblewrap $(PY) -m src setup sandbox

lint: $(VENV)/test.stamp
	$(PY) -m ruff check .
	$(PY) -m ruff format --check .
	$(PY) -m mypy
	$(VENV)/bin/lint-imports

# What takes longest begins first, so that neither worker waits for the other in the end.
unit: $(VENV)/test.stamp
	$(PY) -c "import sys; from src.provision.node import run; sys.exit(run(sys.argv[1:]))" --test tests/front/*.test.js
	$(PY) -m pytest -n 2 --dist loadfile --no-loadscope-reorder --max-worker-restart 2 --ignore tests/browser tests/whole tests/sandbox tests
	$(PY) -m pytest -n 2 --dist loadfile --no-loadscope-reorder --max-worker-restart 2 tests/browser/test_page.py tests/browser/test_reference.py tests/browser

# What the tests need beside Python packages: a Docker engine, bubblewrap and Chromium.
machine:
	@.ci/machine

format: $(VENV)/test.stamp
	$(PY) -m ruff check --fix .
	$(PY) -m ruff format .

# The sandbox's speed against bare pytest; the last line is JSON.
bench-sandbox: $(VENV)/test.stamp
	@$(PY) -m benchmarks.sandbox

# The same beside llm-sandbox's pool of Docker containers, which gets an environment of its own.
bench-sandbox-llm: $(VENV)/test.stamp $(VENV)-llm-sandbox/stamp
	@$(PY) -m benchmarks.sandbox --beside $(VENV)-llm-sandbox/bin/python

# What agents cost beside bare asyncio; the last line is JSON.
bench-runtime: $(VENV)/test.stamp
	@$(PY) -m benchmarks.runtime

# The same beside the package miniagents, which gets an environment of its own; it takes minutes.
bench-runtime-miniagents: $(VENV)/test.stamp $(VENV)-miniagents/stamp
	@$(PY) -m benchmarks.runtime 3 --beside $(VENV)-miniagents/bin/python

# What the gate accepts of recorded right and wrong solutions; DATA names another folder with tasks. The last line is JSON.
bench-verdicts: $(VENV)/test.stamp
	@$(PY) -m benchmarks.verdicts $(if $(DATA),--data $(DATA))

# Whether repairs end where the recorded sequences say; DATA as above. The last line is JSON.
bench-repair: $(VENV)/test.stamp
	@$(PY) -m benchmarks.repairs $(if $(DATA),--data $(DATA))

# What a library saves over a stream of related requests; the last line is JSON.
bench-learning: $(VENV)/run.stamp $(VENV)/test.stamp
	@$(PY) -m src setup
	@$(PY) -m benchmarks.learning

# The environment of a package that a benchmark compares with.
$(VENV)-%/stamp: benchmarks/%.txt
	@PYTHON="$(PYTHON)" .ci/venv $(@D)
	@$(@D)/bin/python -m pip install --quiet --disable-pip-version-check -r $<
	@touch $@

# 200 jobs at once, and what they leave behind; the last line is JSON.
bench-stress: $(VENV)/test.stamp
	@$(PY) -m benchmarks.stress

# Search times and memory at 1k, 10k and 100k tools, or at SIZES, beside Chroma alone; the last line is JSON.
bench-lookup: $(VENV)/run.stamp
	@$(PY) -m src setup embedder
	@$(PY) -m benchmarks.lookup $(subst $(comma), ,$(SIZES))

# Whether kill -9 loses a tool that was acknowledged, N times; the last line is JSON.
bench-registry-kill: $(VENV)/run.stamp
	@$(PY) -m src setup embedder
	@$(PY) -m benchmarks.registry_kill $(or $(N),50)

# Renew constraints.txt, after a change of requirements*.txt, from a fresh environment.
lock:
	@rm -rf $(VENV)-lock && $(PYTHON) -m venv $(VENV)-lock && : > constraints.txt
	@$(VENV)-lock/bin/pip install --quiet -r requirements.txt -r requirements-dev.txt
	@echo "# Everything the direct dependencies bring, pinned; made by \`make lock\`." > constraints.txt
	@$(VENV)-lock/bin/pip freeze --exclude-editable >> constraints.txt
	@rm -rf $(VENV)-lock

# Whether the right tool is found, beside plain baselines, and how fast; DATA names a folder with other sets, SETS and SIZES parts
# of it (SIZES= leaves the lookup out), REQUESTS a sample, SEED the absent tools. The last line is JSON.
bench-retrieval: $(VENV)/test.stamp
	@$(PY) -m src setup embedder
	@$(PY) -m benchmarks.retrieval $(if $(DATA),--data $(DATA)) $(if $(SETS),--sets $(subst $(comma), ,$(SETS))) $(if $(REQUESTS),--requests $(REQUESTS)) $(if $(SEED),--seed $(SEED)) $(if $(filter undefined,$(origin SIZES)),,--sizes $(subst $(comma), ,$(SIZES)))

# Make what ships of the search's ranking and confidence from the data in DATA; it takes minutes. The last line is JSON.
fit-retrieval: $(VENV)/test.stamp
	@$(PY) -m src setup embedder
	@$(PY) -m benchmarks.fit_retrieval $(if $(DATA),--data $(DATA))

clean:
	rm -rf $(VENV) $(VENV)-llm-sandbox $(VENV)-miniagents node_modules

$(VENV)/run.stamp: requirements.txt constraints.txt pyproject.toml $(VENV)/pyvenv.cfg
	@echo "Installing the Python packages"
	@$(PY) -m pip install --quiet --disable-pip-version-check -r requirements.txt
	@touch $@

$(VENV)/test.stamp: requirements-dev.txt $(VENV)/run.stamp
	@$(PY) -m pip install --quiet --disable-pip-version-check -r requirements-dev.txt
	@touch $@

$(VENV)/pyvenv.cfg:
	@PYTHON="$(PYTHON)" .ci/venv $(VENV)
