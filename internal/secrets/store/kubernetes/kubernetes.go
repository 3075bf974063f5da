// Package kubernetes reads and writes Secrets of a namespace of any cluster, with the connection and the rights that the caller gives.
//
// Changes are watched, so that nothing has to be read twice. The room refuses other namespaces, versions, searches by path and
// client-go's own repetition of requests.
package kubernetes

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/kubernetes/scheme"
	typed "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"

	"github.com/headgate-dev/headgate/internal/secrets/store"
	bounds "github.com/headgate-dev/headgate/internal/secrets/store/rest"
)

const (
	// timeout bounds one request.
	timeout = bounds.Timeout
	page    = 100
)

// Client is a store of this kind.
type Client struct {
	namespace string
	api       rest.Interface
}

var (
	_ store.Client  = (*Client)(nil)
	_ store.Watcher = (*Client)(nil)
)

// New returns the store of a namespace. The configuration is copied.
func New(config *rest.Config, namespace string) (*Client, error) {
	if namespace == "" {
		return nil, errors.New("remoteNamespace is empty")
	}
	own := rest.CopyConfig(config)
	own.Timeout = 0
	own.Wrap(bounds.Bodies)
	client, err := typed.NewForConfig(own)
	if err != nil {
		return nil, fmt.Errorf("connecting to the cluster of the store: %w", err)
	}
	return &Client{namespace, client.RESTClient()}, nil
}

// request is one for Secrets of the namespace, which is sent once.
func (c *Client) request(verb string) *rest.Request {
	return c.api.Verb(verb).Namespace(c.namespace).Resource("secrets").MaxRetries(0)
}

// Get returns a key of a Secret, or a path into the JSON of all of them; without a property it is that JSON. Metadata are labels and annotations.
func (c *Client) Get(ctx context.Context, ref store.Ref) ([]byte, error) {
	secret, err := c.read(ctx, ref)
	if err != nil {
		return nil, err
	}
	of := fmt.Sprintf("the Secret %s/%s", c.namespace, ref.Key)
	if ref.MetadataPolicy == store.MetadataFetch {
		text, err := json.Marshal(map[string]any{"labels": secret.Labels, "annotations": secret.Annotations})
		if err != nil {
			return nil, fmt.Errorf("%s: its metadata cannot be written as JSON", of)
		}
		return store.Property(ctx, of, text, ref.Property)
	}
	if value, has := secret.Data[ref.Property]; has {
		return value, nil
	}
	text, err := encode(of, secret.Data)
	if err != nil {
		return nil, err
	}
	return store.Property(ctx, of, text, ref.Property)
}

// Map returns all keys of a Secret; with a property the fields of the JSON object that the key has.
func (c *Client) Map(ctx context.Context, ref store.Ref) (map[string][]byte, error) {
	if ref.Property == "" && ref.MetadataPolicy != store.MetadataFetch {
		secret, err := c.read(ctx, ref)
		if err != nil {
			return nil, err
		}
		return maps.Clone(secret.Data), nil
	}
	value, err := c.Get(ctx, ref)
	if err != nil {
		return nil, err
	}
	return store.Fields(fmt.Sprintf("the key %q of the Secret %s/%s", ref.Property, c.namespace, ref.Key), value)
}

func (c *Client) read(ctx context.Context, ref store.Ref) (*corev1.Secret, error) {
	if ref.Version != "" {
		return nil, fmt.Errorf("reading version %q of the Secret %s/%s: %w", ref.Version, c.namespace, ref.Key, store.ErrUnsupported)
	}
	return c.secret(ctx, ref.Key)
}

func (c *Client) secret(ctx context.Context, name string) (*corev1.Secret, error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	secret := &corev1.Secret{}
	of := fmt.Sprintf("reading the Secret %s/%s", c.namespace, name)
	if name == "" {
		return nil, fmt.Errorf("%s: the key is empty", of)
	}
	return secret, failure(of, c.request(http.MethodGet).Name(name).Do(ctx).Into(secret))
}

// Find returns the data of Secrets as JSON by their names. Tags are labels.
func (c *Client) Find(ctx context.Context, find store.Find) (map[string][]byte, error) {
	if find.Path != "" {
		return nil, fmt.Errorf("finding Secrets by path: %w", store.ErrUnsupported)
	}
	pattern, err := find.Pattern()
	if err != nil {
		return nil, err
	}
	selector, err := labels.ValidatedSelectorFromSet(find.Tags)
	if err != nil {
		return nil, fmt.Errorf("find.tags are not labels: %w", err)
	}
	found := map[string][]byte{}
	options, seen := metav1.ListOptions{LabelSelector: selector.String(), Limit: page}, 0
	for {
		list, err := c.list(ctx, options)
		if err != nil {
			return nil, err
		}
		for _, secret := range list.Items {
			if seen++; seen > store.MaxFound {
				return nil, store.TooMany("listing the Secrets of " + c.namespace)
			}
			if !pattern.MatchString(secret.Name) {
				continue
			}
			if found[secret.Name], err = encode("the Secret "+c.namespace+"/"+secret.Name, secret.Data); err != nil {
				return nil, err
			}
		}
		if options.Continue = list.Continue; options.Continue == "" {
			return found, nil
		}
	}
}

func (c *Client) list(ctx context.Context, options metav1.ListOptions) (*corev1.SecretList, error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	list := &corev1.SecretList{}
	err := c.request(http.MethodGet).VersionedParams(&options, scheme.ParameterCodec).Do(ctx).Into(list)
	return list, failure("listing the Secrets of "+c.namespace, err)
}

// encode is the data of a Secret as JSON. Bytes that are not UTF-8 are replaced in it, as upstream has it.
func encode(of string, data map[string][]byte) ([]byte, error) {
	texts := make(map[string]string, len(data))
	for key, value := range data {
		texts[key] = string(value)
	}
	raw, err := json.Marshal(texts)
	if err != nil {
		return nil, fmt.Errorf("%s: its data cannot be written as JSON", of)
	}
	return raw, nil
}

// metadata is what a PushSecret gives for Kubernetes.
type metadata struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Spec       struct {
		Labels      map[string]string `json:"labels"`
		Annotations map[string]string `json:"annotations"`
	} `json:"spec"`
}

// Push sets a key of a Secret, or all keys of a whole one, and creates the Secret if there is none. Other keys stay.
func (c *Client) Push(ctx context.Context, ref store.PushRef, value []byte) error {
	of := fmt.Sprintf("pushing the Secret %s/%s", c.namespace, ref.Key)
	meta, values := metadata{}, map[string][]byte{ref.Property: value}
	if len(ref.Metadata) > 0 {
		decoder := json.NewDecoder(bytes.NewReader(ref.Metadata))
		decoder.DisallowUnknownFields()
		if decoder.Decode(&meta) != nil {
			return fmt.Errorf("%s: its metadata is not a PushSecretMetadata whose spec has labels and annotations alone", of)
		}
	}
	switch {
	case ref.Property == "" && !ref.Whole:
		return fmt.Errorf("%s: a single value needs a property, the key of the Secret", of)
	case ref.Property == "":
		var err error
		if values, err = store.Fields(of, value); err != nil {
			return err
		}
	}
	secret, err := c.secret(ctx, ref.Key)
	missing := errors.Is(err, store.ErrNotFound)
	if err != nil && !missing {
		return err
	}
	if missing {
		secret = &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: ref.Key, Namespace: c.namespace}, Type: corev1.SecretTypeOpaque}
	}
	changed := merge(&secret.Data, values, func(a, b []byte) bool { return bytes.Equal(a, b) })
	same := func(a, b string) bool { return a == b }
	changed = merge(&secret.Labels, meta.Spec.Labels, same) || changed
	changed = merge(&secret.Annotations, meta.Spec.Annotations, same) || changed
	if !missing && !changed {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	if missing {
		return failure(of, c.request(http.MethodPost).Body(secret).Do(ctx).Error())
	}
	return failure(of, c.request(http.MethodPut).Name(ref.Key).Body(secret).Do(ctx).Error())
}

// merge sets entries of a map, and reports whether one was different.
func merge[V any](into *map[string]V, from map[string]V, same func(a, b V) bool) (changed bool) {
	for key, value := range from {
		if has, ok := (*into)[key]; ok && same(has, value) {
			continue
		}
		if *into == nil {
			*into = map[string]V{}
		}
		(*into)[key], changed = value, true
	}
	return changed
}

// Delete removes a key, and the Secret with its last one; without a property the whole Secret. Secrets in the cluster that
// change in the meantime are left alone.
func (c *Client) Delete(ctx context.Context, ref store.PushRef) error {
	of := fmt.Sprintf("deleting from the Secret %s/%s", c.namespace, ref.Key)
	secret, err := c.secret(ctx, ref.Key)
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	_, has := secret.Data[ref.Property]
	if ref.Property != "" && !has {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	if delete(secret.Data, ref.Property); ref.Property != "" && len(secret.Data) > 0 {
		return failure(of, c.request(http.MethodPut).Name(ref.Key).Body(secret).Do(ctx).Error())
	}
	uid, version := secret.UID, secret.ResourceVersion
	options := &metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &uid, ResourceVersion: &version}}
	err = failure(of, c.request(http.MethodDelete).Name(ref.Key).Body(options).Do(ctx).Error())
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	return err
}

// Exists reports whether there is a Secret, with the key when one is given.
func (c *Client) Exists(ctx context.Context, ref store.PushRef) (bool, error) {
	secret, err := c.secret(ctx, ref.Key)
	if errors.Is(err, store.ErrNotFound) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	_, has := secret.Data[ref.Property]
	return has || ref.Property == "", nil
}

// Check lists one Secret.
func (c *Client) Check(ctx context.Context) error {
	_, err := c.list(ctx, metav1.ListOptions{Limit: 1})
	return err
}

// Close does nothing; connections are shared with all clients of the configuration.
func (c *Client) Close() error { return nil }

// failure is that of the store which an error of the API server stands for, without what the server says of objects.
func failure(of string, err error) error {
	if err == nil {
		return nil
	}
	var status apierrors.APIStatus
	if !errors.As(err, &status) || status.Status().Code == 0 {
		return unanswered(of, err)
	}
	header := http.Header{}
	if details := status.Status().Details; details != nil && details.RetryAfterSeconds > 0 {
		header.Set("Retry-After", strconv.Itoa(int(details.RetryAfterSeconds)))
	}
	if apierrors.IsConflict(err) || apierrors.IsAlreadyExists(err) {
		return &store.TransientError{Err: fmt.Errorf("%s: another program has written it in the meantime", of)}
	}
	return store.StatusError(of, int(status.Status().Code), header)
}

// unanswered is the failure of a request without an answer of the API server, or with one that it would not give.
func unanswered(of string, err error) error {
	var sending *url.Error
	switch {
	case errors.Is(err, store.ErrTooLarge):
		return store.TooLarge(of, err)
	case errors.As(err, &sending), errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return store.Unreachable(of, err)
	default:
		// The error of the decoder may quote a value.
		return fmt.Errorf("%s: %w", of, store.ErrMalformed)
	}
}
