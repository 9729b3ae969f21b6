# One Makefile for people and for CI. `make` alone lists the targets.

PYTHON ?= python3
CARGO ?= cargo
VENV := .venv
PY := $(VENV)/bin/python
DEMO := fixtures/captures/failover-v6
# pyo3's build script asks this interpreter, so that every cargo command below gives it the same answer.
export PYO3_PYTHON := $(CURDIR)/$(PY)

# What the installed package is made from; Python sources are used in place and need no rebuild.
RUST_SOURCES := Cargo.toml Cargo.lock \
	$(shell find dissectors replay -name fuzz -prune -o \( -name '*.rs' -o -name Cargo.toml \) -print)
BUILT := $(VENV)/.built

# A crate in no workspace but its own; `make fuzz` tries so many inputs on each of its targets.
FUZZ := dissectors/wire/fuzz
RUNS ?= 1000000

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help build demo test lint types rust bench bench-replay bench-report bench-large bench-many screenshots accuracy conformance whatif robustness fuzz fixtures studies docs docs-commands site share wheel licenses bare-root clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-13s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

build: $(BUILT) ## install pathscope, editable, with its test tools in .venv

$(BUILT): setup.cfg setup.py pyproject.toml $(RUST_SOURCES)
	@.ci/check-tools "$(PYTHON)" "$(CARGO)"
	@.ci/system-packages "$(PYTHON)" build
	test -x $(PY) || $(PYTHON) -m venv $(VENV)
	$(PY) -m pip install --quiet --disable-pip-version-check --editable '.[test]'
	@touch $@

demo: build ## show the handovers of the failover capture
	$(VENV)/bin/pathscope analyze $(DEMO)/client.pcapng --events $(DEMO)/events.jsonl \
		--label 2001:db8:1::/64=WLAN --label 2001:db8:2::/64=cellular

test: build lint types rust ## run every check and every test
	@.ci/system-packages "$(PYTHON)" test
	$(PY) -m pytest --numprocesses auto --dist loadgroup --no-loadscope-reorder

lint: build ## ruff: style and format of the Python code
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .

# The links give the root the one name it is imported by, and mypy no other folder to walk.
types: build ## mypy --strict, and the extension's stub against the extension
	@rm -rf $(VENV)/typing && mkdir -p $(VENV)/typing/pathscope
	@ln -s $(addprefix $(CURDIR)/,$(filter-out setup.py,$(wildcard *.py)) py.typed cli dissectors analyzer many reports replay) $(VENV)/typing/pathscope
	$(VENV)/bin/mypy $(VENV)/typing/pathscope tests bench docs fixtures/malformed fixtures/findings fixtures/regenerate.py
	$(VENV)/bin/stubtest --mypy-config-file pyproject.toml pathscope.dissectors._core pathscope.replay._native

rust: build ## rustfmt, clippy and the tests of the Rust crates
	@.ci/check-tools "$(PYTHON)" "$(CARGO)" clippy fmt
	$(CARGO) fmt --all --check
	$(CARGO) clippy --locked --workspace --all-targets -- --deny warnings
	$(CARGO) test --locked --package pathscope-wire --package pathscope-replay
	$(CARGO) fmt --check --manifest-path $(FUZZ)/Cargo.toml
	$(CARGO) clippy --locked --lib --tests --target-dir target --manifest-path $(FUZZ)/Cargo.toml -- --deny warnings
	$(CARGO) test --locked --lib --target-dir target --manifest-path $(FUZZ)/Cargo.toml

bench: build ## measure analyze against libpcap, capinfos, tshark, tcptrace, dpkt, Scapy and pyshark
	@.ci/system-packages "$(PYTHON)" bench
	$(PY) -m pip install --quiet --disable-pip-version-check --editable '.[bench]'
	$(PY) bench/run.py --write docs/performance.md

bench-replay: build ## measure how replay keeps time and how fast it sends, beside tcpreplay; as root
	@.ci/system-packages "$(PYTHON)" bench
	PYTHONPATH=tests $(PY) bench/replay.py --write docs/performance.md

bench-report: build ## measure how soon the report of a large run is ready, and how quick its zooms are
	$(PY) bench/report.py --write docs/performance.md

bench-large: build ## measure analyze and the index on a capture of 20 GB, which is made in bench/data
	$(PY) bench/large.py --write docs/performance.md

bench-many: build ## measure analyze of 1,000 small captures: one process, two, a Dask cluster
	$(PY) bench/many.py --write docs/performance.md

conformance: build ## compare the captures in DIR="..." with tshark, field by field; WRITE=docs/conformance.md
	@.ci/system-packages "$(PYTHON)" test
	@test -n "$(DIR)" || { echo "name folders of captures: make conformance DIR=\"...\"" >&2; exit 2; }
	@PYTHONPATH=tests $(PY) -m conformance $(DIR) $(if $(WRITE),--write $(WRITE))

whatif: build ## compare what explain predicts in the runs in DIR="..." with each other; WRITE=docs/explain.md
	@test -n "$(DIR)" || { echo "name folders of runs: make whatif DIR=\"...\"" >&2; exit 2; }
	@PYTHONPATH=tests $(PY) -m whatif $(DIR) $(if $(WRITE),--write $(WRITE))

accuracy: build ## hold the numbers against what the lab knows, in DIR=..., too; WRITE=docs/accuracy.md
	@.ci/system-packages "$(PYTHON)" test
	@PYTHONPATH=tests $(PY) -m accuracy $(DIR) $(if $(WRITE),--write $(WRITE))

robustness: build ## read every file in DIR=... within 5 s and 300 MB
	@test -n "$(DIR)" || { echo "name a folder of files: make robustness DIR=..." >&2; exit 2; }
	@PYTHONPATH=tests $(PY) -m robustness "$(DIR)"

fuzz: ## try RUNS=... inputs on every fuzz target, or on TARGET=...
	@.ci/system-packages "$(PYTHON)" fuzz
	@.ci/fuzz "$(CARGO)" $(RUNS) $(TARGET)

fixtures: build ## run the lab's scenarios anew and write fixtures/captures/lab-*; then make docs
	@.ci/system-packages "$(PYTHON)" test
	$(PY) fixtures/regenerate.py

studies: build ## repeat the studies of ns-2 (a minute) and write their tables into docs/studies.md
	@.ci/system-packages "$(PYTHON)" test
	$(VENV)/bin/pathscope lab reproduce waleed --out build/studies/waleed
	$(VENV)/bin/pathscope lab reproduce chen --out build/studies/chen
	$(PY) docs/studies.py build/studies/waleed build/studies/chen

docs: build ## write the generated parts of docs/ and the golden output of the tests
	$(PY) docs/generate.py
	PYTHONPATH=tests $(PY) fixtures/malformed/make.py
	PYTHONPATH=tests:fixtures/findings $(PY) fixtures/findings/write.py
	PYTHONPATH=tests:fixtures/malformed $(PY) dissectors/wire/fuzz/seeds.py
	PATHSCOPE_UPDATE_GOLDEN=1 $(PY) -m pytest --quiet tests/reports/test_golden.py \
		tests/reports/replay/test_fidelity.py tests/test_manual.py::test_what_is_not_run_is_counted

docs-commands: build ## run every command of the pages, also those that make test leaves for their time; minutes
	@.ci/system-packages "$(PYTHON)" test
	$(PY) -m pytest --verbose tests/test_manual.py tests/every_block.py

# Material warns of a MkDocs 2 that is not out, and on which nothing here depends.
site: build ## write the documentation as a site into build/site; it needs no network
	NO_MKDOCS_2_WARNING=1 $(VENV)/bin/mkdocs build --strict

screenshots: build ## write the pictures of docs/images/, of the report in a real browser
	@.ci/system-packages "$(PYTHON)" test
	PYTHONPATH=tests $(PY) docs/screenshots.py

share: build ## write manual pages and completion for shells into share/
	$(PY) docs/share.py share

wheel: build ## build wheel and sdist into dist/, and use both in clean environments
	$(PY) -m pip install --quiet --disable-pip-version-check --editable '.[wheel]'
	.ci/wheel $(PY)

licenses: build ## write THIRD-PARTY-NOTICES.txt and docs/licenses.md
	@$(CARGO) about --version >/dev/null 2>&1 || \
		{ echo "cargo-about is missing: cargo install --locked --features cli cargo-about" >&2; exit 1; }
	@mkdir -p build
	$(CARGO) about generate --offline --locked --workspace --fail --config .ci/about.toml --format json \
		--output-file build/about.json
	$(PY) docs/licenses.py build/about.json

bare-root: ## make demo and test in a bare Debian in FOLDER=...; as root; TARGETS="..." RUST=debian
	@test -n "$(FOLDER)" || { echo "name a folder that does not exist: make bare-root FOLDER=..." >&2; exit 2; }
	@.ci/system-packages "$(PYTHON)" bare-root
	@.ci/bare-root "$(FOLDER)" $(or $(TARGETS),demo test)

clean: ## remove everything that was built, but not bench/data
	rm -rf $(VENV) build dist share target *.egg-info dissectors/_core.*.so replay/_native.*.so \
		$(addprefix $(FUZZ)/,artifacts corpus target) \
		.hypothesis .mypy_cache .pytest_cache .ruff_cache
	find . -name __pycache__ -not -path './.git/*' -prune -exec rm -r {} +
