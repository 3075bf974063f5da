package workload

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"regexp"
	"slices"
	"unicode/utf8"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/headgate-dev/headgate/chart"
	"github.com/headgate-dev/headgate/chart/typed"
)

// Files are the files of a directory, for a ConfigMap. Directories below it are left out.
type Files struct {
	// FS has the files, such as an embed.FS; those of this machine if it is nil.
	FS fs.FS
	// Dir is the directory.
	Dir string
	// KeyPrefix is put before the names of the files.
	KeyPrefix string
	// Include are patterns of names as path.Match has them, all if there are none; Exclude are those of names that are left out.
	Include, Exclude []string
}

// ConfigMapProps describe a ConfigMap.
type ConfigMapProps struct {
	// Name and Namespace of the object; those of its path and its chart if empty.
	Name, Namespace string
	Labels          map[string]string
	Annotations     map[string]string
	// Data are entries.
	Data map[string]string
	// Files are more entries; one key in both is an error.
	Files []Files
}

// mostBytes is what a ConfigMap may hold.
const mostBytes = 1 << 20

// validKey is what the API accepts as a key.
var validKey = regexp.MustCompile(`^[-._a-zA-Z0-9]{1,253}$`)

// ConfigMap puts a ConfigMap below scope. A directory that cannot be read is an error of it, as is a pattern that matches nothing.
func ConfigMap(scope chart.Scope, id string, props ConfigMapProps) typed.Object[*corev1.ConfigMap] {
	config := &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{
			Name: props.Name, Namespace: props.Namespace, Labels: maps.Clone(props.Labels), Annotations: maps.Clone(props.Annotations),
		},
		Data: maps.Clone(props.Data),
	}
	made := typed.Add(scope, id, config)
	for _, files := range props.Files {
		if err := files.addTo(config); err != nil {
			made.Node().Errorf("%w", err)
		}
	}
	if n := size(config); n > mostBytes {
		made.Node().Errorf("a ConfigMap holds %d bytes at most, and the files have %d; leave some out, or mount an image", mostBytes, n)
	}
	return made
}

// addTo adds the files to a ConfigMap.
func (f Files) addTo(config *corev1.ConfigMap) error {
	from, dir := f.FS, f.Dir
	if from == nil {
		from, dir = os.DirFS(f.Dir), "."
	}
	entries, err := fs.ReadDir(from, path.Clean(dir))
	if err != nil {
		return fmt.Errorf("reading the files of a ConfigMap: %w", err)
	}
	names, err := f.chosen(entries)
	if err != nil {
		return err
	}
	for _, name := range names {
		data, err := fs.ReadFile(from, path.Join(dir, name))
		if err != nil {
			return fmt.Errorf("reading the files of a ConfigMap: %w", err)
		}
		if err := add(config, f.KeyPrefix+name, data); err != nil {
			return fmt.Errorf("%s: %w", path.Join(f.Dir, name), err)
		}
	}
	return nil
}

// chosen are the names of the files that the patterns choose.
func (f Files) chosen(entries []fs.DirEntry) ([]string, error) {
	var names []string
	used := map[string]bool{}
	for _, entry := range entries {
		included, err := match(f.Include, entry.Name(), used)
		if err != nil {
			return nil, err
		}
		excluded, err := match(f.Exclude, entry.Name(), used)
		if err != nil {
			return nil, err
		}
		if !entry.IsDir() && !excluded && (included || len(f.Include) == 0) {
			names = append(names, entry.Name())
		}
	}
	for _, pattern := range f.Include {
		if !used[pattern] {
			return nil, fmt.Errorf("%s: %q matches no file; there are: %s", f.Dir, pattern, list(entries))
		}
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("%s: there are no files in it, or all are excluded", f.Dir)
	}
	return names, nil
}

// match says that one of the patterns matches a name, and notes which.
func match(patterns []string, name string, used map[string]bool) (bool, error) {
	found := false
	for _, pattern := range patterns {
		matches, err := path.Match(pattern, name)
		if err != nil {
			return false, fmt.Errorf("the pattern %q: %w", pattern, err)
		}
		used[pattern] = used[pattern] || matches
		found = found || matches
	}
	return found, nil
}

func list(entries []fs.DirEntry) []string {
	var names []string
	for _, entry := range entries {
		names = append(names, entry.Name())
	}
	return slices.Sorted(slices.Values(names))
}

// add is one file: text, or bytes if it is not UTF-8.
func add(config *corev1.ConfigMap, key string, data []byte) error {
	_, text := config.Data[key]
	_, bytes := config.BinaryData[key]
	switch {
	case !validKey.MatchString(key):
		return fmt.Errorf("%q is not a valid key: letters, digits, '-', '_' and '.' are", key)
	case text || bytes:
		return fmt.Errorf("the key %q is there already; use a KeyPrefix", key)
	case !utf8.Valid(data):
		if config.BinaryData == nil {
			config.BinaryData = map[string][]byte{}
		}
		config.BinaryData[key] = data
	default:
		if config.Data == nil {
			config.Data = map[string]string{}
		}
		config.Data[key] = string(data)
	}
	return nil
}

// size is what counts towards the limit of the API.
func size(config *corev1.ConfigMap) int {
	n := 0
	for key, value := range config.Data {
		n += len(key) + len(value)
	}
	for key, value := range config.BinaryData {
		n += len(key) + len(value)
	}
	return n
}
