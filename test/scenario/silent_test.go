package scenario

import (
	"net"
	"sync"

	"github.com/rogpeppe/go-internal/testscript"
)

// silent starts a server at $SILENT that takes connections and sends one byte, or nothing: "silent".
func (w *world) silent(ts *testscript.TestScript, neg bool, args []string) {
	noNeg(ts, neg)
	usage(ts, len(args) == 0, "silent")
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		ts.Fatalf("listening: %v", err)
	}
	var mu sync.Mutex
	var open []net.Conn
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			mu.Lock()
			if open = append(open, conn); len(open)%2 == 0 {
				// The beginning of an answer.
				_, _ = conn.Write([]byte("H"))
			}
			mu.Unlock()
		}
	}()
	ts.Defer(func() {
		_ = l.Close()
		mu.Lock()
		defer mu.Unlock()
		for _, conn := range open {
			_ = conn.Close()
		}
	})
	ts.Setenv("SILENT", l.Addr().String())
}
