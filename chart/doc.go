// Package chart describes Kubernetes objects in Go, and writes them as YAML.
//
// An App holds Charts, a Chart holds Objects, and a Group gives a name to some of them. Objects are of their real types
// (k8s.io/api, the API types of Headgate, types that "headgate import" wrote) or plain maps:
//
//	app := chart.NewApp(chart.Settings{})
//	web := chart.New(app, "web", chart.Props{Namespace: "shop"})
//	config := chart.Add(web, "config", &corev1.ConfigMap{Data: map[string]string{"greeting": "hello"}})
//	chart.Add(web, "server", &appsv1.Deployment{ ... config.Name() ... })
//
// Nothing is converted before Synth: what a variable points to may be changed until then, and what Synth writes is what the
// patches of an object leave of it, unfiltered. A mistake does not panic and is not returned from every call: it is kept with
// the path of the construct and the line of the caller, and Synth returns all of them.
//
// Main makes a program of a description, which "headgate synth" runs. Include adds objects of YAML files. Package charttest compares what
// is written with golden files, packages schema and lint have checks.
//
// The same description writes the same bytes, always.
//
// This package and those below it import no Kubernetes server code, so that a module that uses them stays small.
package chart
