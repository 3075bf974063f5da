package controlplane

import (
	"net"
	"sync"
)

// connections is a listener that knows what it has accepted. The API server ends a watch when its
// client goes, and waits for that; drop ends those whose clients stay, for good: a client that comes back at once would otherwise be served by a
// server that ends.
type connections struct {
	net.Listener

	mu      sync.Mutex
	open    map[net.Conn]bool
	dropped bool
}

// Accept accepts a connection.
func (c *connections) Accept() (net.Conn, error) {
	for {
		conn, err := c.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if held := c.hold(conn); held != nil {
			return held, nil
		}
		_ = conn.Close()
	}
}

// hold remembers a connection, unless they were dropped.
func (c *connections) hold(conn net.Conn) net.Conn {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.dropped {
		return nil
	}
	if c.open == nil {
		c.open = map[net.Conn]bool{}
	}
	held := &connection{Conn: conn, of: c}
	c.open[held] = true
	return held
}

// drop closes every connection, and takes no more.
func (c *connections) drop() {
	c.mu.Lock()
	open := c.open
	c.open, c.dropped = nil, true
	c.mu.Unlock()
	for conn := range open {
		_ = conn.Close()
	}
}

type connection struct {
	net.Conn
	of *connections
}

// Close closes the connection.
func (c *connection) Close() error {
	c.of.mu.Lock()
	delete(c.of.open, c)
	c.of.mu.Unlock()
	return c.Conn.Close()
}
