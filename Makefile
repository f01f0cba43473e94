# make demo: the whole pipeline at the small scale.  make release: the agent of models/trained.  make test: everything CI runs.
# make play: a table in the browser, at which you play the agent of models/trained.
# make demo hands=FILES trains the opponent nets on no-limit hands of people instead of self-play.
PYTHON ?= python3
SCALE ?= demo
VENV := .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/.installed
# what is imported is byte-compiled once, for nothing is at the installation
unexport PYTHONDONTWRITEBYTECODE
# commands end with the first make, even if it is killed (poker/run/child.py)
ifeq ($(MAKELEVEL),0)
export POKERNETS_ENDS_WITH := $(shell echo $$PPID)
endif
SOURCE := $(if $(hands),source=hands 'path="$(hands)"',source=self_play_nolimit)
OPPONENTS := artifacts=artifacts/$(SCALE)/$(if $(hands),people,nolimit)
, := ,
SEATS := blueprint,depth_limited,depth_limited_rollout,naive,depth_limited_exploit_net

.PHONY: demo pipeline leaf_net opponents release play test check static fast bounds bench golden docs clean
.DEFAULT_GOAL := demo

$(INSTALLED): pyproject.toml constraints.txt
	@echo 'Installing, which takes about three minutes on two cores, once: [1/3] virtual environment in $(VENV) (10 s)'
	$(PYTHON) -m venv $(VENV)
	@echo '[2/3] packages (one or two minutes and the download; torch is the largest)'
	$(BIN)/pip install --quiet --no-compile --disable-pip-version-check -c constraints.txt -e ".[dev,play]"
	@echo '[3/3] compile the kernels'
	$(BIN)/python -m poker.kernels
	touch $@

# $(call step,NUMBER,WHAT): a line before each of the nine steps of the demo, with its time there
step = @printf '\n[%s/9] %s\n' '$(1)' '$(2)'

demo: $(INSTALLED)
	@echo 'The pipeline at scale=$(SCALE) trains a blueprint, a leaf net and two opponent nets. Then it prints three tables: losses to'
	@echo 'unknown bets, the gain from learning an opponent, and the losses of the nets. At the demo scale this takes about four'
	@echo 'minutes on two cores. Press Ctrl+C at any time; the same command continues.'
	@$(MAKE) --no-print-directory pipeline
	$(call step,9,three tables (75 s))
	$(BIN)/python evaluate.py evaluate=demo scale=$(SCALE) $(patsubst artifacts=%,opponents=%,$(OPPONENTS))

# all artifacts of a scale; existing ones are reused
pipeline: $(INSTALLED)
	$(call step,1,abstraction: groups of similar hands (45 s))
	$(BIN)/python -m data_gen job=abstraction scale=$(SCALE)
	$(call step,2,blueprint: a coarse strategy of the whole game (25 s))
	$(BIN)/python -m data_gen job=blueprint scale=$(SCALE)
	$(call step,3,leaf table: values at the end of the preflop round (35 s))
	$(BIN)/python -m data_gen job=leaf_table scale=$(SCALE)
	$(call step,4,leaf states: training data of the leaf net (20 s))
	$(BIN)/python -m data_gen job=leaf_states scale=$(SCALE)
	@bash -o pipefail -c '$(MAKE) --no-print-directory opponents 2>&1 | { $(MAKE) --no-print-directory leaf_net && cat; }'

# the nets run beside each other on a core each; the pipe delays the lines of `opponents` until `leaf_net` has ended
leaf_net: $(INSTALLED)
	$(call step,5,leaf net: values at the end of the flop round (25 s; steps 6 to 8 run beside it))
	$(BIN)/python train.py model=leaf scale=$(SCALE)

opponents: $(INSTALLED)
	$(call step,6,opponent actions: decisions of players (10 s; of people with hands=FILES))
	$(BIN)/python -m data_gen job=opponent_actions $(SOURCE) scale=$(SCALE) $(OPPONENTS)
	$(call step,7,opponent net: predicts fold$(,) call or raise from the hand so far (15 s))
	$(BIN)/python train.py model=opponent net=hand net.classes=9 scale=$(SCALE) $(OPPONENTS)
	$(call step,8,adaptive opponent net: also from earlier hands of the player (20 s))
	$(BIN)/python train.py model=opponent net=adaptive net.classes=9 scale=$(SCALE) $(OPPONENTS)

release: $(INSTALLED)
	@echo 'Trains the agent of models/trained at scale=laptop in two core hours or more (docs/results/costs). The times of the steps'
	@echo 'are for the demo scale. Press Ctrl+C at any time; the same command continues.'
	@$(MAKE) --no-print-directory pipeline SCALE=laptop
	$(BIN)/python -m data_gen job=bundle scale=laptop job.agents=[$(SEATS)] job.table_step=0.0078125 \
		job.megabytes=40 job.output=models/trained/laptop.bundle

play: $(INSTALLED)
	$(BIN)/python evaluate.py evaluate=play scale=laptop artifacts=models/trained/laptop.bundle

# packages that only the tests need: Triton, which interprets a GPU's kernels, Ray, W&B and ONNX
$(VENV)/.extras: $(INSTALLED)
	$(BIN)/pip install --quiet --no-compile --disable-pip-version-check -c constraints.txt -e ".[gpu,ray]" \
		wandb onnx onnxscript onnxruntime
	touch $@

test: $(INSTALLED) $(VENV)/.extras
	@$(BIN)/python -m tests.needs
	$(BIN)/python -m pytest -n 2 --dist loadfile --no-loadscope-reorder

check: $(INSTALLED)
	$(MAKE) --no-print-directory --jobs=2 static fast

static: $(INSTALLED)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/lint-imports
	$(BIN)/mypy

fast: $(INSTALLED) $(VENV)/.extras
	$(BIN)/python -m pytest -n 2 --dist loadfile -m "not slow and not gpu"

# tests with bounds checks in all kernels, which are compiled separately
bounds: $(INSTALLED) $(VENV)/.extras
	NUMBA_BOUNDSCHECK=1 NUMBA_CACHE_DIR=$(CURDIR)/build/bounds $(BIN)/python -m pytest -n 2 --dist loadfile \
		-m "not slow and not gpu" --ignore=tests/kernels/test_compile.py \
		$(addprefix tests/,kernels solvers depth_limit search abstraction opponents models agents)

bench: $(INSTALLED)
	$(BIN)/python -m tests.bench.vector

golden: $(INSTALLED)
	$(BIN)/python -m tests.game.test_playthroughs

$(VENV)/.docs: $(INSTALLED)
	$(BIN)/pip install --quiet --no-compile --disable-pip-version-check -c constraints.txt -e ".[docs]"
	touch $@

# the site, from docs/ and from docstrings, in build/docs
docs: $(INSTALLED) $(VENV)/.docs
	$(BIN)/python -m sphinx -q -W --keep-going -b html docs build/docs

clean:
	rm -rf $(VENV) build dist .pytest_cache .mypy_cache .ruff_cache *.egg-info
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
