package manifests

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/headgate-dev/headgate/api/argoproj/v1alpha1"
	"github.com/headgate-dev/headgate/internal/render"
	"github.com/headgate-dev/headgate/internal/sandbox"
)

// jsonnet evaluates a file to an object or to an array of them.
func (j *job) jsonnet(ctx context.Context, o *v1alpha1.ApplicationSourceJsonnet, name string) ([]*unstructured.Unstructured, error) {
	if !j.request.Options.Jsonnet {
		j.problem("directory", "jsonnet.enable of argocd-cm is false; %s is skipped", name)
		return nil, nil
	}
	in, err := j.importer(o)
	if err != nil {
		return nil, err
	}
	input, err := sandbox.Encode(evaluation{File: name, Variables: j.variables(o)})
	if err != nil {
		return nil, err
	}
	text, err := j.request.Sandbox.Do(ctx, jsonnetJob{}, input, in)
	if err != nil {
		return nil, &render.Error{File: name, Err: err}
	}
	j.reader().Add(in.reader.Reads())
	var list []json.RawMessage
	if err := json.Unmarshal(text, &list); err != nil {
		list = []json.RawMessage{text}
	}
	var documents []document
	for i, item := range list {
		d, err := parse(item)
		if err != nil {
			return nil, &render.Error{File: name, Err: fmt.Errorf("it must return an object or an array of objects: %w", err)}
		}
		for _, one := range d {
			one.index = i + 1
			documents = append(documents, one)
		}
	}
	return j.objects(name, documents)
}

// importer is what finds files for the source.
func (j *job) importer(o *v1alpha1.ApplicationSourceJsonnet) (*importer, error) {
	// It has a reader of its own: an evaluation that takes too long continues to read.
	in := &importer{reader: render.NewReader(j.source.Tree)}
	if o != nil {
		for i, lib := range o.Libs {
			at, err := fromRoot(lib)
			if err != nil {
				return nil, fieldError(fmt.Sprintf("directory.jsonnet.libs[%d]", i), "%q: %w", lib, err)
			}
			in.libs = append([]string{at}, in.libs...)
		}
	}
	in.libs = append(in.libs, j.dir)
	return in, nil
}

// variables are those of the source.
func (j *job) variables(o *v1alpha1.ApplicationSourceJsonnet) []variable {
	var all []variable
	if o == nil {
		return nil
	}
	for _, v := range o.ExtVars {
		all = append(all, variable{Name: v.Name, Value: j.env.expand(v.Value), Code: v.Code})
	}
	for _, v := range o.TLAs {
		all = append(all, variable{Name: v.Name, Value: j.env.expand(v.Value), Code: v.Code, Argument: true})
	}
	return all
}

// fromRoot is the path of a library in the tree: it is relative to the root of the repository, as upstream, with a slash before it or without.
func fromRoot(name string) (string, error) {
	at := path.Clean(strings.TrimLeft(name, "/"))
	if at == ".." || strings.HasPrefix(at, "../") {
		return "", errors.New("outside the repository")
	}
	return at, nil
}

// importer finds what files of Jsonnet import in the tree: beside the file, then in the libraries, the last one first.
type importer struct {
	reader *render.Reader
	libs   []string
}

// Answer reads a file.
func (in *importer) Answer(_ context.Context, question []byte) ([]byte, error) {
	var q imported
	if err := sandbox.Decode(question, &q); err != nil {
		return nil, err
	}
	if path.IsAbs(q.Name) {
		return nil, fmt.Errorf("%q: an import is relative to the importing file or to a library", q.Name)
	}
	for _, dir := range append([]string{path.Dir(q.From)}, in.libs...) {
		at := path.Join(dir, q.Name)
		data, there, err := in.reader.File(at)
		if err != nil {
			return nil, err
		}
		if there {
			return sandbox.Encode(found{At: at, Data: data})
		}
	}
	return nil, fmt.Errorf("%q is neither next to the file nor in the libraries", q.Name)
}
