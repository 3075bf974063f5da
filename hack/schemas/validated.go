package schemas

import "maps"

// port is a number that a port has, anyPort one that may also be left to the API server.
var (
	port    = object{"minimum": 1, "maximum": 65535}
	anyPort = object{"minimum": 0, "maximum": 65535}
)

// rules are what the API server validates of fields, and what no release publishes: "definition property", or "definition" for the
// schema itself. They hold for every release that the file has.
var rules = map[string]object{
	"api.core.v1.Container":                       {"required": []any{"name", "image"}},
	"api.core.v1.PodSpec containers":              {"minItems": 1},
	"api.core.v1.ContainerPort containerPort":     port,
	"api.core.v1.ContainerPort hostPort":          anyPort,
	"api.core.v1.ServicePort port":                port,
	"api.core.v1.ServicePort nodePort":            anyPort,
	"api.core.v1.ServicePort targetPort":          anyPort,
	"api.core.v1.HTTPGetAction port":              port,
	"api.core.v1.TCPSocketAction port":            port,
	"api.core.v1.GRPCAction port":                 port,
	"api.networking.v1.ServiceBackendPort number": anyPort,

	"api.core.v1.PersistentVolumeClaimSpec":             {"required": []any{"accessModes", "resources"}},
	"api.core.v1.PersistentVolumeClaimSpec accessModes": {"minItems": 1},
	"api.rbac.v1.PolicyRule verbs":                      {"minItems": 1},
	"api.rbac.v1.RoleRef apiGroup":                      {"default": "rbac.authorization.k8s.io"},
	"api.autoscaling.v2.MetricSpec type":                {"enum": []any{"ContainerResource", "External", "Object", "Pods", "Resource"}},
	"api.autoscaling.v2.MetricTarget type":              {"enum": []any{"AverageValue", "Utilization", "Value"}},

	// These are required by the documents alone: the API server takes zero for what is missing.
	"api.core.v1.LimitRangeSpec": {"required": []any{}},
	"api.core.v1.SleepAction":    {"required": []any{}},
	"apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceDefinitionVersion": {"required": []any{"name", "storage"}},

	"apimachinery.pkg.apis.meta.v1.LabelSelectorRequirement operator":                      {"enum": []any{"DoesNotExist", "Exists", "In", "NotIn"}},
	"apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceDefinitionSpec scope": {"enum": []any{"Cluster", "Namespaced"}},
}

// validated puts the rules of a definition into its schema.
func validated(name string, definition object) {
	maps.Copy(definition, rules[name])
	properties, _ := definition["properties"].(object)
	for property, schema := range properties {
		if rule := rules[name+" "+property]; rule != nil {
			maps.Copy(schema.(object), rule)
		}
	}
}
