// Package policy holds the rules of Applications as pure values and functions: what a project permits, when its windows
// are open, when a sync starts by itself and how often it is tried again, and what the options of a sync say.
//
// It is told the time and the state of the world. It asks nobody, writes nothing, and knows of no order among objects.
package policy
