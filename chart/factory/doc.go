// Package factory makes packages of applications that are described in one configuration: charts that are registered by name, with
// props of a Go type, and applications that name a chart, its props, where they are deployed and what they wait for.
//
//	registry := factory.NewRegistry()
//	factory.Register(registry, "web", func(scope chart.Scope, p WebProps) { ... })
//	config, err := factory.Load("applications.yaml")
//	...
//	packages, err := factory.Build(registry, config, factory.Options{})
//
// The configuration is Go, or YAML or JSON that is decoded strictly: an unknown field, chart or prop is an error with its file and
// line, and with the name that was probably meant. So are inputs that are missing, variables that are unset, and applications that
// wait for each other. All mistakes of all applications are returned at once.
//
// It refuses to guess: nothing is labelled, routed to a cluster or synced automatically unless the configuration says so.
package factory
