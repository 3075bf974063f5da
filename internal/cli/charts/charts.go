// Package charts has the commands for typed charts: init chart creates a module of them, synth writes what a module describes. They run
// the person's own program on the person's machine, and refuse to know a cluster.
package charts
