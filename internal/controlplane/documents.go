package controlplane

import (
	"fmt"

	genericapiserver "k8s.io/apiserver/pkg/server"
	openapi "k8s.io/kube-openapi/pkg/common"
	"k8s.io/kube-openapi/pkg/handler"
	"k8s.io/kube-openapi/pkg/handler3"
)

// documents are the OpenAPI documents of the built-in kinds, and the definitions that they are made of. They are the same for
// all control planes of a process, and do not change; those of custom resources have servers of their own.
type documents struct {
	config   *openapi.Config
	configV3 *openapi.OpenAPIV3Config
	v2       *handler.OpenAPIService
	v3       *handler3.OpenAPIService
}

// documentsOf are the documents that a server has made, which was configured by config and prepared to run.
func documentsOf(config *genericapiserver.Config, server *genericapiserver.GenericAPIServer) *documents {
	return &documents{
		config: config.OpenAPIConfig, configV3: config.OpenAPIV3Config,
		v2: server.OpenAPIVersionedService, v3: server.OpenAPIV3VersionedService,
	}
}

// before has a server that is about to be made use these definitions and make no documents.
func (d *documents) before(config *genericapiserver.Config) {
	if d == nil {
		return
	}
	config.OpenAPIConfig, config.OpenAPIV3Config, config.SkipOpenAPIInstallation = d.config, d.configV3, true
}

// register has a server serve these documents.
func (d *documents) register(server *genericapiserver.GenericAPIServer) error {
	if d == nil {
		return nil
	}
	mux := server.Handler.NonGoRestfulMux
	d.v2.RegisterOpenAPIVersionedService("/openapi/v2", mux)
	if err := d.v3.RegisterOpenAPIV3VersionedService("/openapi/v3", mux); err != nil {
		return fmt.Errorf("serving the OpenAPI documents: %w", err)
	}
	server.OpenAPIVersionedService, server.OpenAPIV3VersionedService = d.v2, d.v3
	return nil
}
