// Package appset turns an ApplicationSet into Applications: it asks generators for sets of parameters, renders the
// template for each, and says what is to be created, changed and deleted, in which order, and what the status is.
//
// It asks nothing but its port, Facts, and writes nothing. An error means that nothing may be changed; what
// concerns one Application is a Problem, and stops no other. Deletions have a budget: what looks like a mistake
// deletes nothing without approval. Generators that query forges or other services are refused by name.
//
// A pass goes so: Read, Generate, MakePlan; where Applications change in steps also States and MakeRollout, and a
// SyncOperation for each Application that it names; in the end StatusOf. While a set is being deleted, Deletions
// says what goes next, or Release releases what stays.
package appset
