package controlplane

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
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

// Bounds of etcd: storeTimeout is how long it has to end, of which it gives 5 s to clients that stay, and servingTimeout how long it has to serve
// once it has opened its files, which takes a tenth of a second.
const (
	storeTimeout   = 15 * time.Second
	servingTimeout = 15 * time.Second
)

var (
	// errDamaged is said of files that etcd gives up on.
	errDamaged = errors.New(`its files cannot be read; if they are damaged, "headgate cluster delete" deletes them, and the next start restores the cluster from Git`)
	// errIdle is how the start of an etcd ends that neither serves nor fails. It was seen once in some ten thousand starts, on a machine under
	// load, and the cause is unknown; the same files served at the next start.
	errIdle = fmt.Errorf("it has opened its files, and did not serve within %s", servingTimeout)
	// errOpen is how a stop ends that etcd outlasts.
	errOpen = errors.New("etcd has not closed its files")
)

// store is the etcd of one control plane. It listens on one unix socket, for clients, in a directory that only its
// user can enter.
type store struct {
	// opened is closed when etcd has opened its files, or failed to; etcd and broken are set before.
	opened chan struct{}
	etcd   *embed.Etcd
	broken error
	// died brings what etcd would have ended the process for.
	died chan error
	// sockets is a directory outside the state directory, if one was needed.
	sockets  string
	endpoint string
	// lost is whether etcd gave up while it opened its files, or did not end in time. Whether it ever closes them is unknown then.
	lost bool
}

// startStore starts etcd. Where it would end the process, as on a full disk, died is called and only the goroutine ends. A store that
// comes with an error has to be stopped.
func startStore(ctx context.Context, dir string, ephemeral bool, died func(error)) (*store, error) {
	s := &store{opened: make(chan struct{}), died: make(chan error, 1)}
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
	config := etcdConfig(filepath.Join(dir, "etcd"), sockets, ephemeral, func(err error) {
		select {
		case s.died <- err:
		default:
		}
		died(err)
	})
	s.endpoint = config.ListenClientUrls[0].String()
	first := unserved(config.Dir)
	if err := first.begin(); err != nil {
		return nil, fmt.Errorf("starting etcd on %q: %w", config.Dir, err)
	}
	go s.open(config)
	err := s.ready(ctx)
	if err == nil {
		err = first.served()
	}
	if err != nil {
		return s, fmt.Errorf("starting etcd on %q: %w", config.Dir, err)
	}
	return s, nil
}

// unserved is a directory of etcd. A file beside it says that etcd has never served from there: one that ended before that has files without a
// member, from which it would wait for ever to be elected.
type unserved string

func (dir unserved) mark() string { return string(dir) + ".new" }

// begin marks a directory that does not exist yet, and deletes one that is marked.
func (dir unserved) begin() error {
	_, err := os.Stat(dir.mark())
	switch {
	case err == nil:
		return os.RemoveAll(string(dir))
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	if _, err := os.Stat(string(dir)); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return os.WriteFile(dir.mark(), nil, 0o600)
}

// served takes the mark away, for good: it must not come back with what a crash of the machine undoes.
func (dir unserved) served() error {
	if err := os.Remove(dir.mark()); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	}
	parent, err := os.Open(filepath.Dir(string(dir)))
	if err != nil {
		return err
	}
	return errors.Join(parent.Sync(), parent.Close())
}

// open has etcd open its files. Some that are damaged have it panic, or end a goroutine without which it never returns.
func (s *store) open(config *embed.Config) {
	defer close(s.opened)
	s.broken = errDamaged
	defer func() {
		if p := recover(); p != nil {
			s.broken = fmt.Errorf("%w: %v", errDamaged, p)
		}
	}()
	s.etcd, s.broken = embed.StartEtcd(config)
}

// ready waits until etcd serves.
func (s *store) ready(ctx context.Context) error {
	select {
	case <-s.opened:
	case err := <-s.died:
		s.lost = true
		return fmt.Errorf("%w: %w", errDamaged, err)
	case <-ctx.Done():
		return fmt.Errorf("opening its files: %w", context.Cause(ctx))
	}
	if s.broken != nil {
		s.lost = errors.Is(s.broken, errDamaged)
		return s.broken
	}
	select {
	case <-s.etcd.Server.ReadyNotify():
		return nil
	case err := <-s.etcd.Err():
		return err
	case err := <-s.died:
		return err
	case <-time.After(servingTimeout):
		return errIdle
	case <-ctx.Done():
		return fmt.Errorf("waiting until it serves: %w", context.Cause(ctx))
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
	// There is no listener for peers, who write to the log without a login. What is advertised to them is a name only: the single member dials none.
	// A unix URL would not hide one: etcd binds its Host, and where only Path is set, that is an abstract socket, which any process reaches.
	c.ListenClientUrls, c.ListenPeerUrls = []url.URL{client}, nil
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

// stop ends etcd and waits until it has closed its files. It fails with errOpen when that does not come.
func (s *store) stop() error {
	if s.lost {
		return errOpen
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		<-s.opened
		if s.etcd != nil {
			s.close()
		}
	}()
	select {
	case <-ended:
		s.clean()
		return nil
	case <-time.After(storeTimeout):
		s.lost = true
		return errOpen
	}
}

// close ends an etcd that was started.
func (s *store) close() {
	select {
	case <-s.etcd.Server.ReadyNotify():
	default:
		// Close waits for servers that only begin once etcd is ready, or stops.
		s.etcd.Server.HardStop()
	}
	s.etcd.Close()
}

func (s *store) clean() {
	if s.sockets != "" {
		_ = os.RemoveAll(s.sockets)
	}
}
