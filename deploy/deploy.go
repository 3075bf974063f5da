// Package deploy holds what is installed into a cluster: the Helm chart, and in it the definitions of
// the kinds of Flux, generated from the types of the upstream modules and of those in api. Beside the chart are
// those of Argo CD, of workflows, of managed resources, of builds, of packages, of virtual clusters, of promotions and of
// external secrets, for clusters in which they are served.
package deploy

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"embed"
	"fmt"
	"io/fs"
	"path"
	"sync"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"
)

//go:embed all:chart argo build cluster externalsecrets idpbuilder kargo provision rollouts workflow
var files embed.FS

// The directories of the definitions.
const (
	fluxDefinitions       = "chart/crds"
	argoDefinitions       = "argo/crds"
	workflowDefinitions   = "workflow/crds"
	provisionDefinitions  = "provision/crds"
	buildDefinitions      = "build/crds"
	idpbuilderDefinitions = "idpbuilder/crds"
	clusterDefinitions    = "cluster/crds"
	kargoDefinitions      = "kargo/crds"
	rolloutsDefinitions   = "rollouts"
	secretsDefinitions    = "externalsecrets/crds"
)

// CRDs returns the definitions of the kinds of Flux, by the names of their files.
func CRDs() ([]*unstructured.Unstructured, error) { return definitions(fluxDefinitions) }

// ArgoCRDs returns the definitions of the kinds of Argo CD, by the names of their files.
func ArgoCRDs() ([]*unstructured.Unstructured, error) { return definitions(argoDefinitions) }

// WorkflowCRDs returns the definitions of the kinds of workflows, by the names of their files.
func WorkflowCRDs() ([]*unstructured.Unstructured, error) { return definitions(workflowDefinitions) }

// ProvisionCRDs returns the definitions of managed resources and of configurations of providers, by the names of their files.
func ProvisionCRDs() ([]*unstructured.Unstructured, error) { return definitions(provisionDefinitions) }

// BuildCRDs returns the definition of Builds, by the name of its file.
func BuildCRDs() ([]*unstructured.Unstructured, error) { return definitions(buildDefinitions) }

// IDPBuilderCRDs returns the definitions of the kinds that show packages as idpbuilder does, by the names of their files.
func IDPBuilderCRDs() ([]*unstructured.Unstructured, error) {
	return definitions(idpbuilderDefinitions)
}

// ClusterCRDs returns the definition of VirtualClusters, by the name of its file.
func ClusterCRDs() ([]*unstructured.Unstructured, error) { return definitions(clusterDefinitions) }

// KargoCRDs returns the definitions of the kinds of Kargo, by the names of their files.
func KargoCRDs() ([]*unstructured.Unstructured, error) { return definitions(kargoDefinitions) }

// AnalysisCRDs returns the definitions of the kinds of Argo Rollouts by which Freight is verified, without schemas, by the names of their files.
func AnalysisCRDs() ([]*unstructured.Unstructured, error) { return definitions(rolloutsDefinitions) }

// ExternalSecretsCRDs returns the definitions of external secrets, of their stores and of generators, by the names of their files. What has the version
// v1 is served as v1beta1 too: the two have the same fields, but for fake stores with valueMap and templates of engineVersion v1, which v1 refuses, so
// that converting an object is to rename its version.
func ExternalSecretsCRDs() ([]*unstructured.Unstructured, error) {
	all, err := definitions(secretsDefinitions)
	for _, u := range all {
		alsoServed(u, "v1", "v1beta1")
	}
	return all, err
}

// alsoServed has a definition serve another version, deprecated, with the schema of one that it has.
func alsoServed(crd *unstructured.Unstructured, as, version string) {
	versions, _, _ := unstructured.NestedSlice(crd.Object, "spec", "versions")
	for _, item := range versions {
		of, is := item.(map[string]any)
		if !is || of["name"] != as {
			continue
		}
		other := runtime.DeepCopyJSON(of)
		other["name"], other["storage"], other["deprecated"] = version, false, true
		// The definition has the versions there: this cannot fail.
		_ = unstructured.SetNestedSlice(crd.Object, append(versions, other), "spec", "versions")
		return
	}
}

// parsed are the definitions of directories, read once: copying them costs a fraction of parsing them, and a process needs them several times.
var parsed sync.Map

// definitions are those of a directory, for the caller to change.
func definitions(directory string) ([]*unstructured.Unstructured, error) {
	once, _ := parsed.LoadOrStore(directory, sync.OnceValues(func() ([]*unstructured.Unstructured, error) { return read(directory) }))
	all, err := once.(func() ([]*unstructured.Unstructured, error))()
	own := make([]*unstructured.Unstructured, len(all))
	for i, u := range all {
		own[i] = u.DeepCopy()
	}
	return own, err
}

func read(directory string) ([]*unstructured.Unstructured, error) {
	entries, err := files.ReadDir(directory)
	if err != nil {
		return nil, fmt.Errorf("reading the definitions: %w", err)
	}
	var all []*unstructured.Unstructured
	for _, e := range entries {
		data, err := files.ReadFile(path.Join(directory, e.Name()))
		if err != nil {
			return nil, fmt.Errorf("reading %q: %w", e.Name(), err)
		}
		u := &unstructured.Unstructured{}
		if err := yaml.Unmarshal(data, &u.Object); err != nil {
			return nil, fmt.Errorf("reading %q: %w", e.Name(), err)
		}
		all = append(all, u)
	}
	return all, nil
}

// Chart returns the chart as Helm packs one, in a directory that has its name.
func Chart() ([]byte, error) {
	var packed bytes.Buffer
	zip := gzip.NewWriter(&packed)
	archive := tar.NewWriter(zip)
	err := fs.WalkDir(files, "chart", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		data, err := files.ReadFile(name)
		if err != nil {
			return err
		}
		header := &tar.Header{Name: "headgate" + name[len("chart"):], Mode: 0o644, Size: int64(len(data)), Format: tar.FormatPAX}
		if err := archive.WriteHeader(header); err != nil {
			return err
		}
		_, err = archive.Write(data)
		return err
	})
	if err == nil {
		err = archive.Close()
	}
	if err == nil {
		err = zip.Close()
	}
	if err != nil {
		return nil, fmt.Errorf("packing the chart: %w", err)
	}
	return packed.Bytes(), nil
}
