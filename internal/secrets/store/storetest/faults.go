package storetest

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/headgate-dev/headgate/internal/secrets/store"
)

// Server is any server of this package.
type Server interface {
	Fail(*Fault)
	Stop()
	Requests() int
}

// Faults tests what every store does when its server fails: requests are sent once, errors say whether it is worthwhile to try
// again, and when, and never show an answer. It ends with a server that is gone.
func Faults(t *testing.T, server Server, client store.Client, ref store.Ref) {
	t.Helper()
	read := func() error {
		before := server.Requests()
		_, err := client.Get(t.Context(), ref)
		if sent := server.Requests() - before; sent > 1 {
			t.Errorf("%d requests were sent to a server that fails, want one", sent)
		}
		if err == nil || strings.Contains(err.Error(), "s3cret") {
			t.Fatalf("a server that fails: %v", err)
		}
		return err
	}
	server.Fail(&Fault{Status: 429, RetryAfter: "17"})
	if after, transient := store.RetryAfter(read()); !transient || after != 17*time.Second {
		t.Errorf("429: transient %v after %s, want 17s", transient, after)
	}
	server.Fail(&Fault{Status: 503})
	if _, transient := store.RetryAfter(read()); !transient {
		t.Error("503 is not transient")
	}
	server.Fail(&Fault{Status: 403})
	if err := read(); !errors.Is(err, store.ErrDenied) || errors.Is(err, store.ErrNotFound) {
		t.Errorf("403: %v, want access to be denied", err)
	}
	server.Fail(&Fault{Status: 200})
	if err := read(); !errors.Is(err, store.ErrMalformed) {
		t.Errorf("an answer that means nothing: %v", err)
	}
	server.Stop()
	if err := read(); errors.Is(err, store.ErrNotFound) {
		t.Errorf("a server that is gone: %v", err)
	} else if _, transient := store.RetryAfter(err); !transient {
		t.Errorf("a server that is gone is not transient: %v", err)
	}
}
