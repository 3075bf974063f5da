// Package conformance describes the packages of a public platform that was written with cdk8s, in Go, and compares them with what
// cdk8s wrote. That tree is no part of this repository: STACKS_GOLDEN names its folder, and the tests are skipped without it.
package conformance

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"

	"github.com/headgate-dev/headgate/chart"
	"github.com/headgate-dev/headgate/chart/factory"
	"github.com/headgate-dev/headgate/chart/packages"
	"github.com/headgate-dev/headgate/chart/schema"
)

// tree is the folder with what cdk8s wrote.
type tree struct {
	testing.TB
	dir string
}

func golden(t testing.TB) tree {
	t.Helper()
	if dir := os.Getenv("STACKS_GOLDEN"); dir != "" {
		return tree{TB: t, dir: dir}
	}
	t.Skip("the golden tree of cdk8s is not here; STACKS_GOLDEN names its folder")
	return tree{}
}

// text is a text in a file of the tree: scripts, certificates and passwords are inputs of the charts, and not part of them.
func (g tree) text(file string, path ...string) string {
	g.Helper()
	data, err := os.ReadFile(filepath.Join(g.dir, file))
	if err != nil {
		g.Fatal(err)
	}
	var value any
	if err := yaml.Unmarshal(data, &value); err != nil {
		g.Fatal(err)
	}
	for _, name := range path {
		switch v := value.(type) {
		case map[string]any:
			value = v[name]
		case []any:
			value = v[name[0]-'0']
		}
	}
	text, is := value.(string)
	if !is {
		g.Fatalf("%s: %v is not a text", file, path)
	}
	return text
}

// files writes the entries of a ConfigMap of the tree to a directory, from which a chart reads them.
func (g tree) files(file string, keys ...string) string {
	g.Helper()
	dir := g.TempDir()
	for _, key := range keys {
		if err := os.WriteFile(filepath.Join(dir, key), []byte(g.text(file, "data", key)), 0o600); err != nil {
			g.Fatal(err)
		}
	}
	return dir
}

// verdict is how a package compares.
type verdict struct {
	objects, equal, bytes int
	why                   []string
}

func TestConformance(t *testing.T) {
	g := golden(t)
	registry, config := describe(g)
	built, err := factory.Build(registry, config, factory.Options{Settings: chart.Settings{Names: chart.CDK8sNames}, ChartID: "install"})
	if err != nil {
		t.Fatal(err)
	}
	result, err := packages.Synth(built, packages.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	ours := map[string][]byte{}
	for _, file := range result.Files {
		ours[file.Path] = file.Data
	}
	verdicts := map[string]*verdict{}
	for _, path := range g.paths() {
		name, _, _ := strings.Cut(strings.TrimSuffix(path, ".yaml"), "/")
		if verdicts[name] == nil {
			verdicts[name] = &verdict{}
		}
		g.compare(path, ours[path], verdicts[name])
		delete(ours, path)
	}
	for path := range ours {
		t.Errorf("%s is not in the golden tree", path)
	}
	if len(verdicts) != 32 {
		t.Errorf("%d packages were compared, want 32", len(verdicts))
	}
	table := report(verdicts)
	t.Log("\n" + table)
	if to := os.Getenv("STACKS_REPORT"); to != "" {
		if err := os.WriteFile(to, []byte(table), 0o600); err != nil {
			t.Error(err)
		}
	}
}

// paths are the files of the tree.
func (g tree) paths() []string {
	g.Helper()
	var all []string
	err := filepath.WalkDir(g.dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || filepath.Ext(path) != ".yaml" {
			return err
		}
		relative, err := filepath.Rel(g.dir, path)
		all = append(all, filepath.ToSlash(relative))
		return err
	})
	if err != nil {
		g.Fatal(err)
	}
	return all
}

// compare compares one file: by its bytes, else by what it means.
func (g tree) compare(path string, ours []byte, v *verdict) {
	g.Helper()
	v.objects++
	theirs, err := os.ReadFile(filepath.Join(g.dir, path))
	if err != nil {
		g.Fatal(err)
	}
	if bytes.Equal(ours, theirs) {
		v.equal++
		v.bytes++
		return
	}
	if ours == nil {
		v.why = append(v.why, filepath.Base(path)+" is missing")
		g.Errorf("%s is missing", path)
		return
	}
	if diff := cmp.Diff(g.meaning(theirs), g.meaning(ours)); diff != "" {
		v.why = append(v.why, filepath.Base(path)+" differs")
		g.Errorf("%s (-cdk8s +headgate):\n%s", path, diff)
		return
	}
	v.equal++
	v.why = append(v.why, filepath.Base(path)+": order of keys")
	g.Errorf("%s means the same, in other bytes (-cdk8s +headgate):\n%s", path, cmp.Diff(string(theirs), string(ours)))
}

func (g tree) meaning(data []byte) any {
	g.Helper()
	var value any
	if err := yaml.Unmarshal(data, &value); err != nil {
		g.Fatal(err)
	}
	return value
}

// report is the table of all packages.
func report(verdicts map[string]*verdict) string {
	var text strings.Builder
	text.WriteString("| package | files | equal | bytes | why not |\n|---|---|---|---|---|\n")
	var names []string
	for name := range verdicts {
		names = append(names, name)
	}
	slices.Sort(names)
	total := verdict{}
	for _, name := range names {
		v := verdicts[name]
		fmt.Fprintf(&text, "| %s | %d | %d | %d | %s |\n", name, v.objects, v.equal, v.bytes, strings.Join(v.why, "; "))
		total.objects, total.equal, total.bytes = total.objects+v.objects, total.equal+v.equal, total.bytes+v.bytes
	}
	fmt.Fprintf(&text, "| all %d | %d | %d | %d | |\n", len(names), total.objects, total.equal, total.bytes)
	return text.String()
}

// BenchmarkPlatform makes all 32 packages; the texts that the charts read are read before.
func BenchmarkPlatform(b *testing.B) {
	registry, config := describe(golden(b))
	for b.Loop() {
		built, err := factory.Build(registry, config, factory.Options{Settings: chart.Settings{Names: chart.CDK8sNames}, ChartID: "install"})
		if err != nil {
			b.Fatal(err)
		}
		if _, err := packages.Synth(built, packages.Settings{}); err != nil {
			b.Fatal(err)
		}
	}
}

// TestFindings validates the platform against the schemas of Kubernetes, which take all of it, and finds what its authors did not see:
// the manifests of vault are never deployed, and its values are missing.
func TestFindings(t *testing.T) {
	registry, config := describe(golden(t))
	check := schema.Check{Missing: schema.MissingIgnored}
	built, err := factory.Build(registry, config, factory.Options{Settings: chart.Settings{Checks: []chart.Check{check}}})
	if err != nil {
		t.Fatal(err)
	}
	result, err := packages.Synth(built, packages.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, finding := range result.Chart().Findings {
		got = append(got, finding.Message)
	}
	want := []string{
		"package vault: no source of the Application deploys vault/manifests; add one of cnoe://vault/manifests",
		"package vault: the values file $values/values.yaml is not in the package; give it values",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
