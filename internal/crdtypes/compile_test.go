package crdtypes_test

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"path"
	"regexp"
	"strings"
	"testing"

	"github.com/headgate-dev/headgate/internal/crdtypes"
)

// typeChecks parses and type-checks a package, with stand-ins for the packages that it imports.
func typeChecks(t testing.TB, p crdtypes.Package) {
	t.Helper()
	fset := token.NewFileSet()
	var files []*ast.File
	for name, data := range p.Files {
		if !strings.HasSuffix(name, ".go") {
			continue
		}
		file, err := parser.ParseFile(fset, path.Join(p.Dir, name), data, parser.ParseComments)
		if err != nil {
			t.Fatalf("%v\n%s", err, data)
		}
		if first, _, _ := bytes.Cut(data, []byte("\n")); !generated.Match(first) {
			t.Errorf("%s does not say that it is generated: %s", name, first)
		}
		files = append(files, file)
	}
	config := types.Config{Importer: standIns{}, Error: func(err error) { t.Errorf("%v", err) }}
	if _, err := config.Check(p.Dir, fset, files, nil); err != nil {
		for name, data := range p.Files {
			t.Logf("%s:\n%.4000s", name, data)
		}
		t.Fatal(err)
	}
}

var generated = regexp.MustCompile(`^// Code generated .* DO NOT EDIT\.$`)

// standIns are packages in which every type is an empty struct, but those of the standard library that a package needs.
type standIns struct{}

func (standIns) Import(at string) (*types.Package, error) {
	pkg := types.NewPackage(at, path.Base(at))
	names := map[string][]string{
		"k8s.io/apimachinery/pkg/apis/meta/v1": {"TypeMeta", "ObjectMeta", "LabelSelector", "LabelSelectorRequirement", "Condition"},
		"k8s.io/apimachinery/pkg/util/intstr":  {"IntOrString"}, "k8s.io/apimachinery/pkg/api/resource": {"Quantity"},
		"k8s.io/api/batch/v1": {"JobTemplateSpec", "JobSpec"}, "k8s.io/api/networking/v1": {"IngressSpec", "NetworkPolicySpec"}, "k8s.io/api/rbac/v1": {"PolicyRule"},
		"k8s.io/api/core/v1": crdtypes.CoreTypes(),
	}[at]
	switch {
	case at == "encoding/json":
		bytesType := types.NewSlice(types.Typ[types.Byte])
		signature := types.NewSignatureType(nil, nil, nil, types.NewTuple(types.NewVar(0, pkg, "data", bytesType), types.NewVar(0, pkg, "v", types.Universe.Lookup("any").Type())),
			types.NewTuple(types.NewVar(0, pkg, "", types.Universe.Lookup("error").Type())), false)
		pkg.Scope().Insert(types.NewFunc(0, pkg, "Unmarshal", signature))
	case at != "embed" && names == nil:
		return nil, fmt.Errorf("%s is not imported by generated packages", at)
	}
	for _, name := range names {
		object := types.NewTypeName(0, pkg, name, nil)
		types.NewNamed(object, types.NewStruct(nil, nil), nil)
		pkg.Scope().Insert(object)
	}
	pkg.MarkComplete()
	return pkg, nil
}
