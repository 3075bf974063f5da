package lint

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/headgate-dev/headgate/api/argoproj/workflow/v1alpha1"
)

// later are the types whose fields nothing acts on yet.
var later = []reflect.Type{
	reflect.TypeFor[v1alpha1.LaterSpec](), reflect.TypeFor[v1alpha1.LaterTemplate](), reflect.TypeFor[v1alpha1.LaterLocation](),
}

// others are more such fields, by their types.
var others = map[reflect.Type]map[string]string{
	reflect.TypeFor[v1alpha1.HTTPAuth](): {
		"clientCert": "certificates of clients are not supported yet; use basicAuth", "oauth2": "OAuth2 is not supported yet; use basicAuth",
	},
	reflect.TypeFor[v1alpha1.ValueFrom]():        {"event": "events are not supported: there are no WorkflowEventBindings"},
	reflect.TypeFor[v1alpha1.ResourceTemplate](): {"flags": "flags are those of kubectl, which is not used"},
	reflect.TypeFor[v1alpha1.OlderTemplate](): {
		"template": "templates have no base anymore; call the other template from steps", "templateRef": "templates have no base anymore; call the other template from steps",
		"arguments": "arguments belong to the steps and tasks that call the template",
	},
	reflect.TypeFor[v1alpha1.PodSettings]():         {"podSpecPatch": "patches of pods are not supported yet"},
	reflect.TypeFor[v1alpha1.TemplatePodSettings](): {"podSpecPatch": "patches of pods are not supported yet"},
	reflect.TypeFor[v1alpha1.Artifact]():            {"deleted": "it is only ever set in a status"},
}

// refuse names every field that is set and that nothing acts on.
func (c *checker) refuse(path string, value reflect.Value) {
	switch value.Kind() {
	case reflect.Pointer:
		if !value.IsNil() {
			c.refuse(path, value.Elem())
		}
	case reflect.Slice:
		for i := range value.Len() {
			c.refuse(fmt.Sprintf("%s[%d]", path, i), value.Index(i))
		}
	case reflect.Map:
		for _, key := range value.MapKeys() {
			c.refuse(path+"."+key.String(), value.MapIndex(key))
		}
	case reflect.Struct:
		if value.Type().PkgPath() == reflect.TypeFor[v1alpha1.Workflow]().PkgPath() {
			c.refuseFields(path, value)
		}
	}
}

func (c *checker) refuseFields(path string, value reflect.Value) {
	typ := value.Type()
	for i := range typ.NumField() {
		name, options, _ := strings.Cut(typ.Field(i).Tag.Get("json"), ",")
		field := value.Field(i)
		if name == "-" || field.IsZero() {
			continue
		}
		at := path + "." + name
		if options == "inline" {
			c.refuse(path, field)
			continue
		}
		for _, one := range later {
			if typ == one {
				c.unsupported(at, "it is not supported yet")
			}
		}
		if text := others[typ][name]; text != "" {
			c.unsupported(at, text)
		}
		c.refuse(at, field)
	}
}
