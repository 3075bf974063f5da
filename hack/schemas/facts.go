package schemas

import (
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strconv"
	"strings"
)

// facts are what the generated source says of a schema, and the published document does not.
type facts struct {
	enum       []string
	standard   string
	properties map[string]*facts
	items      *facts
	values     *facts
}

func (f *facts) property(name string) *facts {
	if f == nil {
		return nil
	}
	return f.properties[name]
}

func (f *facts) itemsOf() *facts {
	if f == nil {
		return nil
	}
	return f.items
}

func (f *facts) valuesOf() *facts {
	if f == nil {
		return nil
	}
	return f.values
}

// readFacts are the facts of all definitions, by the names of their functions.
func readFacts(path string) (map[string]*facts, error) {
	parsed, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	known := map[string]*facts{}
	for _, declaration := range parsed.Decls {
		function, ok := declaration.(*ast.FuncDecl)
		if name, isSchema := strings.CutPrefix(nameOf(function), "schema_"); ok && isSchema {
			known[name] = &facts{}
			known[name].read(function.Body)
		}
	}
	return known, nil
}

func nameOf(function *ast.FuncDecl) string {
	if function == nil {
		return ""
	}
	return function.Name.Name
}

// functionOf is the name of the function of a definition, without its prefix.
func functionOf(definition string) string {
	name := short(definition)
	if rest, ok := strings.CutPrefix(name, "api."); ok {
		return "k8sio_api_" + strings.ReplaceAll(rest, ".", "_")
	}
	_, rest, _ := strings.Cut(name, ".")
	return strings.ReplaceAll(rest, ".", "_")
}

// read takes the facts out of the nearest literals below a node.
func (f *facts) read(node ast.Node) {
	ast.Inspect(node, func(n ast.Node) bool {
		pair, ok := n.(*ast.KeyValueExpr)
		if !ok {
			return true
		}
		key, _ := pair.Key.(*ast.Ident)
		if key == nil {
			return true
		}
		switch key.Name {
		case "Enum":
			f.enum = literals(pair.Value)
		case "Default":
			if values := literals(pair.Value); len(values) == 1 {
				f.standard = values[0]
			}
		case "Properties":
			f.readProperties(pair.Value)
		case "Items":
			f.items = &facts{}
			f.items.read(pair.Value)
		case "AdditionalProperties":
			f.values = &facts{}
			f.values.read(pair.Value)
		default:
			return true
		}
		return false
	})
}

func (f *facts) readProperties(value ast.Expr) {
	all, ok := value.(*ast.CompositeLit)
	if !ok {
		return
	}
	f.properties = map[string]*facts{}
	for _, element := range all.Elts {
		pair, ok := element.(*ast.KeyValueExpr)
		if !ok {
			continue
		}
		if name := literals(pair.Key); len(name) == 1 {
			f.properties[name[0]] = &facts{}
			f.properties[name[0]].read(pair.Value)
		}
	}
}

// literals are the texts in an expression, sorted.
func literals(expression ast.Expr) []string {
	var found []string
	ast.Inspect(expression, func(n ast.Node) bool {
		if literal, ok := n.(*ast.BasicLit); ok && literal.Kind == token.STRING {
			if text, err := strconv.Unquote(literal.Value); err == nil {
				found = append(found, text)
			}
		}
		return true
	})
	slices.Sort(found)
	return found
}
