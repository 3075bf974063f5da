// Package helm includes Helm charts in a description: rendered in this process, fetched once, and locked by digest.
//
//	release := helm.Chart(web, "podinfo", helm.Props{
//		Repo: "https://stefanprodan.github.io/podinfo", Chart: "podinfo", Version: "6.9.x",
//		Values: map[string]any{"replicaCount": 2},
//	})
//	release.Patch("Deployment", "podinfo", chart.JSONPatch{{Op: "add", Path: "/spec/revisionHistoryLimit", Value: 3}})
//
// What it gives is what "helm template" prints, as objects of the chart around it. An archive that was fetched is kept in a cache under
// its digest, and the file charts.lock beside go.mod has the version and the digest of each reference: commit it. From then on another
// archive under the same version is an error, and nothing is asked of the network if the cache has the archive. The environment
// variable HEADGATE_CHARTS says how strict that is: see Mode.
//
// Templates see no cluster: lookup finds nothing, and names are not resolved. A template that gives something else every time, since
// it draws lots or asks for the time, is an error: the same description writes the same bytes. Schemas that values.schema.json refers
// to by a URL are not fetched.
//
// The package links Helm's engine, and with it client-go; package chart does not.
package helm
