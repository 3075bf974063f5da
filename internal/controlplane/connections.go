package controlplane

import (
	"net"
	"sync"
)

// connections is a listener that knows what it has accepted. The API server ends a watch when its
// client goes, and waits for that; drop ends those whose clients stay.
type connections struct {
	net.Listener

	mu   sync.Mutex
	open map[net.Conn]bool
}

// Accept accepts a connection.
func (c *connections) Accept() (net.Conn, error) {
	conn, err := c.Listener.Accept()
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.open == nil {
		c.open = map[net.Conn]bool{}
	}
	held := &connection{Conn: conn, of: c}
	c.open[held] = true
	return held, nil
}

// drop closes every connection.
func (c *connections) drop() {
	c.mu.Lock()
	open := c.open
	c.open = nil
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
