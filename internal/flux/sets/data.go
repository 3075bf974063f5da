package sets

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	fluxcdv1 "github.com/headgate-dev/headgate/api/fluxcd/v1"
	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/flux/access"
)

// checksumAnnotation stands beside the one that says what it is of.
const checksumAnnotation = "fluxcd.controlplane.io/checksum"

// fillIn puts data of the cluster into objects that ask for it by annotations. What cannot be done is an error,
// that names the object and the annotation.
func fillIn(ctx context.Context, objects []*unstructured.Unstructured, reader access.Reader) error {
	for _, step := range []struct {
		annotation string
		do         func(ctx context.Context, o *unstructured.Unstructured, value string, reader access.Reader) error
	}{
		{fluxcdv1.RecreateOnFailureAnnotation, refuseRecreation},
		{fluxcdv1.CopyFromAnnotation, copyData},
		{fluxcdv1.ConvertKubeConfigFromAnnotation, convertKubeConfig},
	} {
		for _, o := range objects {
			value, asked := o.GetAnnotations()[step.annotation]
			if !asked {
				continue
			}
			if err := step.do(ctx, o, strings.TrimSpace(value), reader); err != nil {
				return annotationFailed(o, step.annotation, err)
			}
		}
	}
	made := among{objects: objects, reader: reader}
	for _, o := range objects {
		if err := made.checksums(ctx, o.Object); err != nil {
			return annotationFailed(o, fluxcdv1.ChecksumFromAnnotation, err)
		}
	}
	return nil
}

func annotationFailed(o *unstructured.Unstructured, annotation string, err error) error {
	failure := &buildFailed{engine.ReasonBuildFailed, false, fmt.Errorf("%s: annotation %s: %w", engine.IDOf(o), annotation, err)}
	if unsupported := (*access.UnsupportedError)(nil); errors.As(err, &unsupported) {
		failure.reason, failure.terminal = engine.ReasonUnsupported, true
	}
	return failure
}

func refuseRecreation(_ context.Context, _ *unstructured.Unstructured, value string, _ access.Reader) error {
	if value != fluxcdv1.EnabledValue {
		return nil
	}
	return &access.UnsupportedError{Field: value, Hint: "a failed Job is kept; delete it to recreate it"}
}

// referred reads "namespace/name".
func referred(text string) (namespace, name string, err error) {
	namespace, name, ok := strings.Cut(text, "/")
	if !ok || namespace == "" || name == "" || strings.Contains(name, "/") {
		return "", "", fmt.Errorf("%q: want namespace/name", text)
	}
	return namespace, name, nil
}

// copyData gives a ConfigMap or a Secret the data of another one.
func copyData(ctx context.Context, o *unstructured.Unstructured, value string, reader access.Reader) error {
	namespace, name, err := referred(value)
	if err != nil {
		return err
	}
	data := map[string]any{}
	switch {
	case o.GetAPIVersion() == "v1" && o.GetKind() == "ConfigMap":
		from, err := reader.ConfigMap(ctx, namespace, name)
		if err != nil {
			return fmt.Errorf("reading ConfigMap %q: %w", value, err)
		}
		for k, v := range from {
			data[k] = v
		}
	case o.GetAPIVersion() == "v1" && o.GetKind() == "Secret":
		from, err := reader.Secret(ctx, namespace, name)
		if err != nil {
			return fmt.Errorf("reading Secret %q: %w", value, err)
		}
		for k, v := range from {
			data[k] = base64.StdEncoding.EncodeToString(v)
		}
	default:
		return errors.New("only ConfigMaps and Secrets can have it")
	}
	return unstructured.SetNestedMap(o.Object, data, "data")
}

// convertKubeConfig gives a ConfigMap the address and the authority of the first cluster of a kubeconfig.
func convertKubeConfig(ctx context.Context, o *unstructured.Unstructured, value string, reader access.Reader) error {
	if o.GetAPIVersion() != "v1" || o.GetKind() != "ConfigMap" {
		return errors.New("only ConfigMaps can have it")
	}
	from, key, _ := strings.Cut(value, ":")
	namespace, name, err := referred(from)
	if err != nil {
		return err
	}
	data, err := reader.Secret(ctx, namespace, name)
	if err != nil {
		return fmt.Errorf("reading Secret %q: %w", from, err)
	}
	held := data[key]
	if key == "" {
		held = access.OrBytes(data["kubeconfig"], data["value"])
	}
	var config struct {
		Clusters []struct {
			Cluster struct {
				Server string `json:"server"`
				CA     []byte `json:"certificate-authority-data"`
			} `json:"cluster"`
		} `json:"clusters"`
	}
	if err := yaml.Unmarshal(held, &config); err != nil || len(config.Clusters) == 0 {
		return fmt.Errorf("Secret %q contains no kubeconfig with a cluster", from)
	}
	fields, _, err := unstructured.NestedStringMap(o.Object, "data")
	if err != nil {
		return err
	}
	first := config.Clusters[0].Cluster
	all := map[string]string{"address": first.Server, "ca.crt": string(first.CA)}
	maps.Copy(all, fields)
	return unstructured.SetNestedStringMap(o.Object, all, "data")
}

// among reads ConfigMaps and Secrets: those that are about to be applied, and else those of the cluster.
type among struct {
	objects []*unstructured.Unstructured
	reader  access.Reader
}

// checksums goes through an object for metadata that asks for a digest.
func (a among) checksums(ctx context.Context, value any) error {
	switch v := value.(type) {
	case []any:
		for _, item := range v {
			if err := a.checksums(ctx, item); err != nil {
				return err
			}
		}
	case map[string]any:
		if annotations, ok, _ := unstructured.NestedMap(v, "metadata", "annotations"); ok {
			if err := a.checksum(ctx, v, annotations); err != nil {
				return err
			}
		}
		for _, item := range v {
			if err := a.checksums(ctx, item); err != nil {
				return err
			}
		}
	}
	return nil
}

func (a among) checksum(ctx context.Context, fields, annotations map[string]any) error {
	text, asked := annotations[fluxcdv1.ChecksumFromAnnotation].(string)
	if !asked {
		return nil
	}
	h := sha256.New()
	for _, ref := range strings.Split(text, ",") {
		if ref = strings.TrimSpace(ref); ref == "" {
			continue
		}
		kind, rest, _ := strings.Cut(ref, "/")
		namespace, name, err := referred(rest)
		if err != nil || kind != "ConfigMap" && kind != "Secret" {
			return fmt.Errorf("%q: want ConfigMap/namespace/name or Secret/namespace/name", ref)
		}
		data, err := a.data(ctx, kind, namespace, name)
		if err != nil {
			return fmt.Errorf("reading %s: %w", ref, err)
		}
		fmt.Fprintf(h, "%s\x00", ref)
		for _, key := range slices.Sorted(maps.Keys(data)) {
			fmt.Fprintf(h, "%s\x00%s\x00", key, data[key])
		}
	}
	return unstructured.SetNestedField(fields, "sha256:"+hex.EncodeToString(h.Sum(nil)), "metadata", "annotations", checksumAnnotation)
}

func (a among) data(ctx context.Context, kind, namespace, name string) (map[string]string, error) {
	for _, o := range a.objects {
		if o.GetAPIVersion() == "v1" && o.GetKind() == kind && o.GetNamespace() == namespace && o.GetName() == name {
			return dataOf(o)
		}
	}
	if kind == "ConfigMap" {
		return a.reader.ConfigMap(ctx, namespace, name)
	}
	secret, err := a.reader.Secret(ctx, namespace, name)
	data := make(map[string]string, len(secret))
	for k, v := range secret {
		data[k] = string(v)
	}
	return data, err
}

// dataOf are the data of a ConfigMap or of a Secret that is about to be applied.
func dataOf(o *unstructured.Unstructured) (map[string]string, error) {
	all := map[string]string{}
	for _, field := range []string{"data", "binaryData", "stringData"} {
		data, _, err := unstructured.NestedStringMap(o.Object, field)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", field, err)
		}
		for k, v := range data {
			if raw, err := base64.StdEncoding.DecodeString(v); err == nil && o.GetKind() == "Secret" && field == "data" {
				v = string(raw)
			}
			all[k] = v
		}
	}
	return all, nil
}
