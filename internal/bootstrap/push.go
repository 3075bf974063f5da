package bootstrap

import (
	"bytes"
	"context"
	"fmt"
	"path"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/headgate-dev/headgate/internal/flux/roots"
	"github.com/headgate-dev/headgate/internal/flux/toolkit"
	"github.com/headgate-dev/headgate/internal/source"
)

// The files of the directory flux-system below the root, by the names that Flux gives them.
const (
	controllerFile = "headgate.yaml"
	syncFile       = "gotk-sync.yaml"
	listFile       = "kustomization.yaml"
)

// Pushed is what was put into the repository.
type Pushed struct {
	// Commit is empty when the repository has all of it already.
	Commit string
	// Advice is what the user must change by hand, if anything: their own list of resources is not touched.
	Advice string
}

// Push puts the manifests of the controller, and of the source and the root unit, into the repository.
func Push(ctx context.Context, r Repository, controller []*unstructured.Unstructured) (Pushed, error) {
	wanted, err := r.files(controller)
	if err != nil {
		return Pushed{}, err
	}
	var advice string
	done, err := source.EditGit(ctx, source.GitEdit{
		GitOptions: source.GitOptions{
			URL: r.URL, Username: r.Username, Password: r.Password, Identity: r.Identity, KnownHosts: r.KnownHosts, CAFile: r.CA,
			Ref: source.GitRef{Branch: r.Branch},
		},
		Init: true, Branch: r.Branch, AuthorName: "headgate", AuthorEmail: "noreply@headgate.dev",
		Wants: func(name string, _ []byte) bool { return wanted[name] != nil },
		Edit: func(have map[string][]byte) (map[string][]byte, string, error) {
			changed := map[string][]byte{}
			advice = ""
			for name, data := range wanted {
				is, there := have[name]
				switch {
				case there && path.Base(name) == listFile:
					if !bytes.Contains(is, []byte(controllerFile)) {
						advice = fmt.Sprintf("add %s to the resources of %s, instead of gotk-components.yaml if that is listed", controllerFile, name)
					}
				case there && path.Base(name) == syncFile, bytes.Equal(is, data):
				default:
					changed[name] = data
				}
			}
			return changed, "Add the manifests of Headgate to " + r.Root(), nil
		},
	})
	if err != nil {
		return Pushed{}, fmt.Errorf("pushing to the repository: %w", err)
	}
	return Pushed{Commit: done.Commit, Advice: advice}, nil
}

// files are what the repository gets.
func (r Repository) files(controller []*unstructured.Unstructured) (map[string][]byte, error) {
	objects, err := roots.RootObjects(r.root(true))
	if err != nil {
		return nil, err
	}
	objects = slices.DeleteFunc(objects, func(o *unstructured.Unstructured) bool { return o.GetKind() == "Secret" })
	at := func(name string) string { return path.Join(r.Root(), toolkit.System, name) }
	files := map[string][]byte{
		at(listFile): fmt.Appendf(nil, "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources:\n  - %s\n  - %s\n", controllerFile, syncFile),
	}
	if files[at(controllerFile)], err = documents(controller); err != nil {
		return nil, err
	}
	files[at(syncFile)], err = documents(objects)
	return files, err
}

func documents(objects []*unstructured.Unstructured) ([]byte, error) {
	var out bytes.Buffer
	for _, o := range objects {
		data, err := yaml.Marshal(o.Object)
		if err != nil {
			return nil, fmt.Errorf("encoding %s %s: %w", o.GetKind(), o.GetName(), err)
		}
		out.WriteString("---\n")
		out.Write(data)
	}
	return out.Bytes(), nil
}
