// Package tools pins the programs that generate and check code, and the modules whose types they
// read. It is a module of its own so that none of this reaches the main one.
package tools

import (
	_ "github.com/fluxcd/helm-controller/api/v2"
	_ "github.com/fluxcd/image-automation-controller/api/v1"  // CRDs are generated from these types
	_ "github.com/fluxcd/image-reflector-controller/api/v1"   // CRDs are generated from these types
	_ "github.com/fluxcd/kustomize-controller/api/v1"         // CRDs are generated from these types
	_ "github.com/fluxcd/notification-controller/api/v1"      // CRDs are generated from these types
	_ "github.com/fluxcd/notification-controller/api/v1beta3" // CRDs are generated from these types
	_ "github.com/fluxcd/source-controller/api/v1"            // CRDs are generated from these types
	_ "github.com/fluxcd/source-watcher/api/v2/v1beta1"       // CRDs are generated from these types
)
