package manifests

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"
	"time"

	"github.com/google/go-jsonnet"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/headgate-dev/headgate/api/argoproj/v1alpha1"
	"github.com/headgate-dev/headgate/internal/render"
)

const (
	// jsonnetTime bounds the evaluation of one file.
	jsonnetTime = 30 * time.Second
	// jsonnetStack bounds calls in each other.
	jsonnetStack = 500
)

// jsonnet evaluates a file to an object or to an array of them.
func (j *job) jsonnet(ctx context.Context, o *v1alpha1.ApplicationSourceJsonnet, name string) ([]*unstructured.Unstructured, error) {
	if !j.request.Options.Jsonnet {
		j.problem("directory", "jsonnet.enable of argocd-cm is false; %s is skipped", name)
		return nil, nil
	}
	vm, in, err := j.machine(o)
	if err != nil {
		return nil, err
	}
	text, err := evaluate(ctx, vm, name)
	if err != nil {
		return nil, &render.Error{File: name, Err: err}
	}
	j.reader().Add(in.reader.Reads())
	var list []json.RawMessage
	if err := json.Unmarshal([]byte(text), &list); err != nil {
		list = []json.RawMessage{json.RawMessage(text)}
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

// evaluated is what an evaluation gives.
type evaluated struct {
	text string
	err  error
}

// evaluate evaluates a file. The library cannot be interrupted: what takes too long goes on beside us until it ends by
// itself, and what it gives is dropped.
func evaluate(ctx context.Context, vm *jsonnet.VM, name string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, jsonnetTime)
	defer cancel()
	done := make(chan evaluated, 1)
	go func() {
		text, err := vm.EvaluateFile(name)
		done <- evaluated{text, err}
	}()
	select {
	case out := <-done:
		if out.err != nil {
			return "", errors.New(strings.Join(strings.Fields(out.err.Error()), " "))
		}
		return out.text, nil
	case <-ctx.Done():
		return "", fmt.Errorf("not evaluated within %s: %w", jsonnetTime, ctx.Err())
	}
}

// machine is a VM with the variables and libraries of the source.
func (j *job) machine(o *v1alpha1.ApplicationSourceJsonnet) (*jsonnet.VM, *importer, error) {
	vm := jsonnet.MakeVM()
	vm.MaxStack = jsonnetStack
	vm.SetTraceOut(io.Discard)
	// It has a reader of its own: an evaluation that takes too long goes on to read.
	in := &importer{reader: render.NewReader(j.source.Tree), read: map[string]jsonnet.Contents{}}
	if o != nil {
		for i, lib := range o.Libs {
			at, err := j.inTree(lib)
			if err != nil {
				return nil, nil, fieldError(fmt.Sprintf("directory.jsonnet.libs[%d]", i), "%q: %w", lib, err)
			}
			in.libs = append([]string{at}, in.libs...)
		}
		for _, v := range o.ExtVars {
			set(v, j.env.expand(v.Value), vm.ExtVar, vm.ExtCode)
		}
		for _, v := range o.TLAs {
			set(v, j.env.expand(v.Value), vm.TLAVar, vm.TLACode)
		}
	}
	in.libs = append(in.libs, j.dir)
	vm.Importer(in)
	return vm, in, nil
}

func set(v v1alpha1.JsonnetVar, value string, text, code func(key, value string)) {
	if v.Code {
		code(v.Name, value)
		return
	}
	text(v.Name, value)
}

// inTree is a path in the tree that is given relative to the directory of the source, or with a slash before it to the
// root of the tree.
func (j *job) inTree(name string) (string, error) {
	at := path.Join(j.dir, name)
	if path.IsAbs(name) {
		at = path.Clean(name)[1:]
	}
	if at == ".." || strings.HasPrefix(at, "../") {
		return "", errors.New("outside the repository")
	}
	return at, nil
}

// importer finds what files of Jsonnet import in the tree: beside the file, then in the libraries, the last one first.
type importer struct {
	reader *render.Reader
	libs   []string
	read   map[string]jsonnet.Contents
}

// Import reads a file.
func (in *importer) Import(from, name string) (jsonnet.Contents, string, error) {
	if path.IsAbs(name) {
		return jsonnet.Contents{}, "", fmt.Errorf("%q: an import is relative to the importing file or to a library", name)
	}
	for _, dir := range append([]string{path.Dir(from)}, in.libs...) {
		at := path.Join(dir, name)
		if contents, ok := in.read[at]; ok {
			return contents, at, nil
		}
		data, there, err := in.reader.File(at)
		if err != nil {
			return jsonnet.Contents{}, "", err
		}
		if there {
			in.read[at] = jsonnet.MakeContentsRaw(data)
			return in.read[at], at, nil
		}
	}
	return jsonnet.Contents{}, "", fmt.Errorf("%q is neither next to the file nor in the libraries", name)
}
