// Command nixos-image describes the objects of this example in Go: what cloud, image and machine have in YAML, from typed values.
package main

import (
	"os"

	"github.com/headgate-dev/headgate/chart"
	"github.com/headgate-dev/headgate/chart/schema"
)

// namespace is that of the build and of the machine.
const namespace = "nixos"

func main() { os.Exit(chart.Main(chart.Settings{Checks: []chart.Check{schema.Check{}}}, describe)) }

// describe has a chart for each unit.
func describe(app *chart.App) {
	describeCloud(chart.New(app, "cloud", chart.Props{}))
	image := describeImage(chart.New(app, "image", chart.Props{Namespace: namespace}))
	describeMachine(chart.New(app, "machine", chart.Props{Namespace: namespace}), image)
}

// of is a pointer to a value.
func of[T any](value T) *T { return &value }
