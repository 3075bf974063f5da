# Everything here is plain go underneath: "go build ./cmd/headgate" and "go test ./..." work as well.
GO       ?= go
VERSION  ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
COMMIT   ?= $(shell git rev-parse HEAD 2>/dev/null || echo unknown)
LDFLAGS  := -s -w -X github.com/headgate-dev/headgate/internal/buildinfo.version=$(VERSION) \
            -X github.com/headgate-dev/headgate/internal/buildinfo.commit=$(COMMIT)
PROGRESS := hack/progress
TOOL     := cd tools && GOBIN=$(CURDIR)/bin $(GO) install
export GO
# Scripts and tests run sh, sed and their like, wherever a PATH leads that holds Go, Git and make.
export PATH := $(PATH):/usr/bin:/bin

# There is no -trimpath: it would compile everything twice, once for the binary and once for the tests.

.DEFAULT_GOAL := help
.PHONY: help demo build test check fix bench generate generate-check docs-check tidy-check lint

help: ## Say what there is
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-9s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

demo: build ## Boot the example cluster and keep it running (Ctrl-C ends)
	bin/headgate up examples/layered --ephemeral --age-key-file examples/layered/age.agekey

build: ## Build bin/headgate; the first build takes minutes and says how far it is
	@$(PROGRESS) -ldflags "$(LDFLAGS)" -o bin/headgate ./cmd/headgate

test: ## Run all tests
	@$(PROGRESS) ./internal/...
	$(GO) test -p 2 -timeout 25m ./...

# The quick ones come first.
check: tidy-check generate-check lint docs-check ## What CI checks beside the tests; it writes nothing but bin/

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

generate: ## Generate the CRDs from the upstream's types, and the manifests from the chart
	hack/crds
	hack/manifests

generate-check:
	hack/crds --check

bench: ## Measure: boot, memory, requests, latency (takes minutes; prints a table)
	$(GO) run ./test/bench -cold
