package sockets_test

import (
	"net"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/headgate-dev/headgate/internal/kit/sockets"
)

// TestOf opens a listener of each kind, and finds it by its name for as long as it is open.
func TestOf(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("there is no /proc")
	}
	path := filepath.Join(t.TempDir(), "a socket")
	var want []string
	var open []net.Listener
	for _, to := range [][2]string{{"tcp", "127.0.0.1:0"}, {"tcp", "[::1]:0"}, {"unix", path}, {"unix", "@headgate-" + filepath.Base(filepath.Dir(path))}} {
		l, err := net.Listen(to[0], to[1])
		if err != nil {
			t.Fatalf("listening on %s %s: %v", to[0], to[1], err)
		}
		open = append(open, l)
		want = append(want, to[0]+" "+l.Addr().String())
	}
	packets, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	want = append(want, "udp "+packets.LocalAddr().String())
	slices.Sort(want)
	got, err := sockets.Of(os.Getpid())
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v %s", err, diff)
	}
	for _, l := range open {
		_ = l.Close()
	}
	_ = packets.Close()
	if got, err := sockets.Of(os.Getpid()); err != nil || len(got) > 0 {
		t.Errorf("after all are closed: %q, %v", got, err)
	}
	if _, err := sockets.Of(-1); err == nil {
		t.Error("a process that does not exist has sockets")
	}
}
