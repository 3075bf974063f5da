# Everything here is plain go underneath: "go build ./cmd/headgate" and "go test ./..." work as well.
GO       ?= go
VERSION  ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
COMMIT   ?= $(shell git rev-parse HEAD 2>/dev/null || echo unknown)
LDFLAGS  := -s -w -X github.com/headgate-dev/headgate/internal/buildinfo.version=$(VERSION) \
            -X github.com/headgate-dev/headgate/internal/buildinfo.commit=$(COMMIT)
PROGRESS := hack/progress
TOOL     := cd tools && GOBIN=$(CURDIR)/bin $(GO) install

.DEFAULT_GOAL := help
.PHONY: help demo build test check fix bench generate docs-check lint

help: ## Say what there is
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

demo: build ## Boot the example cluster and keep it running (Ctrl-C ends)
	bin/headgate up examples/layered --ephemeral --age-key-file examples/layered/age.agekey

build: ## Build bin/headgate; the first build takes minutes and says how far it is
	@$(PROGRESS) ./cmd/headgate
	$(GO) build -ldflags "$(LDFLAGS)" -o bin/headgate ./cmd/headgate

test: ## Run all tests
	@$(PROGRESS) ./cmd/headgate
	$(GO) test -timeout 25m ./...

check: lint docs-check ## What CI checks beside the tests; it never writes
	$(GO) mod tidy -diff
	$(GO) vet ./...

lint: bin/golangci-lint
	bin/golangci-lint run --allow-parallel-runners --timeout 20m ./...

bin/golangci-lint: tools/go.mod
	$(TOOL) github.com/golangci/golangci-lint/v2/cmd/golangci-lint

docs-check:
	$(GO) run ./cmd/headgate docs --check docs/guide/cli.md

fix: bin/golangci-lint ## Format, tidy and regenerate
	bin/golangci-lint fmt ./...
	$(GO) mod tidy
	$(GO) run ./cmd/headgate docs > docs/guide/cli.md

generate: ## Generate the CRDs from the upstream's types
	cd tools && $(GO) tool controller-gen crd paths=github.com/fluxcd/kustomize-controller/api/v1 \
		paths=github.com/fluxcd/source-controller/api/v1 output:crd:dir=$(CURDIR)/internal/flux/crds
	cd internal/flux/crds && rm -f *_buckets.yaml *_externalartifacts.yaml *_helmcharts.yaml *_helmrepositories.yaml *_ocirepositories.yaml

bench: ## Measure: boot, memory, requests, latency (takes minutes; prints a table)
	$(GO) run ./test/bench
