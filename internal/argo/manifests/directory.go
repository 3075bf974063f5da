package manifests

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/headgate-dev/headgate/api/argoproj/v1alpha1"
	"github.com/headgate-dev/headgate/internal/patterns"
	"github.com/headgate-dev/headgate/internal/render"
)

const (
	// maxCombined bounds the files of a directory together, in bytes.
	maxCombined = 10 << 20
	// maxDepth bounds directories in each other: links can go in circles.
	maxDepth = 64
	// skipMarker in a file has it left out.
	skipMarker = "+argocd:skip-file-rendering"
)

// directory reads the files of a directory.
func (j *job) directory(ctx context.Context) ([]*unstructured.Unstructured, error) {
	w, err := j.walker()
	if err != nil {
		return nil, err
	}
	if err := w.walk(j.dir, "", 0); err != nil {
		return nil, err
	}
	var out []*unstructured.Unstructured
	for _, name := range w.files {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		objects, err := j.file(ctx, w.options.Jsonnet, name)
		if err != nil {
			return nil, err
		}
		out = append(out, objects...)
	}
	return out, nil
}

// walker finds the files of a directory.
type walker struct {
	reader           *render.Reader
	options          v1alpha1.ApplicationSourceDirectory
	include, exclude patterns.Glob
	files            []string
	bytes            int64
}

func (j *job) walker() (*walker, error) {
	w := &walker{reader: j.reader()}
	if j.spec.Directory != nil {
		w.options = *j.spec.Directory
	}
	for _, pattern := range []struct {
		field, text string
		into        *patterns.Glob
	}{{"include", w.options.Include, &w.include}, {"exclude", w.options.Exclude, &w.exclude}} {
		if pattern.text == "" {
			continue
		}
		compiled, err := patterns.NewGlob(pattern.text)
		if err != nil {
			return nil, fieldError("directory."+pattern.field, "%q is not a pattern: %w", pattern.text, err)
		}
		*pattern.into = compiled
	}
	return w, nil
}

// walk goes through the directory at dir, which has the path rel in that of the source.
func (w *walker) walk(dir, rel string, depth int) error {
	if depth > maxDepth {
		return fmt.Errorf("%s: more than %d nested directories", dir, maxDepth)
	}
	names, _, err := w.reader.Dir(dir)
	if err != nil {
		return err
	}
	for _, name := range names {
		at, own := path.Join(dir, name), path.Join(rel, name)
		if manifest(name) {
			size, isFile, err := w.reader.Size(at)
			if err != nil {
				return err
			}
			if isFile && w.wanted(own) {
				if err := w.add(at, size); err != nil {
					return err
				}
			}
			if isFile {
				continue
			}
		}
		if !w.options.Recurse {
			continue
		}
		resolved, err := w.reader.Resolve(at)
		if err != nil {
			return err
		}
		if _, isDir, err := w.reader.Dir(resolved); err != nil || !isDir {
			if err != nil {
				return err
			}
			continue
		}
		if err := w.walk(at, own, depth+1); err != nil {
			return err
		}
	}
	return nil
}

// manifest reports whether a file is read, by its name.
func manifest(name string) bool {
	switch path.Ext(name) {
	case ".yaml", ".yml", ".json", ".jsonnet":
		return true
	}
	return false
}

func (w *walker) wanted(own string) bool {
	if w.exclude != nil && w.exclude.Match(own) {
		return false
	}
	return w.include == nil || w.include.Match(own)
}

func (w *walker) add(at string, size int64) error {
	w.bytes += size
	if w.bytes > maxCombined {
		return fmt.Errorf("%s: with it the manifests exceed %d bytes in total; split the Application, or exclude files by directory.exclude",
			at, maxCombined)
	}
	w.files = append(w.files, at)
	return nil
}

// file reads the objects of one file.
func (j *job) file(ctx context.Context, options *v1alpha1.ApplicationSourceJsonnet, name string) ([]*unstructured.Unstructured, error) {
	data, _, err := j.reader().File(name)
	if err != nil {
		return nil, err
	}
	if bytes.Contains(data, []byte(skipMarker)) {
		return nil, nil
	}
	switch path.Ext(name) {
	case ".jsonnet":
		return j.jsonnet(ctx, options, name)
	case ".json":
		return j.json(name, data)
	}
	documents, err := parse(data)
	if err != nil {
		// A file that never contained objects belongs to something else.
		if len(documents) == 0 && !looksLikeObject(data) {
			return nil, nil
		}
		line := 0
		if at, wrong := render.Syntax(data); wrong != nil {
			line, err = at, wrong
		}
		return nil, &render.Error{File: name, Line: line, Err: fmt.Errorf("%w; a comment \"# %s\" excludes the file", err, skipMarker)}
	}
	ours, err := kubernetes(documents)
	if err != nil {
		return nil, &render.Error{File: name, Err: err}
	}
	return j.objects(name, ours)
}

// kubernetes reports whether documents are objects: all of a file, or none.
func kubernetes(documents []document) ([]document, error) {
	var others, ours []document
	for _, d := range documents {
		if _, kind := d.object["kind"]; kind {
			ours = append(ours, d)
			continue
		}
		others = append(others, d)
	}
	switch {
	case len(ours) == 0:
		return nil, nil
	case len(others) > 0:
		return nil, fmt.Errorf("%s: kind is missing, while other documents of the file are objects; a comment \"# %s\" excludes the file",
			others[0].where(), skipMarker)
	}
	return ours, nil
}

// looksLikeObject reports whether a text that cannot be read was meant for an object.
func looksLikeObject(data []byte) bool {
	for _, field := range []string{"apiVersion:", "kind:", "metadata:"} {
		if !bytes.Contains(data, []byte(field)) {
			return false
		}
	}
	return true
}

// json reads a file of JSON, which holds one object.
func (j *job) json(name string, data []byte) ([]*unstructured.Unstructured, error) {
	decoder := json.NewDecoder(bytes.NewReader(data))
	var first, second json.RawMessage
	err := decoder.Decode(&first)
	if err != nil {
		return nil, &render.Error{File: name, Err: errors.New("not JSON")}
	}
	if err := decoder.Decode(&second); !errors.Is(err, io.EOF) {
		return nil, &render.Error{File: name, Err: errors.New("a JSON file may contain only one object; use a List, or YAML")}
	}
	documents, err := parse(first)
	if err != nil {
		return nil, &render.Error{File: name, Err: err}
	}
	if len(documents) == 1 && documents[0].object["kind"] == nil {
		return nil, &render.Error{File: name, Err: errors.New("kind is missing; exclude the file by directory.exclude if it is not an object")}
	}
	return j.objects(name, documents)
}
