// Package policy holds the rules of Applications as pure values and functions: what a project permits, when its windows
// are open, when a sync starts automatically and how often it is retried, and what the options of a sync say.
//
// It is given the time and the state of the world. It sends no requests, writes nothing, and knows of no order among objects.
package policy
