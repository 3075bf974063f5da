// Package differences decides where an object in a cluster differs from its source, which of its fields may differ, and to
// which Application it belongs. It takes objects and returns paths of fields.
//
// What it returns and what its errors say holds no value of a field, so that nothing of a Secret gets into a status. It
// asks no cluster: what an apply would do comes as the object that a dry run returned.
package differences
