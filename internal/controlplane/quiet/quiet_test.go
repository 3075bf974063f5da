package quiet_test

import (
	"io"
	"os"
	"testing"

	"go.etcd.io/etcd/client/pkg/v3/logutil"
	"go.uber.org/zap/zapcore"

	_ "github.com/headgate-dev/headgate/internal/controlplane/quiet"
)

func TestQuiet(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	before := os.Stderr
	os.Stderr = w
	l, err := logutil.CreateDefaultZapLogger(zapcore.InfoLevel)
	os.Stderr = before
	if err != nil {
		t.Fatal(err)
	}
	l.Warn("retrying")
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if said, err := io.ReadAll(r); err != nil || len(said) > 0 {
		t.Errorf("the client of etcd said %q, %v", said, err)
	}
}
