package kit

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"
)

// Buckets is a server of buckets that speaks S3, over plain http and for everybody.
type Buckets struct {
	// Host is its host and port.
	Host    string
	backend gofakes3.Backend
	http    *http.Server
}

// StartBuckets starts a server without buckets on a free port.
func StartBuckets() (*Buckets, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("starting a bucket server: %w", err)
	}
	backend := s3mem.New()
	b := &Buckets{Host: listener.Addr().String(), backend: backend, http: &http.Server{Handler: gofakes3.New(backend).Server()}}
	go func() { _ = b.http.Serve(listener) }()
	return b, nil
}

// Stop ends the server.
func (b *Buckets) Stop(ctx context.Context) error { return b.http.Shutdown(ctx) }

// Put stores files in a bucket, which is made when it is not there.
func (b *Buckets) Put(bucket string, files map[string][]byte) error {
	if exists, err := b.backend.BucketExists(bucket); err != nil || !exists {
		if err := b.backend.CreateBucket(bucket); err != nil {
			return fmt.Errorf("creating bucket %s: %w", bucket, err)
		}
	}
	stored := map[string]string{"Last-Modified": time.Now().UTC().Format(http.TimeFormat)}
	for name, data := range files {
		if _, err := b.backend.PutObject(bucket, name, stored, bytes.NewReader(data), int64(len(data)), nil); err != nil {
			return fmt.Errorf("storing %s in bucket %s: %w", name, bucket, err)
		}
	}
	return nil
}
