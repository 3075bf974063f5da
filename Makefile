# Everything here is plain go underneath: "go build ./cmd/headgate" and "go test ./..." work as well. Tests run without vet: it is one of the
# linters, and takes minutes. Twice as many run beside each other as there are processors, since scenarios wait for half of their time.
GO       ?= go
VERSION  ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
COMMIT   ?= $(shell git rev-parse HEAD 2>/dev/null || echo unknown)
LDFLAGS  := -s -w -X github.com/headgate-dev/headgate/internal/buildinfo.version=$(VERSION) \
            -X github.com/headgate-dev/headgate/internal/buildinfo.commit=$(COMMIT)
PROGRESS := hack/progress
TOOL     := cd tools && GOBIN=$(CURDIR)/bin $(GO) install
export GO
# Scripts and tests run sh, sed and the like, even if PATH names only Go, Git and make.
export PATH := $(PATH):/usr/bin:/bin

# There is no -trimpath: it would compile everything twice, once for the binary and once for the tests.

.DEFAULT_GOAL := help
.PHONY: help demo build test race race-scenarios check fix bench soak fuzz generate generate-check schemas docs-check tidy-check lint cross picture

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-15s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

demo: build ## Boot the example cluster and keep it running (Ctrl-C ends)
	bin/headgate up examples/layered --ephemeral --age-key-file examples/layered/age.agekey

build: ## Build bin/headgate; the first build takes minutes and shows its progress
	@$(PROGRESS) -ldflags "$(LDFLAGS)" -o bin/headgate ./cmd/headgate

test: ## Run all tests
	@$(PROGRESS) ./internal/...
	$(GO) test -p 2 -parallel $$((2 * $$(getconf _NPROCESSORS_ONLN))) -vet=off -timeout 40m ./...

# The race detector needs cgo and a C compiler (gcc and libc6-dev), which nothing else here does, and compiles every
# dependency again. So "race" covers what may have races, and does not link k8s.io/kubernetes: the packages that fetch, render,
# move units and write to clusters. The embedded control plane, the command line that links it, and acceptance, which calls the API
# server's validation, are covered by the scenarios. Neither list is maintained by hand: hack/raced reads the packages.
RACE = CGO_ENABLED=1 $(GO) test -race -vet=off

race: ## Run the tests of all packages that start goroutines and do not link Kubernetes with the race detector; needs a C compiler
	$(RACE) -p 2 -timeout 25m $$(hack/raced)

race-scenarios: ## The same for the scenarios and the other tests; RUN=TestScenarios/argo selects some
	$(RACE) -p 1 -timeout 90m -run '$(RUN)' $$(hack/raced --others)

# The quick ones run first.
check: tidy-check generate-check lint docs-check ## What CI checks besides the tests; writes only to bin/

tidy-check:
	$(GO) mod tidy -diff
	cd tools && $(GO) mod tidy -diff

lint: bin/golangci-lint
	bin/golangci-lint run --allow-parallel-runners --timeout 20m ./...

bin/golangci-lint: tools/go.mod
	$(TOOL) github.com/golangci/golangci-lint/v2/cmd/golangci-lint

docs-check: build
	bin/headgate docs --check docs/guide/cli.md

fix: generate bin/golangci-lint ## Format, tidy and regenerate
	bin/golangci-lint fmt ./...
	$(GO) mod tidy
	cd tools && $(GO) mod tidy
	$(MAKE) build
	bin/headgate docs > bin/cli.md && mv bin/cli.md docs/guide/cli.md

generate: ## Generate the CRDs from the upstream's types, the manifests from the chart, the requirements of the chart SDK, the schemas of annotations
	hack/crds
	hack/manifests
	$(GO) test ./internal/scaffold -run 'TestSDK|TestModule' -update
	$(GO) test ./hack/annotations -run TestFiles -update

schemas: ## Write the schemas of Kubernetes that chart/schema embeds; downloads the releases that hack/schemas lists
	hack/schemas/generate

generate-check:
	hack/crds --check

cross: ## Build for macOS, on which no test runs (takes minutes)
	CGO_ENABLED=0 GOOS=darwin GOARCH=arm64 $(GO) build -o /dev/null ./cmd/headgate

picture: build ## Draw docs/boot.svg, the picture of the README, from what a boot prints
	$(GO) run ./hack/picture -o docs/boot.svg bin/headgate up examples/layered --ephemeral --age-key-file examples/layered/age.agekey --exit-when-ready

bench: ## Measure: boot, memory, requests, latency (takes minutes; prints a table)
	$(GO) run ./test/bench -cold

soak: build ## Churn and failures for half an hour (ARGS='-duration 3m -units 50'); fails when the cluster is not what Git declares
	$(GO) run ./test/soak $(ARGS)

fuzz: ## Run every fuzz target for 20 s; FUZZTIME=1m for longer, PACKAGES=source for some
	hack/fuzz
