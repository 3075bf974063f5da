// Package annotations writes what editors and people look up about the names below headgate.dev: deploy/schema/annotations.json,
// deploy/schema/simulate-health.json and docs/guide/annotations.md. Its test compares the table with the names in the code, and the schemas
// with what the code makes of the same values.
package annotations

import (
	"regexp"
	"slices"
	"strings"

	"github.com/headgate-dev/headgate/chart/lint"
)

// A Use is who writes a name, and where.
type Use int

const (
	// People write the annotation into files, and Headgate reads it.
	People Use = iota
	// Headgate writes the annotation into a cluster.
	Headgate
	// Elsewhere is a name that is no annotation: a label, a finalizer, a provisioner, a key of a status.
	Elsewhere
)

// A Name is one below headgate.dev, as it stands in the code.
type Name struct {
	// Key is the whole name.
	Key string
	Use Use
	// Kinds that have it; any if there are none.
	Kinds []string
	// Pattern of the value, a regular expression without flags; any text if it is empty. What values for people mean is in Text.
	Pattern string
	Text    string
	// Good and Bad are values for people: the schema permits the former alone.
	Good, Bad []string
}

// timePattern is that of a time, as RFC 3339 writes it.
const timePattern = `\d{4}-\d{2}-\d{2}[Tt]\d{2}:\d{2}:\d{2}(\.\d+)?([Zz]|[+-]\d{2}:\d{2})`

// Table has all names, those for people first.
func Table() []Name { return slices.Concat(forPeople(), byHeadgate(), elsewhere()) }

func forPeople() []Name {
	units := []string{"Kustomization", "HelmRelease", "ResourceSet", "Application"}
	item := `([^/,\s]*\.[^/,\s]*/)?[^/,.\s]+/([^/,\s]*/)?[^/,\s]+`
	return []Name{
		{
			Key:     "headgate.dev/depends-on",
			Kinds:   units,
			Pattern: list(item),
			Text:    "Waits until these objects are ready: `[group/]Kind/[namespace/]name`, separated by commas. The group of built-in kinds and of units may be left out; the namespace is that of the object.",
			Good:    []string{"Kustomization/flux-system/infra", "Deployment/shop/web, apps.example.com/Widget/big"},
			Bad:     []string{"infra", "Deployment/", "a/b/c/d"},
		},
		{
			Key:     "headgate.dev/allow-reinstall",
			Kinds:   []string{"HelmRelease"},
			Pattern: `[1-9]\d*`,
			Text:    "Allows a change that uninstalls the release and installs it again. The value is `metadata.generation` of the object, so that it counts once.",
			Good:    []string{"3"},
			Bad:     []string{"true", "0"},
		},
		{
			Key:     "headgate.dev/decryption",
			Kinds:   []string{"Application"},
			Pattern: `sops(/.*)?`,
			Text:    "Decrypts files of SOPS with the keys in the Secret `sops-age` of Argo CD's namespace, or with `sops/NAME` in another one there. The project has to list it.",
			Good:    []string{"sops", "sops/team-keys"},
			Bad:     []string{"age", "SOPS", "sops:keys"},
		},
		{
			Key:   "headgate.dev/decryption-secrets",
			Kinds: []string{"AppProject"},
			Text:  "The Secrets by which Applications of the project may decrypt: patterns as in `spec.sourceRepos`, separated by commas. None by default.",
			Good:  []string{"sops-age, team-*"},
		},
		{
			Key:     "headgate.dev/deletion-hold",
			Kinds:   units,
			Pattern: `0|(\d+(\.\d*)?(ns|us|µs|ms|s|m|h))+`,
			Text:    "How long the deletions of the unit wait at most for other units that may be about to declare the objects, or that have objects in a Namespace or of a definition which is deleted: `0s` deletes at once. `--deletion-hold` otherwise.",
			Good:    []string{"0s", "30m", "1h30m"},
			Bad:     []string{"never", "-1s", "30"},
		},
		{
			Key:     "headgate.dev/deletion-budget",
			Kinds:   []string{"ApplicationSet"},
			Pattern: `\s*(\d+|(\d{1,2}|100)%)\s*`,
			Text:    "How many of its Applications one pass may delete: a number, or a percentage. Half of them by default, and at least one; `100%` permits everything.",
			Good:    []string{"0", "3", "25%", "100%"},
			Bad:     []string{"half", "-1", "101%", "3.5"},
		},
		{
			Key:   "headgate.dev/deletion-approved",
			Kinds: []string{"ApplicationSet"},
			Text:  "Approves deletions that are held: by the digest that the message names, or by a time of the last hour, such as `2026-01-02T15:04:05Z`.",
			Good:  []string{"2026-01-02T15:04:05Z"},
		},
		{
			Key:     "headgate.dev/pin",
			Kinds:   []string{"Application"},
			Pattern: `.+ until\s+` + timePattern + `\s*`,
			Text:    "Holds the Application at a revision, without automated syncs: `REVISION until TIME`. `headgate rollback` writes it, and `headgate rollback --unpin` removes it.",
			Good:    []string{"4f1c2d until 2026-01-02T15:04:05Z"},
			Bad:     []string{"4f1c2d", "4f1c2d until tomorrow"},
		},
		{
			Key:     "headgate.dev/lint-ignore",
			Pattern: list(`(lint/)?(` + strings.Join(ruleNames(), "|") + `)`),
			Text:    "Excepts the object from rules of `headgate lint`: names of rules and groups, separated by commas, or `*`. Also in the template of pods.",
			Good:    []string{"*", "run-as-non-root,probes", "lint/image-tag"},
			Bad:     []string{"all", "image-tags"},
		},
		{
			Key:   "build.headgate.dev/outputs-of-run",
			Kinds: []string{"Object"},
			Text:  "Names the Secrets that the runs of a wrapped Workflow write, separated by commas, where no reader of the unit says so.",
			Good:  []string{"machine-key, machine-address"},
		},
	}
}

func byHeadgate() []Name {
	return []Name{
		written("headgate.dev/hooks", "which hooks have run", "Application"),
		written("headgate.dev/completed", "which Jobs have completed that their time to live deletes", "Application"),
		written("headgate.dev/hook-of", "what a hook was created from, and by which sync"),
		written("headgate.dev/definition", "the digest of the definition that was applied", "CustomResourceDefinition"),
		written("headgate.dev/up", "what `headgate up` made a root object for: a directory, or a URL"),
		written("headgate.dev/package", "the argument of `--package` that declares the object"),
		written("headgate.dev/package-file", "the file of the package that declares the object"),
		written("headgate.dev/package-object", "what the object of idpbuilder's kinds shows"),
		written("workflows.headgate.dev/retried", "when a Workflow was retried after its end, in seconds since 1970", "Workflow"),
		written("workflows.headgate.dev/run", "the attempt that created the object"),
		written("workflows.headgate.dev/schedule-since", "from when on times of the schedule are due", "CronWorkflow"),
		written("workflows.headgate.dev/stopped", "why the pod was stopped", "Pod"),
		written("provision.headgate.dev/attempt", "the number of the last creation, and when it began"),
		written("build.headgate.dev/digest", "the digest of the inputs that it was made of"),
		written("build.headgate.dev/rebuild-epoch", "how many rebuilds without a change of inputs had been requested"),
		written("build.headgate.dev/attempt", "the number of the run for its digest"),
		written("build.headgate.dev/run", "the run that made it"),
		written("build.headgate.dev/run-uid", "the UID of that run"),
		written("build.headgate.dev/built-at", "when that run ended"),
		written("build.headgate.dev/outputs", "the digest of the declaration by which it was written"),
		written("cluster.headgate.dev/virtual-cluster", "the VirtualCluster that the Secret was written for", "Secret"),
		written("cluster.headgate.dev/source", "the Secret of the host that the copy is of", "Secret"),
		written("cluster.headgate.dev/labels", "the labels that the Secret was given for its VirtualCluster", "Secret"),
		written("default-project.headgate.dev/", "whether the default project of a namespace is `implied` or `required`; the name ends with the namespace", "CustomResourceDefinition"),
	}
}

func elsewhere() []Name {
	return []Name{
		{Key: "headgate.dev/simulated", Use: Elsewhere, Text: "label of stand-ins and simulated nodes, and the provisioner of simulated storage"},
		{Key: "headgate.dev/workflow", Use: Elsewhere, Text: "plugin of a metric in an AnalysisTemplate"},
		{Key: "headgate.dev/steps", Use: Elsewhere, Text: "key in the status of a Promotion"},
		{Key: "headgate.dev/request", Use: Elsewhere, Text: "information of an operation"},
		{Key: "build.headgate.dev/build", Use: Elsewhere, Text: "label"},
		{Key: "build.headgate.dev/namespace", Use: Elsewhere, Text: "label"},
		{Key: "cluster.headgate.dev/copy", Use: Elsewhere, Text: "label"},
		{Key: "cluster.headgate.dev/finalizer", Use: Elsewhere, Text: "finalizer"},
	}
}

func written(key, text string, kinds ...string) Name {
	return Name{Key: key, Use: Headgate, Kinds: kinds, Text: text}
}

// list is the pattern of items with commas between them; empty ones are passed over.
func list(item string) string { return `\s*(` + item + `)?\s*(,\s*(` + item + `)?\s*)*` }

// ruleNames are the names that except from rules of lint.
func ruleNames() []string {
	names := []string{`\*`}
	for _, rule := range lint.Rules() {
		names = append(names, regexp.QuoteMeta(rule.Name), regexp.QuoteMeta(rule.Group))
	}
	slices.Sort(names)
	return slices.Compact(names)
}
