package boot

import (
	"context"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"
	"sigs.k8s.io/yaml"

	"github.com/headgate-dev/headgate/internal/cli/console"
	"github.com/headgate-dev/headgate/internal/controlplane"
	"github.com/headgate-dev/headgate/internal/source"
)

// planeGates are the feature gates of the embedded Kubernetes.
type planeGates struct {
	given map[string]string
	gates map[string]bool
}

const planeGatesFlag = "kubernetes-feature-gates"

func (p *planeGates) bind(f *pflag.FlagSet) {
	f.StringToStringVar(&p.given, planeGatesFlag, nil, "feature gates of the embedded Kubernetes, such as HPAScaleToZero=true")
}

// check reads the gates; one that the embedded Kubernetes does not take is an error.
func (p *planeGates) check(g *console.Globals) error {
	var err error
	if p.gates, err = controlplane.ParseGates(p.given); err != nil {
		return fmt.Errorf("--%s: %w", planeGatesFlag, err)
	}
	if len(p.given) > 0 && g.Real() {
		return fmt.Errorf("--%s: feature gates apply to the embedded Kubernetes, not to the cluster of --kubeconfig", planeGatesFlag)
	}
	return nil
}

// suggest is what to say of the gates that configurations of Talos in a repository set for its API server, and that
// are otherwise here; empty when there is nothing to say.
func (p *planeGates) suggest(ctx context.Context, repository string) string {
	tree, err := source.Directory{Path: repository}.Tree(source.Selection{})
	if err != nil {
		return ""
	}
	for _, path := range tree.Paths() {
		if ctx.Err() != nil {
			return ""
		}
		file, there := tree.File(path)
		if !there || file.Size > maxTalos {
			continue
		}
		data, err := file.Read()
		if err != nil || !strings.Contains(string(data), talosGates) {
			continue
		}
		other := controlplane.OtherGates(talosGatesOf(data))
		maps.DeleteFunc(other, func(name string, on bool) bool { return p.gates[name] == on && p.given[name] != "" })
		if len(other) > 0 {
			text := joinGates(other)
			return fmt.Sprintf("%s sets %s for the API server of its cluster; to set it here: --%s %s", path, text, planeGatesFlag, text)
		}
	}
	return ""
}

func joinGates(gates map[string]bool) string {
	var words []string
	for _, name := range slices.Sorted(maps.Keys(gates)) {
		words = append(words, fmt.Sprintf("%s=%t", name, gates[name]))
	}
	return strings.Join(words, ",")
}

// talosGates is the argument of the API server, and maxTalos the largest file that may be a configuration of Talos.
const (
	talosGates = "feature-gates"
	maxTalos   = 1 << 20
)

// talosPath is where a machine configuration of Talos has the arguments of the API server.
const talosPath = "/cluster/apiServer/extraArgs"

// talosGatesOf reads the feature gates of the API server out of a machine configuration of Talos, a patch of one, a
// file that holds such patches as texts, or a template of any of these.
func talosGatesOf(data []byte) map[string]bool {
	found := map[string]bool{}
	for _, document := range strings.Split("\n"+string(data), "\n---") {
		var value any
		if yaml.Unmarshal([]byte(document), &value) == nil {
			gatesIn(value, "", found)
			continue
		}
		// A template is no YAML before it is rendered; mostly it is without the tags.
		if yaml.Unmarshal([]byte(untagged(document)), &value) == nil {
			gatesIn(value, "", found)
		}
	}
	return found
}

var (
	// tagLine is a line that has nothing but tags of a template, of Jinja or of Go, and tag is one of them.
	tagLine = regexp.MustCompile(`(?m)^[ \t]*(?:(?:\{%.*?%\}|\{\{.*?\}\}|\{#.*?#\})[ \t]*)+\r?$`)
	tag     = regexp.MustCompile(`\{%.*?%\}|\{\{.*?\}\}|\{#.*?#\}`)
)

// untagged is a template without its tags.
func untagged(text string) string {
	return tag.ReplaceAllString(tagLine.ReplaceAllString(text, ""), "x")
}

// gatesIn goes through a value; at is the path to it within a machine configuration, as far as it can be one.
func gatesIn(value any, at string, found map[string]bool) {
	switch v := value.(type) {
	case map[string]any:
		if target, is := v["path"].(string); is && v["op"] != nil {
			gatesIn(v["value"], strings.TrimSuffix(target, "/"), found)
			return
		}
		for key, below := range v {
			gatesIn(below, at+"/"+key, found)
		}
	case []any:
		for _, item := range v {
			if text, is := item.(string); is && strings.HasSuffix(at, talosPath+"/"+talosGates) {
				addGates(text, found)
				continue
			}
			gatesIn(item, "", found)
		}
	case string:
		switch {
		case strings.HasSuffix(at, talosPath+"/"+talosGates):
			addGates(v, found)
		case strings.Contains(v, talosGates) && strings.Contains(v, "\n"):
			maps.Copy(found, talosGatesOf([]byte(v)))
		}
	}
}

// addGates reads NAME=true,NAME=false.
func addGates(text string, found map[string]bool) {
	for part := range strings.SplitSeq(text, ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(part), "=")
		if on, err := strconv.ParseBool(value); err == nil {
			found[name] = on
		}
	}
}
