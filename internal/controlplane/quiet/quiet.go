// Package quiet keeps the client library of etcd from writing to the standard error of the process.
//
// The API server makes the logger of its clients while its packages are initialized, from a configuration that no option reaches. This
// package changes that configuration, and imports nothing else: Go initializes packages that are ready in the order of their import
// paths, so that it comes before those of Kubernetes. What fails is said by the API server, whose log `--kubernetes-logs` shows.
package quiet

import "go.etcd.io/etcd/client/pkg/v3/logutil"

func init() {
	logutil.DefaultZapLoggerConfig.OutputPaths, logutil.DefaultZapLoggerConfig.ErrorOutputPaths = nil, nil
}
