package roots

import (
	"bytes"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"

	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/flux/toolkit"
)

// ArtifactURL is that of an OCIRepository which stands for the working copy: nothing is pushed, and no registry is asked.
const ArtifactURL = "oci://headgate/working-copy"

// ArtifactID is the OCIRepository by the name of the root.
func ArtifactID() engine.ObjectID {
	return engine.ObjectID{Group: sourcev1.GroupVersion.Group, Kind: sourcev1.OCIRepositoryKind, Namespace: toolkit.Namespace, Name: toolkit.System}
}

// FindArtifact reports whether the files of a repository are fetched as an OCI artifact where they are deployed: units read an OCIRepository by
// the name of the root, which a FluxInstance or another tool makes. What is pushed may be a directory of the repository: it is the highest above the root
// from which most paths of these units exist. There is none where no path does, since the artifact has other files then.
func FindArtifact(repository, root string) (dir string, found bool) {
	read, paths := false, []string{}
	eachObject(repository, func(o *unstructured.Unstructured) {
		built, reads := readsArtifact(o)
		read = read || reads
		if reads && built != "" && !slices.Contains(paths, built) {
			paths = append(paths, built)
		}
	})
	if !read {
		return "", false
	}
	best, most := ".", -1
	for _, above := range aboves(root) {
		count := 0
		for _, p := range paths {
			if info, err := os.Stat(filepath.Join(repository, filepath.FromSlash(path.Join(above, path.Clean("/"+p))))); err == nil && info.IsDir() {
				count++
			}
		}
		if count > most {
			best, most = above, count
		}
	}
	return best, most > 0 || len(paths) == 0
}

// aboves are a directory and those above it, the highest first.
func aboves(dir string) []string {
	all := []string{"."}
	parts := strings.Split(path.Clean(dir), "/")
	for i := range parts {
		if at := path.Join(parts[:i+1]...); at != "." {
			all = append(all, at)
		}
	}
	return all
}

var instanceKind = schema.GroupKind{Group: toolkit.Operator.Name, Kind: "FluxInstance"}

// readsArtifact reports whether an object reads the OCIRepository by the name of the root, or has it made, and the directory in it that it builds.
func readsArtifact(o *unstructured.Unstructured) (dir string, reads bool) {
	text := func(fields ...string) string {
		value, _, _ := unstructured.NestedString(o.Object, fields...)
		return value
	}
	in := func(namespace string) bool { return namespace == "" || namespace == toolkit.Namespace }
	if o.GroupVersionKind().GroupKind() == instanceKind {
		name := text("spec", "sync", "name")
		return text("spec", "sync", "path"), text("spec", "sync", "kind") == sourcev1.OCIRepositoryKind && in(o.GetNamespace()) && (name == "" || name == toolkit.System)
	}
	namespace := text("spec", "sourceRef", "namespace")
	if namespace == "" {
		namespace = o.GetNamespace()
	}
	return text("spec", "path"), text("spec", "sourceRef", "kind") == sourcev1.OCIRepositoryKind && text("spec", "sourceRef", "name") == toolkit.System && in(namespace)
}

// eachObject visits the objects in the files of a repository that name an OCIRepository, as far as they can be read without being rendered.
func eachObject(repository string, visit func(*unstructured.Unstructured)) {
	// What cannot be read names nothing.
	_ = filepath.WalkDir(repository, func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return nil
		case entry.IsDir() && strings.HasPrefix(entry.Name(), ".") && name != repository:
			return filepath.SkipDir
		case !entry.Type().IsRegular() || !slices.Contains([]string{".yaml", ".yml"}, filepath.Ext(name)):
			return nil
		}
		data, err := os.ReadFile(name)
		if err != nil || !bytes.Contains(data, []byte(sourcev1.OCIRepositoryKind)) {
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
