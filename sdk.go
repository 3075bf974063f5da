// Package headgate holds the source of the chart SDK, for modules of charts that are built with a copy of it: a directory can embed
// only what lies below it.
package headgate

import (
	"embed"
	"io/fs"
)

// The kinds of Flux are not among them: their modules ask for newer ones of Kubernetes than the engine is built with.
//
//go:embed LICENSE chart api/argoproj api/build api/crossplane api/externalsecrets api/kargo
var source embed.FS

// Source is the source of the chart SDK and of the kinds that it comes with, tests included, as it is in this module.
func Source() fs.FS { return source }
