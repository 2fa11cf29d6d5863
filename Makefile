# The two ways in: `make verify` shows a verdict on a real protocol, `make test` runs every check of this repository;
# `make quick` is what to run while one works. All need Python 3.11 or newer and nothing else; what they install goes
# into .venv. What takes long says so beforehand, and that it still runs: .ci/watched, tests/heartbeat.py.

VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check
# One more than cores of a small machine: several tests wait for other processes.
WORKERS := 3

# Tests start Python hundreds of times: what it compiled is kept, also where the environment says that it should not be.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help verify quick test nightly checks coverage pages site mutation bench clean interop-icestorm interop-artemis interop-hornetq interop-locks interop-services interop-replay
.NOTPARALLEL:

help:
	@echo "make verify   install the core into $(VENV) and verify spec/icestorm.ha"
	@echo "make quick    format, lint, types, layers, and the tests that are quick (a minute; says what it skipped)"
	@echo "make test     install what the tests need, then all of that and every other test (ten minutes)"
	@echo "make nightly  the same tests and those that take long, and raised limits of changed specs (hours)"
	@echo "make mutation  which mistakes put into the sources no test notices (an hour; goes on where it was)"
	@echo "make pages    write docs/protocols anew, from the specs and what verifying them finds (minutes)"
	@echo "make site     make a site of docs/ below site/, and check its links (a minute)"
	@echo "make coverage  which lines of hacheck no test runs"
	@echo "make bench    explore the same state graphs with Spin and with hacheck, in turn (minutes; spin and gcc)"
	@echo "make interop-icestorm   start clusters of the real IceStorm, kill and pause replicas, check their logs"
	@echo "make interop-artemis    the same with pairs of the real Artemis broker (Java and Maven)"
	@echo "make interop-hornetq    the same with pairs of real HornetQ servers (Java and Maven)"
	@echo "make interop-locks      put the locks of redis-py and filelock under test in real, paused processes (redis-server)"
	@echo "make interop-services   the same with Redis and its sentinels, and with PySyncObj as it was and as it is"
	@echo "make interop-replay     carry counterexamples out on the real IceStorm and Artemis, and write docs/truth.md"
	@echo "make clean    remove $(VENV), caches and builds"

verify: $(VENV)/.installed
	$(BIN)/hacheck verify spec/icestorm.ha

quick: $(VENV)/.installed-for-tests
	@echo "quick checks: about a minute on two cores; the first time, mypy reads everything and takes a minute more"
	@$(MAKE) --no-print-directory checks
	$(BIN)/pytest -q -n 2 --dist worksteal --quick

test: $(VENV)/.installed-for-tests
	@echo "all checks: about ten minutes on two cores"
	@$(MAKE) --no-print-directory checks
	$(BIN)/pytest -q -n $(WORKERS) --dist worksteal

nightly: $(VENV)/.installed-for-tests
	@echo "all checks and those that take long: hours"
	@.ci/watched "pip installs" $(PIP) install --quiet filelock redis pysyncobj  # for the examples with real services
	$(BIN)/pytest -q -n $(WORKERS) --dist worksteal --nightly --timeout 7200
	$(BIN)/python bench/bounds.py --changed --time 1h --jobs 2

# The pages of docs/protocols, which hacheck writes; README.md there is written by hand.
pages: $(VENV)/.installed
	@echo "verifying every shipped spec for its page: some minutes"
	@for spec in spec/*.ha; do \
	  name=$$(basename $$spec .ha); echo "  $$name"; \
	  $(BIN)/hacheck doc $$name --out docs/protocols/$$name.md >/dev/null || exit 1; \
	done

# The site is static, uses no network, and can be opened from the disk; browsers let it search only where it is served.
site: $(VENV)/.installed
	@.ci/watched "pip installs" $(PIP) install --quiet --editable '.[docs]'
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --clean
	@echo "site/index.html; with search: $(BIN)/python -m http.server --bind 127.0.0.1 --directory site"

# Two to three times as long as the tests alone; on Python 3.12 and newer little longer. Where tests fail, the
# lines are shown all the same.
coverage: $(VENV)/.installed-for-tests
	@echo "the tests, and which lines none of them runs: half an hour on two cores"
	@.ci/watched "pip installs" $(PIP) install --quiet 'coverage>=7.10'
	COVERAGE_CORE=$$($(BIN)/python -c 'import sys; print("sysmon" if sys.version_info >= (3, 12) else "ctrace")') \
	  $(BIN)/python -m coverage run -m pytest -q -n $(WORKERS) --dist worksteal \
	  || echo "some tests fail: lines that only these would have run count as not run"
	$(BIN)/python -m coverage combine --quiet
	$(BIN)/python -m coverage report --skip-covered --sort=cover

# What reads the code without running it.
checks:
	$(BIN)/ruff format --check .
	$(BIN)/ruff check --quiet .
	@.ci/watched "mypy reads" $(BIN)/mypy
	@.ci/watched "import-linter reads" $(BIN)/lint-imports --no-logo

# Installs cosmic-ray into an environment of its own, below .mutation.
mutation: $(VENV)/.installed-for-tests
	$(BIN)/python -m tests.mutation

bench: $(VENV)/.installed
	$(BIN)/python bench/native.py
	$(BIN)/python bench/icestorm.py

# These need the real systems, and say what to install where one is not there.
interop-icestorm: $(VENV)/.installed-for-tests
	$(BIN)/python -m tests.interop.icestorm

interop-artemis: $(VENV)/.installed-for-tests
	$(BIN)/python -m tests.interop.artemis

interop-hornetq: $(VENV)/.installed-for-tests
	$(BIN)/python -m tests.interop.hornetq

interop-locks: $(VENV)/.installed-for-tests
	@.ci/watched "pip installs" $(PIP) install --quiet filelock redis
	$(BIN)/pytest -q -rP examples/real_locks

interop-services: $(VENV)/.installed-for-tests
	@.ci/watched "pip installs" $(PIP) install --quiet redis pysyncobj==0.3.15
	$(BIN)/pytest -q -rP examples/real_sentinels examples/real_raft
	@.ci/watched "pip installs" $(PIP) install --quiet --upgrade pysyncobj
	$(BIN)/pytest -q -rP examples/real_raft

interop-replay: $(VENV)/.installed-for-tests
	$(BIN)/python -m bench.truth --repeat 20

# The stamps make a second run start at once. A change of pyproject.toml, or of the Python below, installs again.
$(VENV)/.installed: pyproject.toml $(BIN)/python
	@$(environment)
	@echo "installing hacheck into $(VENV): some 290 MB, a minute or more"
	@.ci/watched "pip installs" $(PIP) install --quiet --no-compile --editable .
	@touch $@

$(VENV)/.installed-for-tests: pyproject.toml $(BIN)/python
	@$(environment)
	@echo "installing hacheck and what its tests need into $(VENV): some 700 MB, two minutes or more"
	@.ci/watched "pip installs" $(PIP) install --quiet --no-compile --editable '.[all]'
	@touch $@ $(VENV)/.installed

# A link into a Python that may have been removed; while it leads nowhere, the stamps are out of date.
$(BIN)/python: ;

# Makes $(VENV) unless it is there and works. A name on the path proves nothing (it may start a version that is not
# installed, or one without venv), so each candidate is asked. PYTHON=... puts another one first.
define environment
if $(PIP) --version >/dev/null 2>&1; then exit 0; fi; \
for python in $(PYTHON) python3 python3.13 python3.12 python3.11 python3.14 python; do \
  "$$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || continue; \
  recent="$$python"; \
  "$$python" -c 'import ensurepip, venv' 2>/dev/null || continue; \
  echo "making $(VENV) with $$("$$python" --version) ($$python)"; \
  exec "$$python" -m venv --clear $(VENV); \
done; \
if [ -n "$$recent" ]; then \
  echo "error: $$("$$recent" --version) ($$recent) comes without venv or ensurepip." >&2; \
  echo "  Install them (on Debian and Ubuntu: the package python3-venv), then run make again." >&2; \
else \
  found=$$(python3 --version 2>&1) || found="no python3 at all"; \
  echo "error: hacheck needs Python 3.11 or newer; found here: $$found." >&2; \
  echo "  Install one, or name it: make verify PYTHON=/path/to/python3.12" >&2; \
fi; \
exit 1
endef

clean:
	rm -rf $(VENV) dist site .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache
	find hacheck tests bench -name __pycache__ -prune -exec rm -rf {} +
