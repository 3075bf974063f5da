package simulate

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"embed"
	"fmt"
	"strings"
	"time"

	"github.com/Masterminds/semver/v3"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"
)

//go:embed all:stub
var stub embed.FS

// image stands for one that is never pulled.
const image = "simulated.invalid/placeholder:0"

// entry is a file of a chart.
type entry struct {
	path string
	data []byte
}

// Chart makes a chart that replaces one that cannot be fetched, as a tar.gz: a Deployment and a Service with the
// name of the release, and a ConfigMap that shows which values it got, by their keys. The objects that are
// demanded, say by health checks, are among its templates, and definitions among its CRDs. The same arguments
// make the same bytes.
func Chart(name, version string, demanded []*unstructured.Unstructured) ([]byte, error) {
	if name == "" || strings.ContainsAny(name, `/\`) || name == "." || name == ".." {
		return nil, fmt.Errorf("creating a stub of chart %q: not a chart name", name)
	}
	if _, err := semver.NewVersion(version); err != nil {
		return nil, fmt.Errorf("creating a stub of chart %q: version %q: %w", name, version, err)
	}
	files, err := filesOf(name, version, demanded)
	if err != nil {
		return nil, fmt.Errorf("creating a stub of chart %q: %w", name, err)
	}
	packed, err := pack(name, files)
	if err != nil {
		return nil, fmt.Errorf("packing a stub of chart %q: %w", name, err)
	}
	return packed, nil
}

func filesOf(name, version string, demanded []*unstructured.Unstructured) ([]entry, error) {
	metadata, err := yaml.Marshal(map[string]any{
		"apiVersion": "v2", "name": name, "version": version, "type": "application",
		"description": "A stand-in for a chart that was not fetched", "annotations": map[string]any{Label: "true"},
	})
	if err != nil {
		return nil, fmt.Errorf("writing Chart.yaml: %w", err)
	}
	files := []entry{{"Chart.yaml", metadata}, {"values.yaml", []byte("{}\n")}}
	templates, err := stub.ReadDir("stub")
	if err != nil {
		return nil, fmt.Errorf("reading the templates: %w", err)
	}
	for _, template := range templates {
		data, err := stub.ReadFile("stub/" + template.Name())
		if err != nil {
			return nil, fmt.Errorf("reading template %q: %w", template.Name(), err)
		}
		files = append(files, entry{"templates/" + template.Name(), data})
	}
	for i, o := range demanded {
		file, err := fileOf(i, o)
		if err != nil {
			return nil, fmt.Errorf("writing %s %q: %w", o.GetKind(), o.GetName(), err)
		}
		files = append(files, file)
	}
	return files, nil
}

// fileOf is the file of an object that is demanded.
func fileOf(i int, demanded *unstructured.Unstructured) (entry, error) {
	o := demanded.DeepCopy()
	labels := o.GetLabels()
	if labels == nil {
		labels = map[string]string{}
	}
	labels[Label] = "true"
	o.SetLabels(labels)
	fill(o)
	data, err := yaml.Marshal(o.Object)
	if err != nil {
		return entry{}, fmt.Errorf("as YAML: %w", err)
	}
	gk := o.GroupVersionKind().GroupKind()
	if gk == (schema.GroupKind{Group: "apiextensions.k8s.io", Kind: "CustomResourceDefinition"}) {
		return entry{fmt.Sprintf("crds/demanded-%03d.yaml", i), data}, nil
	}
	text := strings.ReplaceAll(string(data), "{{", `{{ "{{" }}`)
	if own[gk] {
		// The release has one of this kind already, and it may have this name.
		text = fmt.Sprintf("{{- if ne .Release.Name %q }}\n%s{{- end }}\n", o.GetName(), text)
	}
	return entry{fmt.Sprintf("templates/demanded-%03d.yaml", i), []byte(text)}, nil
}

// own are the kinds of which a stub has an object with the name of its release.
var own = map[schema.GroupKind]bool{{Group: "apps", Kind: "Deployment"}: true, {Kind: "Service"}: true}

// fill gives a workload that is demanded by its name what the API server asks of one.
func fill(o *unstructured.Unstructured) {
	if o.Object["spec"] != nil {
		return
	}
	labels := map[string]any{"app.kubernetes.io/name": o.GetName(), Label: "true"}
	spec := map[string]any{}
	switch o.GroupVersionKind().GroupKind() {
	case schema.GroupKind{Kind: "Service"}:
		spec["ports"] = []any{map[string]any{"name": "http", "port": int64(80)}}
		spec["selector"] = labels
	case schema.GroupKind{Group: "apps", Kind: "StatefulSet"}:
		spec["serviceName"] = o.GetName()
		fallthrough
	case schema.GroupKind{Group: "apps", Kind: "Deployment"}, schema.GroupKind{Group: "apps", Kind: "DaemonSet"}:
		spec["selector"] = map[string]any{"matchLabels": labels}
		spec["template"] = map[string]any{
			"metadata": map[string]any{"labels": labels},
			"spec":     placeholder("placeholder", image),
		}
	default:
		return
	}
	o.Object["spec"] = spec
}

// placeholder is the spec of a pod that runs nothing, as every policy of Pod Security permits it.
func placeholder(name, image string) map[string]any {
	return map[string]any{
		"securityContext": map[string]any{"runAsNonRoot": true, "seccompProfile": map[string]any{"type": "RuntimeDefault"}},
		"containers": []any{map[string]any{
			"name": name, "image": image, "securityContext": map[string]any{
				"allowPrivilegeEscalation": false, "capabilities": map[string]any{"drop": []any{"ALL"}},
			},
		}},
	}
}

// pack writes files into an archive, in the directory with the name of the chart.
func pack(name string, files []entry) ([]byte, error) {
	var packed bytes.Buffer
	zipped := gzip.NewWriter(&packed)
	archive := tar.NewWriter(zipped)
	for _, file := range files {
		header := &tar.Header{
			Typeflag: tar.TypeReg, Name: name + "/" + file.path, Mode: 0o644, Size: int64(len(file.data)),
			ModTime: time.Unix(0, 0),
		}
		if err := archive.WriteHeader(header); err != nil {
			return nil, fmt.Errorf("writing %q: %w", file.path, err)
		}
		if _, err := archive.Write(file.data); err != nil {
			return nil, fmt.Errorf("writing %q: %w", file.path, err)
		}
	}
	if err := archive.Close(); err != nil {
		return nil, fmt.Errorf("closing the archive: %w", err)
	}
	if err := zipped.Close(); err != nil {
		return nil, fmt.Errorf("compressing: %w", err)
	}
	return packed.Bytes(), nil
}
