// Package lint holds opt-in rules for Kubernetes objects: what an API server accepts and people regret. Images without a tag,
// containers without requests, limits and probes, pods that run as root, Services that select nothing, Ingresses without a host,
// empty ConfigMaps and Secrets.
//
// It is a check of an App, and a function over any objects; "headgate lint" is the same over files and repositories:
//
//	app := chart.NewApp(chart.Settings{Checks: []chart.Check{lint.Policy{Disable: []string{"cpu-limit"}}}})
//	findings := lint.Policy{Rules: []string{"images"}}.Validate(objects)
//
// Each finding names the rule, the field, and what to write instead. Rules lists them with their severities, which a Policy may change.
// An object is excepted from rules by its annotation headgate.dev/lint-ignore, or by an Exception of the Policy. A rule that cannot know
// does not guess: images, hosts and the like that hold variables are not judged. What is valid at all is a matter of package chart/schema.
package lint
