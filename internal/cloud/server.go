package cloud

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/headgate-dev/headgate/internal/loopback"
)

// Server is a cloud that is reached over HTTP, on the loopback interface.
type Server struct {
	*Cloud
	// URL is its address, without a slash at the end.
	URL  string
	http *http.Server
}

// endpointFile says how a cloud is reached. It has the token, and is left behind: the next process takes the same address
// and token, so that what was configured with them still works.
const endpointFile = "endpoint.json"

// Endpoint is how a cloud is reached.
type Endpoint struct {
	URL   string `json:"url"`
	Token string `json:"token"`
}

// Locate reads how the cloud is reached that is kept in a directory.
func Locate(dir string) (Endpoint, error) {
	var e Endpoint
	data, err := os.ReadFile(filepath.Join(dir, endpointFile))
	if err == nil {
		err = json.Unmarshal(data, &e)
	}
	if err != nil {
		return e, fmt.Errorf("reading how the simulated cloud is reached: %w", err)
	}
	return e, nil
}

// Start serves a cloud until Stop or the end of ctx, whichever is first. A cloud that is kept in a directory keeps its
// address, if that is free.
func Start(ctx context.Context, o Options) (*Server, error) {
	earlier, err := Endpoint{}, error(nil)
	if o.Dir != "" {
		if earlier, err = Locate(o.Dir); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
	if o.Token == "" {
		o.Token = earlier.Token
	}
	c, err := New(ctx, o)
	if err != nil {
		return nil, err
	}
	listener, err := listen(ctx, earlier.URL)
	if err != nil {
		return nil, fmt.Errorf("serving the simulated cloud: %w", err)
	}
	s := &Server{Cloud: c, URL: "http://" + listener.Addr().String()}
	s.http = &http.Server{Handler: loopback.Only(listener, c), ReadHeaderTimeout: 10 * time.Second}
	go func() { _ = s.http.Serve(listener) }()
	if err := s.publish(o.Dir); err != nil {
		return nil, errors.Join(err, s.http.Close())
	}
	context.AfterFunc(ctx, func() { _ = s.http.Close() })
	return s, nil
}

// listen takes an earlier address if it is free, and any other if it is not.
func listen(ctx context.Context, earlier string) (net.Listener, error) {
	var config net.ListenConfig
	if len(earlier) > len("http://") {
		if listener, err := config.Listen(ctx, "tcp", earlier[len("http://"):]); err == nil {
			return listener, nil
		}
	}
	return config.Listen(ctx, "tcp", "127.0.0.1:0")
}

// publish writes down how the cloud is reached.
func (s *Server) publish(dir string) error {
	if dir == "" {
		return nil
	}
	data, err := json.Marshal(Endpoint{URL: s.URL, Token: s.token})
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, endpointFile), data, 0o600)
	}
	if err != nil {
		return fmt.Errorf("recording how the simulated cloud is reached: %w", err)
	}
	return nil
}

// Stop ends the server once the requests in progress are answered.
func (s *Server) Stop(ctx context.Context) error { return s.http.Shutdown(ctx) }
