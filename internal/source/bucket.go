package source

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"net/http"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"
	"github.com/minio/minio-go/v7/pkg/s3utils"
	"golang.org/x/sync/errgroup"

	"github.com/headgate-dev/headgate/internal/guard"
)

// bucketFetches bounds the objects of a bucket that are downloaded at a time.
const bucketFetches = 16

// BucketOptions say which bucket is fetched, and how.
type BucketOptions struct {
	// Access has the access key as Username and the secret key as Password. Without them
	// requests are anonymous.
	Access
	// Endpoint is HOST or HOST:PORT of a server that speaks S3.
	Endpoint string
	Bucket   string
	// Region is requested when it is empty.
	Region string
	// Prefix begins the keys of the objects that are wanted. They keep it in the tree.
	Prefix string
	// Insecure uses http in place of https.
	Insecure bool
	// Ignore is spec.ignore of Flux. A bucket has no other rules beside it than those of the object
	// ".sourceignore", in particular no defaults.
	Ignore *string
	// SpillDir keeps files that are too large for memory; when it is empty nothing is.
	SpillDir string
}

// BucketResult is what a fetch found.
type BucketResult struct {
	// Revision is "sha256:" and the digest of the lines "KEY ETAG", sorted by key.
	Revision string
	Tree     *Tree
	// Objects are the ETags of the objects by their keys. With them the next fetch downloads only what is
	// new.
	Objects map[string]string
	// Unchanged is set when the revision is the previous one; nothing was downloaded then.
	Unchanged bool
}

// FetchBucket fetches the objects of a bucket, unless their revision is that of the previous result: a
// caller gives one only when the options are those of then. Objects that have the ETag that they had are
// not downloaded. A key that is no path within a tree is an error. No error holds a credential.
func FetchBucket(ctx context.Context, o BucketOptions, previous *BucketResult) (*BucketResult, error) {
	ctx, cancel := o.bound(ctx)
	defer cancel()
	b, err := newBucket(o)
	if err != nil {
		return nil, err
	}
	defer b.close()
	listed, err := b.list(ctx)
	if err != nil {
		return nil, err
	}
	objects, err := b.filter(ctx, listed)
	if err != nil {
		return nil, err
	}
	if previous == nil {
		previous = &BucketResult{}
	}
	if revision := revisionOf(objects); revision == previous.Revision && previous.Tree != nil {
		return &BucketResult{Revision: revision, Tree: previous.Tree, Objects: objects, Unchanged: true}, nil
	}
	tree, err := b.download(ctx, objects, previous)
	if err != nil {
		return nil, err
	}
	return &BucketResult{Revision: revisionOf(objects), Tree: tree, Objects: objects}, nil
}

// revisionOf is computed as Flux does it.
func revisionOf(objects map[string]string) string {
	sum := sha256.New()
	for _, key := range slices.Sorted(maps.Keys(objects)) {
		fmt.Fprintf(sum, "%s %s\n", key, objects[key])
	}
	return "sha256:" + hex.EncodeToString(sum.Sum(nil))
}

// bucket is one on a server.
type bucket struct {
	options BucketOptions
	client  minio.Core
	secrets redactor
	close   func()
}

func newBucket(o BucketOptions) (*bucket, error) {
	if strings.Contains(o.Endpoint, "@") || strings.Contains(o.Endpoint, "://") {
		return nil, fmt.Errorf("%w: the endpoint must be HOST or HOST:PORT", ErrURL)
	}
	if err := s3utils.CheckValidBucketName(o.Bucket); err != nil {
		return nil, fmt.Errorf("%w: bucket %q: %w", ErrURL, o.Bucket, err)
	}
	t, err := o.transport()
	if err != nil {
		return nil, err
	}
	client, err := minio.New(o.Endpoint, &minio.Options{
		Creds: credentials.NewStaticV4(o.Username, o.Password, ""), Secure: !o.Insecure, Transport: t, Region: o.Region,
		// The caller retries, with a backoff.
		MaxRetries: 1,
	})
	if err != nil {
		return nil, fmt.Errorf("%w: the endpoint must be HOST or HOST:PORT: %w", ErrURL, err)
	}
	client.SetAppInfo(userAgent, "")
	return &bucket{options: o, client: minio.Core{Client: client}, secrets: o.secrets(), close: t.CloseIdleConnections}, nil
}

// explain words an error of the library, without any credential.
func (b *bucket) explain(ctx context.Context, what string, err error) error {
	answer := minio.ToErrorResponse(err)
	switch {
	case ctx.Err() != nil:
	case answer.Code == "NoSuchBucket":
		return fmt.Errorf("%w: bucket %q: %w", ErrPull, b.options.Bucket, ErrReference)
	case answer.StatusCode == http.StatusUnauthorized, answer.StatusCode == http.StatusForbidden, answer.Code == "AccessDenied":
		return fmt.Errorf("%w: bucket %q: %s: %w", ErrPull, b.options.Bucket, what, ErrAuth)
	}
	return fmt.Errorf("%w: bucket %q: %s: %s", ErrPull, b.options.Bucket, what, b.secrets.text(ctx, err))
}

// list returns the objects below the prefix.
func (b *bucket) list(ctx context.Context) (map[string]string, error) {
	// The listing ends with its context also when we stop to read it.
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	objects := map[string]string{}
	taken := budget{limits: DefaultLimits()}
	for object := range b.client.Client.ListObjects(ctx, b.options.Bucket, minio.ListObjectsOptions{
		Recursive: true, Prefix: b.options.Prefix, UseV1: s3utils.IsGoogleEndpoint(*b.client.EndpointURL()),
	}) {
		if object.Err != nil {
			return nil, b.explain(ctx, "listing objects", object.Err)
		}
		if taken.files++; taken.files > taken.limits.Files {
			return nil, fmt.Errorf("%w: bucket %q has more than %d objects; narrow it by spec.prefix", ErrPull, b.options.Bucket, taken.limits.Files)
		}
		// The key of what stands for a directory ends in a slash.
		if !strings.HasSuffix(object.Key, "/") {
			objects[object.Key] = object.ETag
		}
	}
	return objects, nil
}

// filter leaves out what the rules name, and the rules.
func (b *bucket) filter(ctx context.Context, objects map[string]string) (map[string]string, error) {
	var rules string
	_, listed := objects[ignoreFile]
	delete(objects, ignoreFile)
	if listed || !strings.HasPrefix(ignoreFile, b.options.Prefix) {
		f, _, err := b.get(ctx, ignoreFile)
		if err != nil {
			return nil, err
		}
		if f != nil {
			data, err := f.Read()
			if err != nil {
				return nil, err
			}
			rules = string(data)
		}
	}
	list := ignorePatterns(rules, nil)
	if b.options.Ignore != nil {
		list = append(list, ignorePatterns(*b.options.Ignore, nil)...)
	}
	left := matching(list)
	maps.DeleteFunc(objects, func(key, _ string) bool { return left.leaveOut(key) })
	return objects, nil
}

// get downloads an object, and returns its ETag; an object that does not exist is nil.
func (b *bucket) get(ctx context.Context, key string) (*File, string, error) {
	body, info, _, err := b.client.GetObject(ctx, b.options.Bucket, key, minio.GetObjectOptions{})
	if err != nil {
		if answer := minio.ToErrorResponse(err); answer.Code == "NoSuchKey" {
			return nil, "", nil
		}
		return nil, "", b.explain(ctx, fmt.Sprintf("downloading %q", key), err)
	}
	defer body.Close()
	if info.Size < 0 {
		return nil, "", fmt.Errorf("%w: bucket %q: the server does not report the size of %q", ErrPull, b.options.Bucket, key)
	}
	alone := budget{limits: DefaultLimits()}
	if err := alone.take(key, info.Size); err != nil {
		return nil, "", err
	}
	f, err := keeper{dir: b.options.SpillDir}.file(path.Clean(strings.TrimLeft(key, "/")), 0o644, info.Size, body)
	if err != nil {
		return nil, "", b.explain(ctx, fmt.Sprintf("downloading %q", key), err)
	}
	return f, info.ETag, nil
}

// download returns the tree of the objects, and corrects the ETags of those that changed meanwhile.
func (b *bucket) download(ctx context.Context, objects map[string]string, previous *BucketResult) (*Tree, error) {
	group, inner := errgroup.WithContext(ctx)
	group.SetLimit(bucketFetches)
	var mu sync.Mutex
	var files []*File
	taken := budget{limits: DefaultLimits()}
	add := func(key, etag string, f *File) error {
		mu.Lock()
		defer mu.Unlock()
		if f == nil {
			delete(objects, key)
			return nil
		}
		files = append(files, f.shared(previous.Tree))
		objects[key] = etag
		return taken.take(f.Path, f.Size)
	}
	for key, etag := range maps.Clone(objects) {
		one := func() error {
			if f := previous.file(key, etag); f != nil {
				return add(key, etag, f)
			}
			f, etag, err := b.get(inner, key)
			if err != nil {
				return err
			}
			return add(key, etag, f)
		}
		group.Go(func() error { return guard.Catch(one) })
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	tree, err := NewTree(files)
	if err != nil {
		return nil, fmt.Errorf("%w: bucket %q: %w", ErrPull, b.options.Bucket, err)
	}
	return tree, nil
}

// file returns the file of an object when it has the ETag that it had.
func (r *BucketResult) file(key, etag string) *File {
	if r.Tree == nil || etag == "" || r.Objects[key] != etag {
		return nil
	}
	f, _ := r.Tree.File(path.Clean(strings.TrimLeft(key, "/")))
	return f
}
