package manifests

import (
	"errors"
	"io"
	"strings"

	"github.com/google/go-jsonnet"

	"github.com/headgate-dev/headgate/internal/sandbox"
)

// jsonnetStack bounds calls in each other, but for those at the end of a function.
const jsonnetStack = 500

// Jobs are what this package has done in the sandbox.
func Jobs() []sandbox.Job { return []sandbox.Job{jsonnetJob{}} }

// evaluation is what a file of Jsonnet is evaluated with.
type evaluation struct {
	File      string
	Variables []variable
}

// variable is one from outside, or an argument of the function at the top; code is evaluated, anything else is a text.
type variable struct {
	Name, Value    string
	Code, Argument bool
}

// imported asks for a file that another one imports, and found is the answer.
type (
	imported struct{ From, Name string }
	found    struct {
		At   string
		Data []byte
	}
)

// jsonnetJob evaluates a file of Jsonnet.
type jsonnetJob struct{}

// Name is that of the job.
func (jsonnetJob) Name() string { return "jsonnet" }

// Run makes JSON of an evaluation.
func (jsonnetJob) Run(input []byte, asking sandbox.Asker) ([]byte, error) {
	var in evaluation
	if err := sandbox.Decode(input, &in); err != nil {
		return nil, err
	}
	vm := jsonnet.MakeVM()
	vm.MaxStack = jsonnetStack
	vm.SetTraceOut(io.Discard)
	vm.Importer(&asker{asking: asking, read: map[string]jsonnet.Contents{}})
	for _, v := range in.Variables {
		v.set(vm)
	}
	text, err := vm.EvaluateFile(in.File)
	if err != nil {
		return nil, errors.New(strings.Join(strings.Fields(err.Error()), " "))
	}
	return []byte(text), nil
}

func (v variable) set(vm *jsonnet.VM) {
	set := vm.ExtVar
	switch {
	case v.Argument && v.Code:
		set = vm.TLACode
	case v.Argument:
		set = vm.TLAVar
	case v.Code:
		set = vm.ExtCode
	}
	set(v.Name, v.Value)
}

// asker imports what it is given by the process that has the tree.
type asker struct {
	asking sandbox.Asker
	read   map[string]jsonnet.Contents
}

// Import gets a file. The library wants the same contents for the same place.
func (a *asker) Import(from, name string) (jsonnet.Contents, string, error) {
	question, err := sandbox.Encode(imported{from, name})
	if err != nil {
		return jsonnet.Contents{}, "", err
	}
	answer, err := a.asking.Ask(question)
	if err != nil {
		return jsonnet.Contents{}, "", err
	}
	var f found
	if err := sandbox.Decode(answer, &f); err != nil {
		return jsonnet.Contents{}, "", err
	}
	if _, known := a.read[f.At]; !known {
		a.read[f.At] = jsonnet.MakeContentsRaw(f.Data)
	}
	return a.read[f.At], f.At, nil
}
