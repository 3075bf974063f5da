package helm

import (
	"context"
	"errors"
	"strings"

	"helm.sh/helm/v4/pkg/action"
	"helm.sh/helm/v4/pkg/chart/common"
	chartv2 "helm.sh/helm/v4/pkg/chart/v2"
	"helm.sh/helm/v4/pkg/engine"
	"k8s.io/client-go/rest"

	"github.com/headgate-dev/headgate/internal/sandbox"
)

// The functions that templates of a chart call instead of what is in them.
const (
	renderAll = "headgateRenderAll"
	rendering = "headgateRendered"
)

// isolated has the templates of one chart rendered by a job, although Helm's actions render within themselves: for as long as the
// action gets there, each template is but a call that returns what the job made of it. Helm executes the deepest template first.
// One that is deeper than all others orders the job, with the values as Helm has composed them, and puts the chart back as it was,
// so that the release is stored with the chart that was given.
type isolated struct {
	ctx   context.Context //nolint:containedctx // it lasts as long as the action, which gives none to templates
	by    *sandbox.Client
	chart *chartv2.Chart
	dns   bool
	// cluster is what lookup reads; nil when it finds nothing.
	cluster *rest.Config

	kind      string
	templates []*common.File
	texts     map[*common.File][]byte
	files     map[string]string
	err       error
}

// isolate prepares an action, and returns how to undo that, which changes the error of the action to that of the job.
func (o Common) isolate(ctx context.Context, config *action.Configuration, chart *chartv2.Chart, cluster *rest.Config) func(error) error {
	i := &isolated{ctx: ctx, by: o.Sandbox, chart: chart, dns: o.EnableDNS, cluster: cluster, texts: map[*common.File][]byte{}}
	i.kind, i.templates = chart.Metadata.Type, chart.Templates
	// Templates of a library are not executed: the job knows that, and the one that orders it has to be.
	chart.Metadata.Type = ""
	deepest := i.stub(chart)
	order := &common.File{Name: "templates/" + strings.Repeat("_/", deepest) + "order", Data: []byte("{{ " + renderAll + " . }}")}
	chart.Templates = append(chart.Templates[:len(chart.Templates):len(chart.Templates)], order)
	config.CustomTemplateFuncs = map[string]any{renderAll: i.render, rendering: i.rendered}
	return func(err error) error {
		i.restore()
		if err != nil && i.err != nil {
			return i.err
		}
		return err
	}
}

// stub replaces the templates of a chart and of those that it needs, and returns how deep the deepest one is below the chart.
func (i *isolated) stub(c *chartv2.Chart) int {
	deepest := 0
	for _, t := range c.Templates {
		if _, done := i.texts[t]; t == nil || done {
			continue
		}
		deepest = max(deepest, strings.Count(t.Name, "/"))
		i.texts[t], t.Data = t.Data, []byte("{{ "+rendering+" .Template.Name }}")
	}
	const charts = 2 // the slashes of charts/NAME
	for _, d := range c.Dependencies() {
		deepest = max(deepest, charts+i.stub(d))
	}
	return deepest + 1
}

// restore puts the chart back as it was.
func (i *isolated) restore() {
	for t, text := range i.texts {
		t.Data = text
	}
	i.chart.Metadata.Type, i.chart.Templates = i.kind, i.templates
	i.texts = nil
}

// render orders the job. top is what the templates of the chart itself see.
func (i *isolated) render(top map[string]any) (string, error) {
	i.restore()
	in := charted{Chart: packed(i.chart), Values: plainValues(top["Values"]), DNS: i.dns, Lookup: i.cluster != nil}
	in.Release, _ = top["Release"].(map[string]any)
	if caps, is := top["Capabilities"].(*common.Capabilities); is {
		in.Capabilities = capabilities{
			Version: caps.KubeVersion.Version, Normal: caps.KubeVersion.String(), Major: caps.KubeVersion.Major, Minor: caps.KubeVersion.Minor,
			APIVersions: caps.APIVersions,
		}
	}
	i.err = do(i.ctx, i.by, chartJob{}, in, &i.files, lookups{i.cluster})
	return "", i.err
}

// rendered is what the job made of a template; nothing, where it executed none of that name.
func (i *isolated) rendered(name string) string { return i.files[name] }

// do runs a job on a value.
func do(ctx context.Context, by *sandbox.Client, job sandbox.Job, in, out any, answers sandbox.Answerer) error {
	input, err := sandbox.Encode(in)
	if err != nil {
		return err
	}
	output, err := by.Do(ctx, job, input, answers)
	if err != nil {
		return err
	}
	return sandbox.Decode(output, out)
}

// plainValues are values as a map.
func plainValues(values any) map[string]any {
	switch v := values.(type) {
	case common.Values:
		return v
	case map[string]any:
		return v
	}
	return nil
}

// lookups answer the function lookup of templates from a cluster.
type lookups struct{ cluster *rest.Config }

// question is what a template looks up.
type question struct{ APIVersion, Kind, Namespace, Name string }

// Answer reads objects, as the account of the action.
func (l lookups) Answer(_ context.Context, asked []byte) ([]byte, error) {
	var q question
	if err := sandbox.Decode(asked, &q); err != nil {
		return nil, err
	}
	if l.cluster == nil {
		return nil, errors.New("lookup: there is no cluster")
	}
	found, err := engine.NewLookupFunction(l.cluster)(q.APIVersion, q.Kind, q.Namespace, q.Name)
	if err != nil {
		return nil, err
	}
	return sandbox.Encode(found)
}

// charted is what a chart is rendered from.
type charted struct {
	Chart        packedChart
	Values       map[string]any
	Release      map[string]any
	Capabilities capabilities
	// DNS lets templates resolve names, and Lookup read objects.
	DNS, Lookup bool
}

// capabilities are what charts see of a cluster.
type capabilities struct {
	Version, Normal, Major, Minor string
	APIVersions                   []string
}

// packedChart is a chart with those that it needs.
type packedChart struct {
	Metadata     *chartv2.Metadata
	Templates    []packedFile
	Files        []packedFile
	Dependencies []packedChart
}

// packedFile is a file of a chart.
type packedFile struct {
	Name string
	Data []byte
}

func packed(c *chartv2.Chart) packedChart {
	out := packedChart{Metadata: c.Metadata, Templates: packedFiles(c.Templates), Files: packedFiles(c.Files)}
	for _, d := range c.Dependencies() {
		out.Dependencies = append(out.Dependencies, packed(d))
	}
	return out
}

func packedFiles(files []*common.File) []packedFile {
	out := make([]packedFile, 0, len(files))
	for _, f := range files {
		if f != nil {
			out = append(out, packedFile{f.Name, f.Data})
		}
	}
	return out
}

func (c packedChart) unpacked() *chartv2.Chart {
	out := &chartv2.Chart{Metadata: c.Metadata, Templates: unpackedFiles(c.Templates), Files: unpackedFiles(c.Files)}
	for _, d := range c.Dependencies {
		out.AddDependency(d.unpacked())
	}
	return out
}

func unpackedFiles(files []packedFile) []*common.File {
	out := make([]*common.File, len(files))
	for i, f := range files {
		out[i] = &common.File{Name: f.Name, Data: f.Data}
	}
	return out
}
