package simulate

import (
	"encoding/base64"
	"strings"
	"text/template/parse"

	"k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/yaml"
)

// filled is the text of a template in which marks stand for the values. It keeps what is around them, the first
// branch of conditions, and one round of loops. A text that is no template comes back as a mark.
func filled(key, text string) string {
	tree := parse.New(key)
	tree.Mode = parse.SkipFuncCheck
	if _, err := tree.Parse(text, "", "", map[string]*parse.Tree{}); err != nil || tree.Root == nil {
		return Mark(key)
	}
	var b strings.Builder
	write(&b, key, tree.Root)
	return b.String()
}

// fromFile are the keys that come out of a file of templates: those of a text in place, and the names of those
// in a ConfigMap or a Secret, which is not read here.
func fromFile(from map[string]any) map[string]string {
	made := map[string]string{}
	if literal, ok := from["literal"].(string); ok {
		var keys map[string]any
		if err := yaml.Unmarshal([]byte(filled(marker, literal)), &keys); err == nil {
			for key, value := range keys {
				text, isText := value.(string)
				if !isText {
					text = Mark(key)
				}
				made[key] = text
			}
		}
	}
	for _, kind := range []string{"configMap", "secret"} {
		for _, item := range items(nested(from, kind), "items") {
			if key, _ := item["key"].(string); key != "" {
				made[key] = Mark(key)
			}
		}
	}
	return made
}

func write(b *strings.Builder, key string, node parse.Node) {
	switch n := node.(type) {
	case *parse.ListNode:
		if n == nil {
			return
		}
		for _, child := range n.Nodes {
			write(b, key, child)
		}
	case *parse.TextNode:
		b.Write(n.Text)
	case *parse.ActionNode:
		if len(n.Pipe.Decl) == 0 {
			b.WriteString(piped(key, n.Pipe))
		}
	case *parse.IfNode:
		write(b, key, n.List)
	case *parse.RangeNode:
		write(b, key, n.List)
	case *parse.WithNode:
		write(b, key, n.List)
	}
}

// piped is what stands for the value of a pipe: the mark of the first field in it, in the form that the functions
// after it give it.
func piped(key string, pipe *parse.PipeNode) string {
	value := Mark(key)
	if name := fieldIn(pipe); name != "" {
		value = Mark(name)
	}
	for _, command := range pipe.Cmds {
		function, ok := command.Args[0].(*parse.IdentifierNode)
		if !ok {
			continue
		}
		switch function.Ident {
		case "b64enc":
			value = base64.StdEncoding.EncodeToString([]byte(value))
		case "toJson", "quote":
			value = `"` + value + `"`
		}
	}
	return value
}

// fieldIn is the name of the first field, or of the first key that is looked up, in a part of a template.
func fieldIn(node parse.Node) string {
	switch n := node.(type) {
	case *parse.PipeNode:
		for _, command := range n.Cmds {
			if name := fieldIn(command); name != "" {
				return name
			}
		}
	case *parse.CommandNode:
		return fieldOfCommand(n)
	case *parse.FieldNode:
		return n.Ident[len(n.Ident)-1]
	case *parse.ChainNode:
		return n.Field[len(n.Field)-1]
	case *parse.VariableNode:
		return strings.TrimPrefix(n.Ident[len(n.Ident)-1], "$")
	}
	return ""
}

func fieldOfCommand(command *parse.CommandNode) string {
	for i, arg := range command.Args {
		if name := fieldIn(arg); name != "" {
			return name
		}
		key, isText := arg.(*parse.StringNode)
		function, isCall := command.Args[0].(*parse.IdentifierNode)
		if i > 0 && isText && isCall && (function.Ident == "index" || function.Ident == "get") {
			return key.Text
		}
	}
	return ""
}

func isJSON(text string) bool {
	var value map[string]any
	return json.Unmarshal([]byte(text), &value) == nil
}
