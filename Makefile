# make demo: the whole pipeline at the small scale.  make test: everything CI runs.
# make play: a table in the browser, at which you play the agent of models/trained.
# make demo irc=ARCHIVE trains the opponent nets on hands of people instead of our own players'.
PYTHON ?= python3
SCALE ?= demo
VENV := .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/.installed
irc ?= $(IRC)
# what is imported is byte-compiled once, for nothing is at the installation
unexport PYTHONDONTWRITEBYTECODE
SOURCE := $(if $(irc),source=irc path='$(irc)',source=self_play)
OPPONENTS := $(if $(irc),artifacts=artifacts/$(SCALE)/irc)

.PHONY: demo play test check static fast bounds bench golden clean
.DEFAULT_GOAL := demo

$(INSTALLED): pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --no-compile --disable-pip-version-check -c constraints.txt -e ".[dev,play]"
	$(BIN)/python -m poker.kernels
	touch $@

demo: $(INSTALLED)
	$(BIN)/python -m data_gen job=abstraction scale=$(SCALE)
	$(BIN)/python -m data_gen job=blueprint scale=$(SCALE)
	$(BIN)/python -m data_gen job=leaf_table scale=$(SCALE)
	$(BIN)/python -m data_gen job=leaf_states scale=$(SCALE)
	$(BIN)/python train.py model=leaf scale=$(SCALE)
	$(BIN)/python -m data_gen job=opponent_actions $(SOURCE) scale=$(SCALE) $(OPPONENTS)
	$(BIN)/python train.py model=opponent net=hand scale=$(SCALE) $(OPPONENTS)
	$(BIN)/python train.py model=opponent net=adaptive scale=$(SCALE) $(OPPONENTS)
	$(BIN)/python -m data_gen job=preflop_rollouts scale=$(SCALE) $(OPPONENTS)
	$(BIN)/python evaluate.py evaluate=baselines scale=$(SCALE)
	$(BIN)/python evaluate.py experiment=demo_ring scale=$(SCALE) $(OPPONENTS)

play: $(INSTALLED)
	$(BIN)/python evaluate.py evaluate=play scale=laptop artifacts=models/trained/laptop.bundle

test: $(INSTALLED)
	$(BIN)/python -m pytest -n 2 --dist loadfile --no-loadscope-reorder

check: $(INSTALLED)
	$(MAKE) --no-print-directory --jobs=2 static fast

static: $(INSTALLED)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/lint-imports
	$(BIN)/mypy

fast: $(INSTALLED)
	$(BIN)/python -m pytest -n 2 --dist loadfile -m "not slow and not gpu"

# kernels that look at every index, compiled apart from the others
bounds: $(INSTALLED)
	NUMBA_BOUNDSCHECK=1 NUMBA_CACHE_DIR=$(CURDIR)/build/bounds $(BIN)/python -m pytest -n 2 --dist loadfile \
		-m "not slow and not gpu" --ignore=tests/kernels/test_compile.py \
		$(addprefix tests/,kernels solvers search abstraction opponents features models agents)

bench: $(INSTALLED)
	$(BIN)/python -m tests.bench

golden: $(INSTALLED)
	$(BIN)/python -m tests.golden.regenerate

clean:
	rm -rf $(VENV) build dist .pytest_cache .mypy_cache .ruff_cache *.egg-info
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
