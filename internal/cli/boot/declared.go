package boot

import (
	"bytes"
	"io/fs"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"

	"github.com/headgate-dev/headgate/internal/idp"
)

// The groups that are served when a person says so, or where nothing leaves the process.
const (
	secretsGroup    = "external-secrets.io"
	generatorsGroup = "generators.external-secrets.io"
	kargoGroup      = "kargo.akuity.io"
)

// declared is what files declare of these groups.
type declared struct {
	// secrets is set if there is anything that values come from, a store or a generator; promotions if there is anything of them.
	secrets, promotions bool
	// reaches is what of them reaches out of the process, by group.
	reaches map[string][]string
	// stores are the stores that are declared, read those that are read.
	stores, read map[string]bool
}

// documentsIn visits the objects in the files below directories, as far as they can be read without being rendered, of files that have one of
// some words. What is hidden is left out.
func documentsIn(dirs, words []string, visit func(*unstructured.Unstructured)) {
	for _, dir := range dirs {
		// What cannot be read declares nothing.
		_ = filepath.WalkDir(dir, func(name string, entry fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return nil
			case entry.IsDir() && strings.HasPrefix(entry.Name(), ".") && name != dir:
				return filepath.SkipDir
			case !entry.Type().IsRegular() || !slices.Contains([]string{".yaml", ".yml"}, filepath.Ext(name)):
				return nil
			}
			data, err := os.ReadFile(name)
			if err != nil || !slices.ContainsFunc(words, func(word string) bool { return bytes.Contains(data, []byte(word)) }) {
				return nil
			}
			for decoder := utilyaml.NewYAMLOrJSONDecoder(bytes.NewReader(data), 4096); ; {
				o := &unstructured.Unstructured{}
				if decoder.Decode(&o.Object) != nil {
					return nil
				}
				visit(o)
			}
		})
	}
}

// declaredIn reads the files below directories.
func declaredIn(dirs ...string) *declared {
	d := &declared{reaches: map[string][]string{}, stores: map[string]bool{}, read: map[string]bool{}}
	documentsIn(dirs, []string{secretsGroup + "/", kargoGroup + "/"}, func(o *unstructured.Unstructured) {
		switch o.GroupVersionKind().Group {
		case secretsGroup, generatorsGroup:
			d.secret(o)
		case kargoGroup:
			d.promotions = true
			d.promotion(o.Object["spec"])
		}
	})
	for name := range d.read {
		if !d.stores[name] {
			d.reach(secretsGroup, "the store "+name+", which no file declares")
		}
	}
	return d
}

func (d *declared) reach(group, what string) {
	if !slices.Contains(d.reaches[group], what) {
		d.reaches[group] = append(d.reaches[group], what)
	}
}

// localGenerators are those that make values of nothing but chance.
var localGenerators = []string{"Password", "UUID", "Fake", "SSHKey"}

// secret notes an object of External Secrets.
func (d *declared) secret(o *unstructured.Unstructured) {
	name := o.GetKind() + " " + o.GetName()
	switch kind := o.GetKind(); {
	case kind == "SecretStore" || kind == "ClusterSecretStore":
		d.stores[name], d.secrets = true, true
		provider, _, _ := unstructured.NestedMap(o.Object, "spec", "provider")
		if _, fake := provider["fake"]; !fake || len(provider) != 1 {
			d.reach(secretsGroup, name)
		}
	case kind == "ExternalSecret" || kind == "ClusterExternalSecret" || kind == "PushSecret":
		d.reads(o.Object["spec"])
	case o.GroupVersionKind().Group == generatorsGroup:
		d.secrets = true
		if !slices.Contains(localGenerators, kind) {
			d.reach(secretsGroup, name)
		}
	}
}

// reads notes the stores that a value refers to, however deep.
func (d *declared) reads(value any) {
	switch value := value.(type) {
	case []any:
		for _, item := range value {
			d.reads(item)
		}
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(value)) {
			refs := []any{value[key]}
			if list, is := value[key].([]any); is {
				refs = list
			}
			for _, ref := range refs {
				if fields, is := ref.(map[string]any); is && strings.HasPrefix(key, "secretStoreRef") || is && key == "storeRef" {
					kind, _ := fields["kind"].(string)
					name, _ := fields["name"].(string)
					if kind == "" {
						kind = "SecretStore"
					}
					if name != "" {
						d.read[kind+" "+name] = true
					}
				}
			}
			d.reads(value[key])
		}
	}
}

// localSteps are the steps of promotions that reach nothing but files, Applications and the repositories that they name.
var localSteps = []string{
	"argocd-update", "compose-output", "copy", "delete", "fail", "git-clear", "git-clone", "git-commit", "git-overwrite", "git-push", "git-tag", "helm-template",
	"helm-update-image", "json-parse", "json-update", "kustomize-build", "kustomize-set-image", "set-metadata", "untar", "yaml-merge", "yaml-parse", "yaml-update",
}

// promotion notes what a value of Kargo reaches, however deep.
func (d *declared) promotion(value any) {
	switch value := value.(type) {
	case []any:
		for _, item := range value {
			d.promotion(item)
		}
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(value)) {
			text, is := value[key].(string)
			switch {
			case is && strings.EqualFold(key, "repoURL") && !embedded(text):
				d.reach(kargoGroup, text)
			case is && key == "uses" && !slices.Contains(localSteps, text):
				d.reach(kargoGroup, "the step "+text)
			}
			d.promotion(value[key])
		}
	}
}

// embedded reports whether an address is one of the Git server and the registry that run in this process.
func embedded(address string) bool {
	if strings.HasPrefix(address, idp.WorkingCopy) {
		return true
	}
	if !strings.Contains(address, "://") {
		address = "https://" + address
	}
	u, err := url.Parse(address)
	return err == nil && (u.Host == "gitea.cnoe.localtest.me:8443" || u.Host == "cnoe.localtest.me:8443")
}
