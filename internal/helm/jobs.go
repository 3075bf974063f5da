package helm

import (
	"fmt"

	"helm.sh/helm/v4/pkg/chart/common"
	"helm.sh/helm/v4/pkg/engine"

	"github.com/headgate-dev/headgate/internal/sandbox"
)

// Jobs are what this package has done in the sandbox.
func Jobs() []sandbox.Job { return []sandbox.Job{chartJob{}, schemaJob{}} }

// chartJob executes the templates of a chart.
type chartJob struct{}

// Name is that of the job.
func (chartJob) Name() string { return "chart" }

// Run makes the files of a chart, by their names, of what is in its input.
func (chartJob) Run(input []byte, asking sandbox.Asker) ([]byte, error) {
	setUp()
	var in charted
	if err := sandbox.Decode(input, &in); err != nil {
		return nil, err
	}
	e := engine.Engine{EnableDNS: in.DNS}
	if in.Lookup {
		e.CustomTemplateFuncs = map[string]any{"lookup": lookup{asking}.find}
	}
	files, err := e.Render(in.Chart.unpacked(), in.top())
	if err != nil {
		return nil, err
	}
	return sandbox.Encode(files)
}

// top is what Helm composes for templates.
func (c charted) top() common.Values {
	release := c.Release
	if revision, is := release["Revision"].(int64); is {
		release["Revision"] = int(revision)
	}
	return common.Values{"Values": common.Values(c.Values), "Release": release, "Capabilities": c.Capabilities.restored()}
}

func (c capabilities) restored() *common.Capabilities {
	version := common.KubeVersion{Version: c.Version, Major: c.Major, Minor: c.Minor}
	// A version that was parsed prints without what follows its number.
	if parsed, err := common.ParseKubeVersion(c.Version); err == nil && c.Normal != c.Version && parsed.String() == c.Normal {
		version = *parsed
	}
	return &common.Capabilities{KubeVersion: version, APIVersions: c.APIVersions, HelmVersion: common.DefaultCapabilities.HelmVersion}
}

// lookup is the function lookup of templates.
type lookup struct{ asking sandbox.Asker }

func (l lookup) find(apiVersion, kind, namespace, name string) (map[string]any, error) {
	asked, err := sandbox.Encode(question{apiVersion, kind, namespace, name})
	if err != nil {
		return nil, err
	}
	answer, err := l.asking.Ask(asked)
	if err != nil {
		return map[string]any{}, err
	}
	found := map[string]any{}
	if err := sandbox.Decode(answer, &found); err != nil {
		return nil, fmt.Errorf("looking up %s %s/%s: %w", kind, namespace, name, err)
	}
	return found, nil
}
