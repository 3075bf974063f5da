package laws

import (
	"go/ast"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/headgate-dev/headgate/"

// arrows are the imports that each room may make of other rooms.
var arrows = map[string][]string{
	"cmd/headgate":                                  {"internal/cli"},
	"internal/cli":                                  {"internal/buildinfo", "internal/cli/boot", "internal/cli/console", "internal/cli/flow", "internal/cli/inspect", "internal/cli/operate", "internal/cli/secrets", "internal/controlplane", "internal/dialect", "internal/dialects", "internal/redaction", "internal/sandbox", "internal/cli/clouds", "internal/cli/crds", "internal/cli/charts"},
	"internal/cli/boot":                             {"internal/cli/below", "internal/cli/causes", "internal/argo", "internal/bootstrap", "internal/cli/console", "internal/controller", "internal/controlplane", "internal/planes", "internal/virtual", "internal/idp", "internal/idp/deploy", "internal/guard", "internal/dialect", "internal/engine", "internal/gitserver", "internal/helm", "internal/host", "internal/installation", "internal/meter", "internal/migration", "internal/offline", "internal/progress", "internal/runner", "internal/server", "internal/source", "internal/tracing", "internal/webhook", "internal/flux", "internal/flux/roots", "internal/flux/standins", "internal/flux/toolkit", "internal/sandbox", "internal/cloud", "internal/provision", "internal/provision/digitalocean", "internal/workflow", "internal/workflow/execute/pods", "internal/workflow/execute/process", "internal/provision/managed", "internal/gitea", "internal/egress", "internal/secrets", "internal/render/decrypt", "internal/promote", "internal/memory"},
	"internal/cli/console":                          {"chart/similar", "internal/buildinfo", "internal/chartserver", "internal/dialect", "internal/engine", "internal/gitserver", "internal/guard", "internal/host", "internal/idp", "internal/offline", "internal/progress", "internal/source", "internal/flux", "internal/flux/policies", "internal/sandbox", "internal/render/decrypt"},
	"internal/cli/flow":                             {"internal/cli/console", "internal/declared", "internal/progress", "internal/workflow/document", "internal/workflow/execute", "internal/workflow/execute/process", "internal/workflow/lint", "internal/workflow/plan", "internal/workflow/request", "internal/workflow/view", "api/argoproj/workflow/v1alpha1"},
	"internal/cli/below":                            {"internal/engine", "internal/health"},
	"internal/cli/causes":                           {"internal/cli/console", "internal/dialect", "internal/engine", "internal/flux/roots", "internal/runner"},
	"internal/cli/inspect":                          {"internal/cli/below", "internal/cli/causes", "internal/idp", "internal/idp/deploy", "chart", "chart/lint", "chart/schema", "internal/lint", "internal/render", "internal/source", "internal/acceptance", "internal/cli/console", "internal/dialect", "internal/engine", "internal/health/argocd", "internal/host", "internal/offline", "internal/progress", "internal/flux/roots", "internal/flux/toolkit"},
	"internal/cli/operate":                          {"internal/cli/console", "internal/dialect", "internal/engine", "internal/progress"},
	"internal/cli/crds":                             {"internal/cli/console", "internal/crdtypes", "internal/helm", "internal/sandbox", "internal/source", "internal/source/chart"},
	"internal/cli/secrets":                          {"internal/cli/console", "internal/gitserver", "internal/render/decrypt", "internal/sopsfile"},
	"internal/controller":                           {"internal/runner", "internal/meter", "internal/server", "internal/webhook", "internal/source", "internal/tracing", "internal/host"},
	"internal/installation":                         {"deploy", "internal/helm", "internal/engine", "internal/argo", "internal/dialect", "internal/host", "internal/flux/roots", "internal/flux/sources", "internal/flux/toolkit"},
	"internal/migration":                            {"internal/engine", "internal/installation", "internal/argo", "internal/dialect", "internal/dialects", "internal/host", "internal/flux/roots", "internal/flux/sources", "internal/flux/toolkit"},
	"internal/bootstrap":                            {"internal/source", "internal/flux/roots", "internal/flux/toolkit"},
	"internal/tracing":                              {"internal/runner", "internal/buildinfo", "internal/redaction"},
	"internal/progress":                             {"internal/runner", "internal/engine"},
	"internal/resourceset":                          {},
	"internal/declared":                             {"internal/engine", "internal/redaction"},
	"internal/jq":                                   {"internal/sandbox"},
	"internal/patterns":                             {},
	"internal/rounds":                               {"internal/guard"},
	"internal/argo/commands":                        {"internal/argo/operation", "internal/argo/destination", "internal/argo/policy", "internal/argo/settings", "internal/health/argocd", "internal/dialect", "internal/engine", "api/argoproj/v1alpha1"},
	"internal/argo/offline":                         {"internal/dialect", "internal/argo/differences", "internal/argo/lint", "internal/argo/appset", "internal/argo/feeds", "internal/argo/manifests", "internal/argo/operation", "internal/argo/policy", "internal/argo/settings", "internal/render/decrypt", "internal/source", "internal/engine", "api/argoproj/v1alpha1", "internal/feed", "internal/bases", "internal/render"},
	"internal/argo/lint":                            {"internal/engine"},
	"internal/argo/sets":                            {"internal/argo/appset", "internal/argo/feeds", "internal/argo/settings", "internal/cluster", "internal/declared", "internal/dialect", "internal/engine", "internal/meter", "internal/rounds", "internal/source", "api/argoproj/v1alpha1", "internal/guard"},
	"internal/argo/live":                            {"internal/argo/differences", "internal/argo/operation", "internal/argo/settings", "internal/cluster", "internal/engine", "internal/health/argocd", "api/argoproj/v1alpha1"},
	"internal/argo/configuration":                   {"internal/argo/manifests", "internal/argo/policy", "internal/argo/settings", "internal/cluster", "internal/engine", "internal/rounds", "api/argoproj/v1alpha1"},
	"internal/argo":                                 {"api/cluster/v1alpha1", "internal/virtual/builtin", "internal/argo/configuration", "internal/argo/sets", "internal/argo/live", "internal/declared", "internal/rounds", "internal/argo/appset", "internal/argo/commands", "internal/argo/destination", "internal/argo/differences", "internal/argo/feeds", "internal/argo/manifests", "internal/argo/offline", "internal/argo/operation", "internal/argo/policy", "internal/argo/settings", "internal/apply", "internal/cluster", "internal/engine", "internal/health/argocd", "internal/meter", "internal/render/decrypt", "internal/runner", "internal/simulate", "internal/source", "api/argoproj/v1alpha1", "internal/dialect", "deploy", "internal/guard", "internal/bases", "internal/render", "internal/redaction"},
	"internal/argo/feeds":                           {"internal/patterns", "internal/rounds", "internal/argo/settings", "internal/source", "api/argoproj/v1alpha1", "internal/feed", "internal/guard", "internal/egress"},
	"internal/feed":                                 {"internal/rounds", "internal/source"},
	"internal/argo/operation":                       {"internal/engine"},
	"internal/argo/settings":                        {"internal/patterns"},
	"internal/argo/destination":                     {"internal/argo/settings"},
	"internal/argo/policy":                          {"internal/patterns", "internal/argo/settings", "internal/source", "api/argoproj/v1alpha1", "internal/redaction"},
	"internal/argo/differences":                     {"internal/sandbox", "internal/jq", "internal/patterns", "internal/argo/settings", "internal/engine", "api/argoproj/v1alpha1"},
	"internal/argo/manifests":                       {"internal/patterns", "internal/argo/settings", "internal/simulate", "internal/render", "internal/render/decrypt", "internal/helm", "internal/source", "internal/source/chart", "internal/engine", "api/argoproj/v1alpha1", "internal/sandbox", "internal/egress"},
	"internal/argo/appset":                          {"internal/sandbox", "internal/jq", "internal/patterns", "internal/argo/settings", "internal/source", "api/argoproj/v1alpha1", "internal/redaction"},
	"internal/images":                               {"internal/patterns", "internal/resourceset"},
	"internal/crdtypes":                             {},
	"api/fluxcd/v1":                                 {},
	"api/argoproj/v1alpha1":                         {},
	"internal/meter":                                {"internal/runner", "internal/redaction"},
	"api/argoproj/workflow/v1alpha1":                {},
	"api/samples":                                   {},
	"api/externalsecrets/v1":                        {},
	"api/externalsecrets/v1alpha1":                  {"api/externalsecrets/v1"},
	"api/externalsecrets/generators/v1alpha1":       {"api/externalsecrets/v1"},
	"api/kargo/v1alpha1":                            {},
	"internal/promote":                              {"internal/patterns", "api/kargo/v1alpha1", "deploy", "internal/cluster", "internal/declared", "internal/dialect", "internal/engine", "internal/promote/expressions", "internal/promote/plan", "internal/promote/steps", "internal/redaction", "internal/rounds", "internal/runner", "internal/sandbox", "internal/promote/commands", "internal/promote/receive", "internal/egress", "internal/source", "internal/tokens", "internal/webhook", "internal/promote/discover", "internal/promote/analysis"},
	"internal/promote/analysis":                     {"internal/promote/expressions"},
	"internal/promote/commands":                     {"api/kargo/v1alpha1", "internal/declared", "internal/dialect", "internal/engine", "internal/promote/plan"},
	"internal/promote/receive":                      {"api/kargo/v1alpha1", "internal/promote/expressions", "internal/promote/plan", "internal/webhook"},
	"internal/promote/plan":                         {"internal/patterns", "api/kargo/v1alpha1"},
	"internal/promote/worktree":                     {"internal/redaction"},
	"internal/promote/steps":                        {"internal/redaction", "internal/promote/plan", "internal/promote/worktree", "internal/helm", "internal/render", "internal/sandbox", "internal/source", "internal/source/chart", "internal/promote/expressions", "internal/egress"},
	"internal/promote/discover":                     {"internal/patterns", "api/kargo/v1alpha1", "internal/redaction", "internal/guard", "internal/promote/plan", "internal/promote/steps", "internal/source", "internal/workflow/text"},
	"internal/promote/expressions":                  {"api/kargo/v1alpha1", "internal/workflow/text"},
	"api/cluster/v1alpha1":                          {},
	"api/idpbuilder/v1alpha1":                       {},
	"internal/server":                               {"internal/loopback"},
	"internal/notify":                               {"internal/rounds", "internal/guard", "internal/expression", "internal/egress"},
	"internal/tokens":                               {"internal/cluster", "internal/declared"},
	"internal/webhook":                              {},
	"internal/egress":                               {},
	"internal/secrets":                              {"internal/patterns", "api/externalsecrets/v1", "api/externalsecrets/generators/v1alpha1", "api/externalsecrets/v1alpha1", "deploy", "internal/cluster", "internal/declared", "internal/dialect", "internal/engine", "internal/redaction", "internal/rounds", "internal/runner", "internal/sandbox", "internal/secrets/generate", "internal/secrets/generate/github", "internal/secrets/plan", "internal/secrets/templates", "internal/secrets/store", "internal/secrets/store/aws", "internal/secrets/store/azure", "internal/secrets/store/fake", "internal/secrets/store/file", "internal/secrets/store/gcp", "internal/secrets/store/gitlab", "internal/secrets/store/kubernetes", "internal/secrets/store/onepassword", "internal/secrets/store/rest", "internal/secrets/store/vault", "internal/secrets/store/webhook", "internal/egress", "internal/simulate", "internal/render/decrypt"},
	"internal/secrets/plan":                         {"internal/patterns", "api/externalsecrets/v1"},
	"internal/secrets/templates":                    {},
	"internal/secrets/generate":                     {"api/externalsecrets/generators/v1alpha1"},
	"internal/secrets/generate/github":              {"internal/secrets/store", "internal/secrets/store/rest"},
	"internal/gitea/hooks":                          {"internal/patterns", "internal/guard", "internal/redaction"},
	"internal/gitea/registry":                       {},
	"internal/gitea":                                {"internal/gitea/bare", "internal/gitea/hooks", "internal/gitea/registry", "internal/gitea/shapes", "internal/gitea/store", "internal/gitserver", "internal/guard"},
	"internal/gitea/shapes":                         {},
	"internal/gitea/bare":                           {"internal/gitserver"},
	"internal/gitea/store":                          {},
	"internal/flux":                                 {"api/fluxcd/v1", "deploy", "internal/apply", "internal/cluster", "internal/declared", "internal/dialect", "internal/engine", "internal/flux/access", "internal/flux/alerts", "internal/flux/generators", "internal/flux/images", "internal/flux/kustomize", "internal/flux/policies", "internal/flux/receivers", "internal/flux/release", "internal/flux/sets", "internal/flux/sources", "internal/flux/standins", "internal/flux/takeover", "internal/flux/toolkit", "internal/flux/walk", "internal/meter", "internal/runner", "internal/runner/objects", "internal/sandbox", "internal/source", "internal/bases", "internal/render"},
	"internal/flux/access":                          {"internal/cluster", "internal/engine", "internal/runner", "internal/source", "internal/egress"},
	"internal/flux/alerts":                          {"internal/patterns", "internal/cluster", "internal/declared", "internal/dialect", "internal/engine", "internal/flux/access", "internal/flux/policies", "internal/flux/sources", "internal/flux/toolkit", "internal/notify", "internal/rounds", "internal/source", "internal/guard"},
	"internal/flux/generators":                      {"internal/declared", "internal/engine", "internal/flux/access", "internal/flux/policies", "internal/flux/sources", "internal/flux/toolkit", "internal/rounds", "internal/source", "internal/source/compose"},
	"internal/flux/images":                          {"internal/cluster", "internal/declared", "internal/engine", "internal/flux/access", "internal/flux/policies", "internal/flux/sources", "internal/flux/toolkit", "internal/images", "internal/meter", "internal/rounds", "internal/sandbox", "internal/source"},
	"internal/flux/kustomize":                       {"internal/patterns", "internal/declared", "internal/engine", "internal/flux/access", "internal/flux/policies", "internal/flux/toolkit", "internal/render", "internal/render/decrypt", "internal/render/substitute", "internal/runner", "internal/simulate"},
	"internal/flux/policies":                        {"internal/engine", "internal/flux/toolkit", "internal/render"},
	"internal/flux/receivers":                       {"api/fluxcd/v1", "internal/cluster", "internal/declared", "internal/engine", "internal/flux/policies", "internal/flux/toolkit", "internal/health", "internal/rounds", "internal/webhook", "internal/guard", "internal/tokens"},
	"internal/flux/release":                         {"internal/apply", "internal/declared", "internal/engine", "internal/flux/access", "internal/flux/kustomize", "internal/flux/policies", "internal/flux/sources", "internal/flux/toolkit", "internal/helm", "internal/helm/plan", "internal/render", "internal/rounds", "internal/runner", "internal/simulate", "internal/source", "internal/sandbox"},
	"internal/flux/roots":                           {"internal/apply", "internal/dialect", "internal/engine", "internal/flux/toolkit"},
	"internal/flux/sets":                            {"api/fluxcd/v1", "internal/declared", "internal/engine", "internal/flux/access", "internal/flux/kustomize", "internal/flux/policies", "internal/flux/toolkit", "internal/resourceset", "internal/rounds", "internal/runner", "internal/sandbox"},
	"internal/flux/sources":                         {"internal/cluster", "internal/declared", "internal/dialect", "internal/engine", "internal/feed", "internal/flux/access", "internal/flux/toolkit", "internal/rounds", "internal/source", "internal/source/chart", "internal/guard", "internal/redaction"},
	"internal/flux/standins":                        {"internal/declared", "internal/dialect", "internal/engine", "internal/flux/kustomize", "internal/flux/release", "internal/flux/sources", "internal/flux/toolkit", "internal/render", "internal/render/substitute", "internal/runner", "internal/simulate", "internal/source"},
	"internal/flux/takeover":                        {"api/fluxcd/v1", "internal/apply", "internal/cluster", "internal/declared", "internal/dialect", "internal/engine", "internal/flux/access", "internal/flux/policies", "internal/flux/release", "internal/flux/roots", "internal/flux/sources", "internal/flux/toolkit", "internal/rounds", "internal/runner", "internal/source", "internal/guard"},
	"internal/flux/toolkit":                         {"api/fluxcd/v1", "internal/apply", "internal/cluster", "internal/declared", "internal/dialect", "internal/engine", "internal/rounds", "internal/runner", "internal/source", "internal/guard", "internal/redaction"},
	"internal/flux/walk":                            {"api/fluxcd/v1", "internal/declared", "internal/dialect", "internal/engine", "internal/flux/access", "internal/flux/generators", "internal/flux/kustomize", "internal/flux/policies", "internal/flux/release", "internal/flux/roots", "internal/flux/sets", "internal/flux/sources", "internal/flux/takeover", "internal/flux/toolkit", "internal/helm", "internal/normalform", "internal/render", "internal/render/decrypt", "internal/runner", "internal/source", "internal/source/chart", "internal/source/compose", "internal/bases", "internal/feed"},
	"deploy":                                        {},
	"internal/runner/objects":                       {"internal/rounds", "internal/runner", "internal/apply", "internal/engine", "internal/render", "internal/source"},
	"internal/runner":                               {"internal/rounds", "internal/render", "internal/source", "internal/apply", "internal/cluster", "internal/health", "internal/engine", "internal/guard", "internal/egress"},
	"internal/normalform":                           {},
	"internal/apply":                                {"internal/cluster", "internal/engine", "internal/normalform", "internal/guard", "internal/managedfields"},
	"internal/managedfields":                        {},
	"internal/cluster":                              {"chart/similar", "internal/health", "internal/engine", "internal/guard"},
	"internal/health":                               {"internal/engine", "internal/expression"},
	"internal/expression":                           {"internal/patterns", "internal/guard"},
	"internal/health/argocd":                        {"internal/patterns", "internal/lua", "internal/engine"},
	"internal/lua":                                  {},
	"internal/engine":                               {},
	"internal/render":                               {"chart/similar", "internal/engine", "internal/source", "internal/render/decrypt", "internal/render/substitute", "internal/guard"},
	"internal/render/decrypt":                       {"internal/egress"},
	"internal/render/substitute":                    {},
	"internal/render/decrypt/decrypttest":           {"internal/render/decrypt"},
	"internal/sopsfile":                             {"internal/patterns", "internal/render/decrypt"},
	"internal/helm":                                 {"internal/helm/plan", "internal/engine", "internal/guard", "internal/managedfields", "internal/sandbox", "internal/egress"},
	"internal/helm/plan":                            {},
	"internal/source":                               {"internal/patterns", "internal/guard", "internal/egress", "internal/redaction"},
	"internal/source/chart":                         {"internal/patterns", "internal/source"},
	"internal/chartserver":                          {"internal/loopback", "internal/source", "internal/source/chart"},
	"internal/source/compose":                       {"internal/patterns", "internal/source"},
	"internal/acceptance":                           {"internal/engine"},
	"internal/gitserver":                            {"internal/loopback"},
	"internal/cloud":                                {"internal/loopback", "internal/cloud/disk", "internal/guard", "internal/egress"},
	"internal/cloud/disk":                           {},
	"internal/controlplane":                         {"internal/controlplane/quiet", "internal/guard"},
	"internal/controlplane/quiet":                   {},
	"internal/memory":                               {},
	"internal/planes":                               {"internal/guard"},
	"internal/buildinfo":                            {},
	"internal/simulate":                             {"internal/expression", "internal/health", "internal/engine"},
	"internal/kit/sockets":                          {},
	"internal/loopback":                             {},
	"internal/kit":                                  {"internal/egress", "internal/controlplane", "internal/installation", "internal/gitserver", "internal/source", "internal/dialect", "internal/dialects", "internal/host", "internal/flux/toolkit", "internal/sandbox"},
	"internal/dialect":                              {"chart/similar", "internal/runner", "internal/engine", "internal/apply", "internal/cluster", "internal/meter", "internal/source", "internal/feed", "internal/guard", "internal/bases", "internal/sandbox", "internal/egress"},
	"internal/offline":                              {"chart/similar", "internal/dialect", "internal/engine"},
	"internal/idp":                                  {"api/idpbuilder/v1alpha1"},
	"internal/virtual":                              {"api/cluster/v1alpha1", "deploy", "internal/cluster", "internal/declared", "internal/dialect", "internal/engine", "internal/planes", "internal/rounds", "internal/runner", "internal/virtual/plan"},
	"internal/virtual/builtin":                      {"api/cluster/v1alpha1", "internal/virtual/plan"},
	"internal/virtual/plan":                         {},
	"internal/idp/deploy":                           {"api/idpbuilder/v1alpha1", "deploy", "internal/apply", "internal/engine", "internal/gitserver", "internal/guard", "internal/idp", "internal/runner", "internal/source"},
	"internal/dialects":                             {"internal/jq", "internal/promote", "internal/secrets", "internal/dialect", "internal/argo", "internal/flux", "internal/sandbox", "internal/helm", "internal/argo/manifests", "internal/workflow", "internal/builds", "internal/virtual", "internal/workflow/execute/process", "internal/provision", "internal/workflow/execute/pods/wrapper"},
	"internal/host":                                 {"internal/dialect", "internal/feed", "internal/runner", "internal/engine", "internal/apply", "internal/cluster", "internal/meter", "internal/render", "internal/source", "internal/guard", "internal/bases", "internal/sandbox", "internal/egress"},
	"internal/guard":                                {},
	"internal/bases":                                {"internal/feed", "internal/render", "internal/source", "internal/egress"},
	"internal/redaction":                            {},
	"internal/sandbox":                              {"internal/guard", "internal/rounds"},
	"internal/workflow":                             {"deploy", "internal/cluster", "internal/declared", "internal/dialect", "internal/engine", "internal/rounds", "internal/runner", "internal/workflow/commands", "internal/workflow/cron", "internal/workflow/execute", "internal/workflow/execute/here", "internal/workflow/lint", "internal/workflow/object", "internal/workflow/plan", "internal/workflow/text", "internal/sandbox", "api/argoproj/workflow/v1alpha1"},
	"internal/workflow/execute/here":                {"internal/apply", "internal/cluster", "internal/guard", "internal/redaction", "internal/rounds", "internal/sandbox", "internal/workflow/execute", "internal/workflow/object", "internal/workflow/plan", "internal/workflow/text", "api/argoproj/workflow/v1alpha1", "internal/egress"},
	"internal/workflow/commands":                    {"internal/declared", "internal/dialect", "internal/workflow/plan", "internal/workflow/text", "api/argoproj/workflow/v1alpha1"},
	"internal/workflow/text":                        {"internal/patterns", "internal/resourceset", "api/argoproj/workflow/v1alpha1"},
	"github.com/expr-lang/":                         {"internal/workflow/text"},
	"github.com/casbin/govaluate":                   {"internal/workflow/text"},
	"github.com/ohler55/ojg":                        {"internal/workflow/text"},
	"internal/workflow/plan":                        {"internal/workflow/text", "api/argoproj/workflow/v1alpha1"},
	"github.com/lestrrat-go/":                       {"internal/workflow/plan"},
	"internal/workflow/object":                      {"internal/jq", "internal/sandbox", "api/argoproj/workflow/v1alpha1"},
	"github.com/tidwall/gjson":                      {"internal/workflow/object"},
	"internal/workflow/cron":                        {"internal/workflow/text", "api/argoproj/workflow/v1alpha1"},
	"internal/workflow/lint":                        {"internal/workflow/cron", "internal/workflow/object", "internal/workflow/plan", "internal/workflow/text", "api/argoproj/workflow/v1alpha1"},
	"api/build/v1alpha1":                            {"api/argoproj/workflow/v1alpha1"},
	"internal/workflow/execute":                     {"internal/workflow/plan", "api/argoproj/workflow/v1alpha1"},
	"internal/workflow/request":                     {"internal/workflow/plan", "api/argoproj/workflow/v1alpha1"},
	"internal/workflow/view":                        {"internal/workflow/plan", "internal/workflow/request", "api/argoproj/workflow/v1alpha1"},
	"internal/workflow/document":                    {"internal/workflow/lint", "internal/workflow/plan", "api/argoproj/workflow/v1alpha1"},
	"internal/workflow/artifacts":                   {"internal/source", "api/argoproj/workflow/v1alpha1", "internal/egress"},
	"internal/workflow/execute/process":             {"internal/redaction", "internal/workflow/artifacts", "internal/workflow/execute", "internal/workflow/plan", "internal/guard", "internal/rounds", "api/argoproj/workflow/v1alpha1", "internal/dialect"},
	"internal/provision":                            {"internal/dialect", "internal/runner", "internal/provision/managed", "internal/provision/objects", "internal/provision/digitalocean"},
	"internal/provision/objects":                    {"internal/cluster", "internal/dialect", "internal/engine", "internal/expression", "internal/provision/managed", "deploy", "api/crossplane/kubernetes", "internal/provision/trio", "internal/egress"},
	"api/crossplane/kubernetes":                     {"api/crossplane/resource"},
	"api/crossplane/kubernetes/v1alpha1":            {"api/crossplane/kubernetes", "api/crossplane/resource"},
	"api/crossplane/kubernetes/v1alpha2":            {"api/crossplane/kubernetes", "api/crossplane/resource"},
	"api/crossplane/kubernetes/namespaced/v1alpha1": {"api/crossplane/kubernetes", "api/crossplane/resource"},
	"internal/cli/clouds":                           {"internal/cli/console", "internal/cloud"},
	"internal/workflow/execute/pods":                {"internal/cluster", "internal/dialect", "internal/workflow/artifacts", "internal/workflow/execute", "internal/workflow/execute/pods/wrapper", "internal/workflow/plan", "api/argoproj/workflow/v1alpha1"},
	"internal/workflow/execute/pods/wrapper":        {"internal/guard", "internal/workflow/artifacts", "api/argoproj/workflow/v1alpha1"},
	"chart/typed":                                   {"chart"},
	"chart/waves":                                   {"chart"},
	"chart/rbac":                                    {"chart", "chart/typed"},
	"chart/workload":                                {"chart", "chart/typed"},
	"chart/argocd":                                  {"api/argoproj/v1alpha1", "chart", "chart/typed"},
	"chart/externalsecrets":                         {"api/externalsecrets/v1", "chart", "chart/typed"},
	"chart/kargo":                                   {"api/kargo/v1alpha1", "chart", "chart/rbac", "chart/typed"},
	"chart/packages":                                {"api/argoproj/v1alpha1", "chart"},
	"chart/factory":                                 {"api/argoproj/v1alpha1", "chart", "chart/argocd", "chart/packages", "chart/schema", "chart/similar"},
	"internal/scaffold":                             {},
	"internal/scaffold/template":                    {"chart", "chart/argocd", "chart/factory", "chart/packages", "chart/workload"},
	"internal/synth":                                {"chart"},
	".":                                             {},
	"examples/platform":                             {"api/argoproj/v1alpha1", "chart", "chart/argocd", "chart/factory", "chart/packages", "chart/workload", "api/kargo/v1alpha1", "api/externalsecrets/v1"},
	"examples/typed-charts":                         {"chart", "chart/argocd", "chart/factory", "chart/packages", "chart/workload"},
	"examples/nixos-image":                          {"chart", "chart/schema", "api/argoproj/workflow/v1alpha1", "api/build/v1alpha1", "api/crossplane/digitalocean", "api/crossplane/digitalocean/namespaced/config", "api/crossplane/digitalocean/namespaced/droplet", "api/crossplane/digitalocean/namespaced/ssh", "api/crossplane/kubernetes", "api/crossplane/kubernetes/v1alpha1", "api/crossplane/kubernetes/v1alpha2", "api/crossplane/resource"},
	"internal/cli/charts":                           {"chart", "internal/buildinfo", "internal/cli/console", "internal/progress", "internal/scaffold", "internal/synth"},
	"internal/secrets/store":                        {"internal/patterns"},
	"internal/secrets/store/file":                   {"internal/render/decrypt", "internal/secrets/store"},
	"internal/secrets/store/*":                      {"internal/secrets/store", "internal/secrets/store/rest"},
	"internal/lint":                                 {},
	"internal/laws":                                 {},

	"chart":                   {"chart/internal/document"},
	"chart/charttest":         {"chart"},
	"chart/internal/document": {},
	"chart/similar":           {},
	"chart/schema":            {"chart", "chart/similar"},
	"chart/schema/expression": {"chart/schema"},
	"chart/lint":              {"chart", "chart/similar"},
	"chart/helm":              {"chart"},
	"hack/schemas":            {},
	"hack/release":            {},
	"hack/picture":            {},
	"hack/annotations":        {"chart/lint"},

	"internal/provision/managed":            {"internal/dialect", "internal/engine", "internal/cluster", "internal/declared", "internal/rounds"},
	"internal/provision/digitalocean/api":   {"internal/rounds"},
	"internal/provision/digitalocean":       {"api/crossplane/digitalocean", "deploy", "internal/dialect", "internal/provision/digitalocean/api", "internal/provision/digitalocean/kinds", "internal/provision/managed", "internal/provision/trio"},
	"internal/provision/digitalocean/kinds": {"api/crossplane/digitalocean"},
	"api/crossplane/digitalocean":           {"api/crossplane/resource"},
	"api/crossplane/resource":               {},
	"api/crossplane/*/*/*":                  {"api/crossplane/digitalocean", "api/crossplane/resource"},

	"internal/builds":         {"api/build/v1alpha1", "api/argoproj/workflow/v1alpha1", "deploy", "internal/builds/lint", "internal/builds/place", "internal/builds/plan", "internal/cluster", "internal/declared", "internal/dialect", "internal/engine", "internal/rounds", "internal/runner"},
	"internal/builds/lint":    {"internal/provision/trio"},
	"internal/builds/place":   {},
	"internal/builds/plan":    {"api/build/v1alpha1", "api/argoproj/workflow/v1alpha1"},
	"internal/provision/trio": {"api/build/v1alpha1"},
}

// guarded are modules that one room alone imports with the rooms below it, besides the tests outside the rooms.
var guarded = map[string][]string{
	"k8s.io/kubernetes/":       {"internal/controlplane", "internal/acceptance"},
	"go.etcd.io/":              {"internal/controlplane", "internal/controlplane/quiet"},
	"sigs.k8s.io/kwok/":        {"internal/controlplane"},
	"github.com/getsops/":      {"internal/render/decrypt", "internal/render/decrypt/decrypttest", "internal/sopsfile"},
	"github.com/go-git/":       {"internal/source", "internal/promote/worktree"},
	"github.com/sergi/go-diff": {"internal/promote/worktree"},
	// Programs are started by these alone; none of them has files of a tenant's repository as its work tree.
	"os/exec":                                 {"internal/sandbox", "internal/gitserver", "internal/idp/deploy", "internal/synth", "internal/sopsfile", "internal/cli/secrets", "internal/workflow/execute/process", "internal/workflow/execute/pods/wrapper", "hack"},
	"github.com/hiddeco/sshsig":               {"internal/source"},
	"github.com/golang-jwt/":                  {"internal/source", "internal/gitea/registry", "internal/secrets/generate/github"},
	"github.com/google/go-containerregistry/": {"internal/source", "internal/chartserver", "internal/kit", "chart/helm", "internal/gitea/registry", "internal/promote/plan", "internal/promote/discover"},
	"github.com/minio/":                       {"internal/source"},
	"helm.sh/":                                {"internal/helm", "internal/source/chart", "chart/helm"},
	"github.com/fluxcd/kustomize-controller/": {"internal/flux"},
	"github.com/fluxcd/source-controller/":    {"internal/flux"},
	"github.com/fluxcd/helm-controller/":      {"internal/flux"},
	"github.com/fluxcd/source-watcher/":       {"internal/flux"},
	"github.com/bmatcuk/doublestar/":          {"internal/patterns", "internal/source/compose", "internal/argo/manifests"},
	"github.com/digitalocean/":                {"internal/provision/digitalocean"},
	"k8s.io/kubectl/":                         {"internal/helm"},
	"github.com/fluxcd/pkg/chartutil":         {"internal/helm"},
	"github.com/fluxcd/pkg/ssa":               {"internal/normalform"},
	"sigs.k8s.io/kustomize/":                  {"internal/render", "internal/flux", "internal/helm", "internal/argo/manifests"},
	"github.com/Masterminds/sprig/":           {"internal/resourceset", "internal/argo/appset", "internal/workflow/text", "internal/secrets/templates"},
	"github.com/gobwas/glob":                  {"internal/patterns"},
	"github.com/robfig/cron/":                 {"internal/argo/policy", "internal/workflow/cron", "internal/builds/plan"},
	"github.com/itchyny/gojq":                 {"internal/jq", "internal/workflow/object"},
	"github.com/google/go-jsonnet":            {"internal/argo/manifests"},
	"github.com/spf13/cobra":                  {"internal/cli", "internal/cli/boot", "internal/cli/console", "internal/cli/flow", "internal/cli/inspect", "internal/cli/operate", "internal/cli/secrets", "internal/cli/clouds", "internal/cli/crds", "internal/cli/charts"},
	"go.opentelemetry.io/":                    {"internal/tracing"},
	"github.com/argoproj/":                    {"internal/simulate", "internal/health/argocd"},
	"github.com/yuin/gopher-lua":              {"internal/lua"},

	"github.com/fluxcd/image-reflector-controller/":  {"internal/flux"},
	"github.com/fluxcd/image-automation-controller/": {"internal/flux"},
	"github.com/fluxcd/notification-controller/":     {"internal/flux"},
}

// pureRooms take values and return values.
var pureRooms = []string{"internal/engine", "internal/managedfields", "internal/helm/plan", "internal/resourceset", "internal/images", "internal/simulate", "internal/argo/settings", "internal/argo/policy", "internal/argo/lint", "internal/patterns", "internal/provision/digitalocean/kinds", "internal/builds/plan", "internal/virtual/builtin", "internal/virtual/plan", "internal/promote/plan", "internal/promote/expressions", "internal/secrets/plan", "internal/secrets/templates", "internal/secrets/generate"}

// pure are the imports that would end the purity of a room: clients, clocks, files, goroutines.
var pure = []string{"context", "io", "math/rand", "net", "os", "sync", "k8s.io/client-go", "k8s.io/apimachinery/pkg/watch"}

func TestArrows(t *testing.T) {
	for _, f := range sources(t) {
		if strings.HasPrefix(f.room, "test/") {
			continue
		}
		allowed, known := arrowsOf(f.room)
		if !known {
			t.Errorf("%s: room %q is not in the table of arrows; say what it may import", f.path, f.room)
			continue
		}
		for _, spec := range f.ast.Imports {
			name, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				t.Fatal(err)
			}
			if to, ours := strings.CutPrefix(name, module); ours && !slices.Contains(allowed, to) && to != f.room && !f.test {
				t.Errorf("%s: %s -> %s is an arrow that the law does not allow", f.path, f.room, to)
			}
			for prefix, rooms := range guarded {
				if strings.HasPrefix(name, prefix) && !below(rooms, f.room) && !f.test {
					t.Errorf("%s: %s -> %s: only %v may import it", f.path, f.room, name, rooms)
				}
			}
		}
	}
}

// arrowsOf are those of a room, or of all rooms of a pattern: an API group is a room of its own.
func arrowsOf(room string) ([]string, bool) {
	if allowed, known := arrows[room]; known {
		return allowed, true
	}
	for pattern, allowed := range arrows {
		if matches, _ := path.Match(pattern, room); matches {
			return allowed, true
		}
	}
	return nil, false
}

// below reports whether a room is one of several, or below one of them.
func below(rooms []string, room string) bool {
	return slices.ContainsFunc(rooms, func(one string) bool { return room == one || strings.HasPrefix(room, one+"/") })
}

func TestPureRooms(t *testing.T) {
	for _, f := range sources(t) {
		if !slices.Contains(pureRooms, f.room) || f.test {
			continue
		}
		for _, spec := range f.ast.Imports {
			name, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				t.Fatal(err)
			}
			for _, impure := range pure {
				if name == "net/url" || name == "net/netip" {
					continue // they parse addresses, and send no requests
				}
				if name == impure || strings.HasPrefix(name, impure+"/") {
					t.Errorf("%s: %s -> %s: the room takes values and returns values", f.path, f.room, name)
				}
			}
		}
		ast.Inspect(f.ast, func(n ast.Node) bool {
			if node, ok := n.(*ast.SelectorExpr); ok {
				if x, ok := node.X.(*ast.Ident); ok && x.Name == "time" && slices.Contains([]string{"Now", "Since", "Until", "After", "NewTimer"}, node.Sel.Name) {
					t.Errorf("%s: time.%s: the room is told the time", f.path, node.Sel.Name)
				}
			}
			return true
		})
	}
}
