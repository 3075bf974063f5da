package controlplane

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/apiserver/pkg/server/egressselector"
)

// kubelet answers what the API server asks of the machines of simulated nodes: that nothing runs there. It is reached in memory alone.
type kubelet struct {
	conns chan net.Conn
	ended chan struct{}
	tls   *tls.Config
}

func newKubelet(keys *pki) (*kubelet, error) {
	pair, err := tls.LoadX509KeyPair(keys.path("apiserver.crt"), keys.path("apiserver.key"))
	if err != nil {
		return nil, fmt.Errorf("reading the certificate of the simulated machines: %w", err)
	}
	return &kubelet{
		conns: make(chan net.Conn), ended: make(chan struct{}),
		tls: &tls.Config{MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{pair}, NextProtos: []string{"http/1.1"}},
	}, nil
}

// lookup is how the API server reaches machines. Everything else it dials itself.
func (k *kubelet) lookup(egressselector.NetworkContext) (utilnet.DialFunc, error) {
	return k.dial, nil
}

func (k *kubelet) dial(ctx context.Context, _, address string) (net.Conn, error) {
	near, far := net.Pipe()
	select {
	case k.conns <- far:
		return near, nil
	case <-k.ended:
		return nil, fmt.Errorf("dialing %s: the control plane stops", address)
	case <-ctx.Done():
		return nil, fmt.Errorf("dialing %s: %w", address, context.Cause(ctx))
	}
}

// Accept makes it a listener.
func (k *kubelet) Accept() (net.Conn, error) {
	select {
	case conn := <-k.conns:
		return conn, nil
	case <-k.ended:
		return nil, net.ErrClosed
	}
}

// Close ends Accept. The server calls it once.
func (k *kubelet) Close() error {
	close(k.ended)
	return nil
}

// Addr is that of no network.
func (*kubelet) Addr() net.Addr { return &net.UnixAddr{Name: "simulated", Net: "pipe"} }

// serve answers until ctx ends.
func (k *kubelet) serve(ctx context.Context) error {
	server := &http.Server{Handler: http.HandlerFunc(simulated), ReadHeaderTimeout: 10 * time.Second}
	stop := context.AfterFunc(ctx, func() { _ = server.Close() })
	defer stop()
	if err := server.Serve(tls.NewListener(k, k.tls)); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// absences are what there is not in a simulated pod, by what is requested of it.
var absences = map[string]string{
	"containerLogs": "there are no logs", "exec": "there is nothing to execute a command in",
	"attach": "there is nothing to attach to", "portForward": "nothing listens on its ports",
}

// simulated says what is so.
func simulated(w http.ResponseWriter, r *http.Request) {
	verb, rest, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	parts := strings.Split(rest, "/")
	absence, is := absences[verb]
	if !is || len(parts) < 2 {
		answer(w, verb, "the nodes of this control plane are simulated: there is no kubelet")
		return
	}
	answer(w, verb, fmt.Sprintf("pod %s/%s is simulated: its containers do not run, so %s", parts[0], parts[1], absence))
}

// answer says why a request cannot be served, in the form that its client reads: that of forwarded ports takes text for an object of the API,
// and shows nothing of it.
func answer(w http.ResponseWriter, verb, text string) {
	if verb != "portForward" {
		http.Error(w, text, http.StatusBadRequest)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusBadRequest)
	// A client that has gone hears nothing either way.
	_ = json.NewEncoder(w).Encode(metav1.Status{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}, Status: metav1.StatusFailure, Code: http.StatusBadRequest,
		Reason: metav1.StatusReasonBadRequest, Message: text,
	})
}
