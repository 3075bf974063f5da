// Package schema validates Kubernetes objects without a cluster: against the schemas of Kubernetes, which it has for several minor
// versions, and against those of CustomResourceDefinitions.
//
// It is a check of an App, and a function over any objects:
//
//	app := chart.NewApp(chart.Settings{Checks: []chart.Check{schema.Kubernetes("1.36")}})
//	findings := schema.Check{}.Validate(objects)
//
// What it reports is what an API server refuses: unknown and missing fields, values of the wrong type, format or set, duplicate
// keys, names and labels that are not valid, kinds and versions that are not served. Each finding names the field, what is wrong and
// what is allowed; the values of Secrets are in none. What depends on a cluster is not judged: admission, quotas, what exists.
//
// What only other writes than server-side apply refuse is reported as well. Rules of the API server that its documents do not have are
// validated where they are frequent mistakes: selectors that miss their template, mounts without volumes, ports, restart policies.
//
// Definitions among the objects are used without being named. Their rules in the Common Expression Language are evaluated if Check
// has an Evaluator: that of chart/schema/expression, which is a package of its own since it links more than all else here.
package schema
