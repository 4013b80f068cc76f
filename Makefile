# Commands for working on effectonce. "make" lists them.

SHELL := /bin/bash
.DEFAULT_GOAL := help

# How long one package's tests may take.
TIMEOUT ?= 10m
# list: skipped tests are listed; fail: they are failures.
SKIPS ?= $(if $(filter 1,$(REQUIRE_SERVICES)),fail,list)
# What to benchmark: canon or stores beside others, or a folder by itself.
BENCH ?= canon
# How long each benchmark of a folder runs.
BENCHTIME ?= 1s
# How long each fuzz test runs.
FUZZTIME ?= 30s
# More arguments for "make demo", such as --keep, and for "make bench", such as
# -rounds 5. See docs/performance.md.
ARGS ?=

.PHONY: help
help: ## List these commands
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: deps
deps: ## Install what the tests need (root on Debian), or print how
	@scripts/deps.sh

.PHONY: test
test: ## Test every module with the race detector, on real servers
	@scripts/deps.sh --user
	@go run ./internal/testrun -skips=$(SKIPS) -- -race -count=1 -timeout=$(TIMEOUT) ./...
	@echo "--- keys with encoding/json version 2" && GOEXPERIMENT=jsonv2 go test -count=1 ./canon/... ./key/...

.PHONY: vet
vet: ## Run go vet in every module
	@scripts/each-module.sh go vet ./...

.PHONY: lint
lint: ## Run the linter in every module
	@scripts/lint.sh

.PHONY: fmt
fmt: ## Format all Go files
	@gofmt -w .

.PHONY: fmt-check
fmt-check: ## List Go files that are not formatted, and fail if there are any
	@files=$$(gofmt -l .) && if [[ -n $$files ]]; then echo "not formatted (make fmt):" && echo "$$files" && exit 1; fi

.PHONY: check
check: fmt-check vet lint ## Everything that must be quiet before a commit, but for tests

.PHONY: bench
bench: ## Run benchmarks: BENCH=canon|stores|growth beside others, or a folder
	@scripts/bench.sh $(BENCH) $(BENCHTIME) $(ARGS)

.PHONY: fuzz
fuzz: ## Run every fuzz test for FUZZTIME=30s
	@scripts/fuzz.sh $(FUZZTIME)

.PHONY: demo
demo: ## Show what happens to effects without and with effectonce
	@go run ./worker demo $(ARGS)

.PHONY: clean
clean: ## Remove what builds and tests leave in this folder
	@rm -rf bin coverage.out
	@find . -name '*.test' -type f -delete -o -name '*.prof' -type f -delete
