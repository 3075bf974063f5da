package controlplane

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"go.etcd.io/etcd/server/v3/embed"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	_ "github.com/headgate-dev/headgate/internal/controlplane/quiet" // before the packages of the API server
)

// longestSocket is what a path of a unix socket may measure.
const longestSocket = 100

// store is the etcd of one control plane. It listens on unix sockets in a directory that only its
// user can enter.
type store struct {
	etcd *embed.Etcd
	// sockets is a directory outside the state directory, if one was needed.
	sockets  string
	endpoint string
}

// startStore starts etcd. Where it would end the process, as on a full disk, died is called and only the goroutine ends.
func startStore(ctx context.Context, dir string, ephemeral bool, died func(error)) (*store, error) {
	s := &store{}
	sockets := filepath.Join(dir, "sockets")
	if len(sockets)+len("/client.sock") > longestSocket {
		short, err := os.MkdirTemp("", "headgate-")
		if err != nil {
			return nil, fmt.Errorf("creating a directory for sockets: %w", err)
		}
		sockets, s.sockets = short, short
	}
	if err := os.MkdirAll(sockets, 0o700); err != nil {
		return nil, fmt.Errorf("creating a directory for sockets: %w", err)
	}
	config := etcdConfig(filepath.Join(dir, "etcd"), sockets, ephemeral, died)
	s.endpoint = config.ListenClientUrls[0].String()
	var err error
	if s.etcd, err = embed.StartEtcd(config); err != nil {
		s.clean()
		return nil, fmt.Errorf("starting etcd: %w", err)
	}
	select {
	case <-s.etcd.Server.ReadyNotify():
		return s, nil
	case err := <-s.etcd.Err():
		s.stop()
		return nil, fmt.Errorf("starting etcd: %w", err)
	case <-ctx.Done():
		s.stop()
		return nil, fmt.Errorf("starting etcd: %w", context.Cause(ctx))
	}
}

// fatal is what etcd's logger does where it would end the process.
type fatal struct{ died func(error) }

// OnWrite reports what would have been logged.
func (f fatal) OnWrite(entry *zapcore.CheckedEntry, fields []zapcore.Field) {
	cause := errors.New(entry.Message)
	for _, field := range fields {
		if err, is := field.Interface.(error); is {
			cause = fmt.Errorf("%s: %w", entry.Message, err)
		}
	}
	f.died(cause)
	runtime.Goexit()
}

func etcdConfig(data, sockets string, ephemeral bool, died func(error)) *embed.Config {
	c := embed.NewConfig()
	c.Dir = data
	client := url.URL{Scheme: "unix", Path: filepath.Join(sockets, "client.sock")}
	peer := url.URL{Scheme: "unix", Path: filepath.Join(sockets, "peer.sock")}
	// What is advertised is a name only: the single member dials no peer.
	c.ListenClientUrls, c.ListenPeerUrls = []url.URL{client}, []url.URL{peer}
	c.InitialCluster = c.InitialClusterFromName(c.Name)
	last := fatal{died}
	c.ZapLoggerBuilder = embed.NewZapLoggerBuilder(zap.NewNop().WithOptions(zap.WithFatalHook(last), zap.WithPanicHook(last)))
	c.UnsafeNoFsync = ephemeral
	// One member elects itself: it need not wait long for others.
	c.TickMs, c.ElectionMs = 10, 100
	c.AutoCompactionMode, c.AutoCompactionRetention = embed.CompactorModePeriodic, "5m"
	c.SnapshotCount = 20_000
	c.QuotaBackendBytes = 4 << 30
	c.StrictReconfigCheck = false
	return c
}

// run waits for the end of etcd, or of ctx.
func (s *store) run(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return nil
	case err := <-s.etcd.Err():
		return err
	case <-s.etcd.Server.StopNotify():
		return nil
	}
}

// stop ends etcd and waits until it has closed its files.
func (s *store) stop() {
	if s.etcd != nil {
		s.etcd.Close()
		select {
		case <-s.etcd.Server.StopNotify():
		case <-time.After(2 * time.Second):
		}
	}
	s.clean()
}

func (s *store) clean() {
	if s.sockets != "" {
		_ = os.RemoveAll(s.sockets)
	}
}
