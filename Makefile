# Two commands do everything on a machine that has only Python, git and make:
#   make run    install what runs, then curate the sample week in sample-memory/
#   make test   install the tools as well, then lint and test
# and these take their time:
#   make torture   kill, starve and crowd a run at every point at which it writes; live through years of nights
#   make e2e       let the real Claude Code, Codex, Gemini CLI and OpenClaw talk to a local server; AGENTS=DIR names the folder
#                  into which npm installed them (use Node 24, there or on the PATH: with an older one, npm installs old releases)
#   make fuzz      try every property and reader with random inputs; FUZZ_INPUTS=1000000 chooses how many
#   make demo      run the sample session and draw the pictures that README shows; it needs Chromium
#   make dist      build wheel and sdist; on each Python from 3.11 to 3.14 that is here, install both and run the demo
#   make docs      build the documentation site in site/; a broken link fails
#   make bench     measure the speed of the index, of a session's start and of the page; UNITS="10000 100000 1000000" chooses the sizes
#   make bench-search DATA=DIR   measure what each part of the ranking is worth, on LoCoMo as downloaded
#   make bench-secrets DATA="DIR ..."   measure how often the rules for secrets alarm on text without any, and how fast they are
PYTHON ?= python3
BIN := .venv/bin
UNITS ?= 10000 100000
FUZZ_INPUTS ?= 1000000
# Python compiles what is imported; pip would compile all of it, a third of its time.
PIP_FLAGS := --quiet --disable-pip-version-check --no-compile
.DEFAULT_GOAL := help
.PHONY: help install run test pytest torture e2e fuzz demo dist docs bench bench-search bench-secrets lint format lock clean

help:
	@sed -n 's/^#   //p' Makefile

# Each stamp is newer than its lock exactly when the environment holds what the lock names: .runs what memcurate needs to
# run, .installed the tools of the tests, too.
.venv/.runs: requirements/run.txt
	$(PYTHON) -c 'import sys; sys.exit("memcurate needs Python 3.11 or newer; name one: make PYTHON=python3.12 $(MAKECMDGOALS)") if sys.version_info < (3, 11) else None'
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	test -e .venv/.installed || $(BIN)/python -m pip install $(PIP_FLAGS) --require-hashes -r requirements/run.txt
	touch $@

run: .venv/.runs
	rm -rf sample-memory
	$(BIN)/python -m pipelines.cli demo --no-view sample-memory

# An editable install leaves the bytecode to whoever runs a command first, where that one may write it.
install: .venv/.installed
	@$(BIN)/python -m compileall -q pipelines

.venv/.installed: requirements/dev.txt pyproject.toml deploy/fleet/pyproject.toml | .venv/.runs
	$(BIN)/python -m pip install $(PIP_FLAGS) --require-hashes -r requirements/dev.txt
	$(BIN)/python -m pip install $(PIP_FLAGS) --no-deps --no-build-isolation --editable . --editable deploy/fleet
	$(BIN)/curate models fetch || echo "Search finds words only, not meanings, until 'curate models fetch' succeeds."
	touch $@

# What was compiled is kept, whatever the environment says: without it the tests alone take ten seconds to load in
# every process. Work is shared out in runs of neighbours, which begin with the same memories. Three workers suit two
# cores: many tests wait for git. What lint needs of the time, it needs meanwhile.
test: install
	@$(MAKE) --no-print-directory -j 2 lint pytest

pytest: install
	PYTHONDONTWRITEBYTECODE= $(BIN)/python -m pytest -n 3 --dist worksteal -q -m "not torture and not e2e"

torture: install
	$(BIN)/python -m pytest -n auto -q -m torture

e2e: install
	AGENT_PROGRAMS="$(AGENTS)" $(BIN)/python -m pytest -q -m e2e

fuzz: install
	$(BIN)/python -m pytest -n auto -q -m "hypothesis and not torture" --hypothesis-profile=search
	$(BIN)/python -m tests.fuzz --inputs $(FUZZ_INPUTS)

demo: install
	$(BIN)/python examples/terminal.py
	$(BIN)/python examples/pictures.py

dist: install
	rm -rf dist
	$(BIN)/python -m build --no-isolation --outdir dist .
	for python in python3.11 python3.12 python3.13 python3.14; do \
	  $$python -c "" 2>/dev/null || { echo "There is no $$python here."; continue; }; \
	  for package in dist/*.whl dist/*.tar.gz; do \
	    rm -rf build/dist && $$python -m venv build/dist \
	    && build/dist/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/run.txt \
	    && build/dist/bin/python -m pip install --quiet --disable-pip-version-check --no-deps "$$package" \
	    && (cd build/dist && bin/memcurate demo --no-view >/dev/null) && echo "$$package passes on $$python." || exit 1; \
	  done; \
	done

docs: install
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

bench: install
	$(BIN)/python -m benchmarks.speed $(UNITS)
	$(BIN)/python -m benchmarks.startup
	$(BIN)/python -m benchmarks.view

bench-search: install
	@test -n "$(DATA)" || { echo "Name the benchmark: make bench-search DATA=DIR"; exit 2; }
	$(BIN)/python -m benchmarks.search_quality "$(DATA)"

bench-secrets: install
	$(BIN)/python -m benchmarks.secrets $(DATA)

lint: install
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/zizmor --quiet --offline --no-progress .github
	$(BIN)/hadolint deploy/Containerfile

format: install
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

# Locks every dependency for every platform, with hashes; needs uv. `make lock UPGRADE=` keeps the versions locked before.
UPGRADE ?= --upgrade
LOCK := uv pip compile --quiet --no-strip-extras --universal --generate-hashes --no-header $(UPGRADE)
lock:
	$(LOCK) --no-emit-package memcurate --group dev pyproject.toml deploy/fleet/pyproject.toml -o requirements/dev.txt
	$(LOCK) --group release -o requirements/release.txt
	$(LOCK) pyproject.toml -o requirements/run.txt
	$(LOCK) --no-emit-package memcurate pyproject.toml deploy/fleet/pyproject.toml -o requirements/fleet.txt

clean:
	rm -rf .venv build dist site .pytest_cache .mypy_cache .ruff_cache .hypothesis
