package crds

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/headgate-dev/headgate/internal/cli/console"
	"github.com/headgate-dev/headgate/internal/crdtypes"
)

// maxRead bounds what is read of one file or answer.
const maxRead = 64 << 20

// gather finds the definitions of a source, those of --only.
func (o *options) gather(ctx context.Context, source string) ([]crdtypes.Definition, error) {
	found, err := o.all(ctx, source)
	if err != nil {
		return nil, err
	}
	kept := found[:0]
	for _, d := range found {
		matches, err := matchesAny(o.only, d.Plural+"."+d.Group)
		if err != nil {
			return nil, fmt.Errorf("--only: %w", err)
		}
		if matches {
			kept = append(kept, d)
		}
	}
	return kept, nil
}

func matchesAny(patterns []string, name string) (bool, error) {
	for _, pattern := range patterns {
		matches, err := path.Match(pattern, name)
		if err != nil {
			return false, fmt.Errorf("%q is not a pattern: %w", pattern, err)
		}
		if matches {
			return true, nil
		}
	}
	return len(patterns) == 0, nil
}

func (o *options) all(ctx context.Context, source string) ([]crdtypes.Definition, error) {
	switch {
	case source == "-":
		data, err := readAll(o.globals.IO.In)
		if err != nil {
			return nil, fmt.Errorf("reading standard input: %w", err)
		}
		return crdtypes.Read("standard input", data)
	case strings.HasPrefix(source, "cluster:"):
		return o.ofCluster(ctx, strings.TrimPrefix(source, "cluster:"))
	case strings.HasPrefix(source, "oci://"), strings.HasPrefix(source, "helm:"):
		return o.ofRepository(ctx, source)
	case strings.HasPrefix(source, "https://"), strings.HasPrefix(source, "http://"):
		return o.ofURL(ctx, source)
	}
	return o.ofPath(ctx, source)
}

// shown is a source as it may be shown: without credentials.
func shown(source string) string {
	prefix, rest := "", source
	if strings.HasPrefix(source, "helm:") {
		prefix, rest = "helm:", strings.TrimPrefix(source, "helm:")
	}
	at, err := url.Parse(rest)
	if err != nil || at.Host == "" {
		if strings.Contains(rest, "://") {
			return "an address that cannot be read"
		}
		return source
	}
	at.User, at.RawQuery, at.Fragment = nil, "", ""
	return prefix + at.String()
}

// ofPath reads a file, a directory or a chart.
func (o *options) ofPath(ctx context.Context, name string) ([]crdtypes.Definition, error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, console.Hint(fmt.Errorf("reading definitions: %w", err), "headgate import FILE, or headgate help import for other sources")
	}
	if !info.IsDir() {
		if strings.HasSuffix(name, ".tgz") || strings.HasSuffix(name, ".tar.gz") {
			return o.ofArchive(ctx, name)
		}
		return readFile(name, filepath.ToSlash(name))
	}
	if _, err := os.Stat(filepath.Join(name, "Chart.yaml")); err == nil {
		return o.ofDirectoryChart(ctx, name)
	}
	var all []crdtypes.Definition
	err = filepath.WalkDir(name, func(at string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if at != name && strings.HasPrefix(entry.Name(), ".") && entry.IsDir() {
			return filepath.SkipDir
		}
		if entry.IsDir() || !slices.Contains([]string{".yaml", ".yml", ".json"}, filepath.Ext(at)) {
			return nil
		}
		found, err := readFile(at, filepath.ToSlash(at))
		all = append(all, found...)
		return err
	})
	return all, err
}

func readFile(name, source string) ([]crdtypes.Definition, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, fmt.Errorf("reading definitions: %w", err)
	}
	defer file.Close()
	data, err := readAll(file)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", source, err)
	}
	return crdtypes.Read(source, data)
}

func readAll(in io.Reader) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(in, maxRead+1))
	if err == nil && len(data) > maxRead {
		err = fmt.Errorf("more than %d bytes", maxRead)
	}
	return data, err
}

// ofURL reads the copy of a file, or downloads it.
func (o *options) ofURL(ctx context.Context, address string) ([]crdtypes.Definition, error) {
	if o.save != "" {
		if o.downloads() > 1 {
			return nil, errors.New("--save keeps one file; import one URL at a time")
		}
		found, err := readFile(o.save, filepath.ToSlash(o.save))
		if !errors.Is(err, fs.ErrNotExist) {
			return found, err
		}
	}
	data, err := download(ctx, address)
	if err != nil {
		return nil, fmt.Errorf("downloading %s: %w", shown(address), err)
	}
	found, err := crdtypes.Read(shown(address), data)
	if err != nil || len(found) == 0 || o.save == "" || o.check {
		return found, err
	}
	if err := put(o.save, data); err != nil {
		return nil, err
	}
	return readFile(o.save, filepath.ToSlash(o.save))
}

func (o *options) downloads() int {
	count := 0
	for _, source := range o.sources {
		if strings.HasPrefix(source, "http") || strings.Contains(source, ":=http") {
			count++
		}
	}
	return count
}

func download(ctx context.Context, address string) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, errors.New("the address cannot be read")
	}
	response, err := (&http.Client{Timeout: time.Minute}).Do(request)
	if err != nil {
		// The error of the client quotes the address.
		if wrapped := (*url.Error)(nil); errors.As(err, &wrapped) {
			err = wrapped.Err
		}
		return nil, err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("the server answers %s", response.Status)
	}
	return readAll(response.Body)
}

// ofCluster reads the definitions of a cluster.
func (o *options) ofCluster(ctx context.Context, pattern string) ([]crdtypes.Definition, error) {
	client, err := o.globals.Client()
	if err != nil {
		return nil, err
	}
	list, err := client.Resource(schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, console.Unreachable(fmt.Errorf("listing the definitions of the cluster: %w", err))
	}
	var all []crdtypes.Definition
	for _, item := range list.Items {
		matches, err := matchesAny([]string{pattern}, item.GetName())
		if err != nil {
			return nil, fmt.Errorf("cluster:%s: %w", pattern, err)
		}
		if !matches {
			continue
		}
		item.Object["kind"] = "CustomResourceDefinition"
		found, err := crdtypes.FromObject("cluster: "+item.GetName(), item.Object)
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
	}
	return all, nil
}
