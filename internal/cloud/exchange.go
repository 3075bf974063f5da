package cloud

import (
	"bytes"
	"crypto/rand"
	"crypto/subtle"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// exchange is one request and the answer to it. It is the writer that the routes are served with; they only see it while
// the cloud is locked.
type exchange struct {
	*Cloud
	r    *http.Request
	now  time.Time
	id   string
	body []byte
	// faults apply to it; done is set by what changes something, and made names what that created.
	faults hit
	done   bool
	made   []string

	header  http.Header
	status  int
	payload []byte
	dropped bool
}

// endpoint answers requests of a route with a status and a body, or refuses them.
type endpoint func(*exchange) (status int, body any, err error)

// maxRequest is the largest body of a request; user data of 64 KiB fit.
const maxRequest = 1 << 20

// ServeHTTP answers a request of the API, of the administrative interface below Prefix, or for a file below Spaces.
func (c *Cloud) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if strings.HasPrefix(r.URL.Path, Spaces) {
		c.space(w, r)
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxRequest))
	if err != nil {
		http.Error(w, "reading the request: "+err.Error(), http.StatusBadRequest)
		return
	}
	c.exchange(r, body).send(w)
}

// exchange answers a request. What it changed is stored before it returns: a client never knows of an object that a
// killed process forgets.
func (c *Cloud) exchange(r *http.Request, body []byte) *exchange {
	c.mu.Lock()
	defer c.mu.Unlock()
	x := &exchange{Cloud: c, r: r, now: c.clock.Now(), id: requestID(), body: body, header: http.Header{}}
	c.state.proceed(x.now)
	if strings.HasPrefix(r.URL.Path, Prefix) {
		x.administer()
		return x
	}
	x.answer()
	entry := Entry{
		Time: x.now, ID: x.id, Method: r.Method, Path: r.URL.Path, Query: r.URL.RawQuery, Status: x.status,
		Done: x.done, Made: x.made, Body: shown(body), Faults: x.faults.names(),
	}
	c.audit = append(c.audit, entry).trim()
	if r.Method == http.MethodGet && len(x.faults) == 0 {
		return x
	}
	if err := c.store.append(entry, &c.state); err != nil {
		c.log.Error(err, "the state was not stored")
		x.write(0, nil, problem(http.StatusInternalServerError, "%v", err))
	}
	return x
}

// answer serves a request of the API and applies the faults that it hits.
func (x *exchange) answer() {
	m, err := x.admit()
	if err == nil {
		x.api.ServeHTTP(x, x.r)
	} else {
		x.write(0, nil, err)
	}
	if m != nil {
		m.show(x.header, x.now)
	}
	if lost, is := x.faults.of(LoseAnswer); is {
		x.write(0, nil, problem(lost.status(), "Server Error"))
	}
	if _, is := x.faults.of(Drop); is {
		x.dropped, x.status = true, 0
	}
}

// admit lets a request pass that has a token, is within the limits and hits no fault that refuses it.
func (x *exchange) admit() (*meter, error) {
	token, err := x.authorize()
	if err != nil {
		return nil, err
	}
	m := x.meters[token]
	if m == nil {
		m = newMeter(x.limits)
		x.meters[token] = m
	}
	if err := m.admit(x.now, x.r.Method == http.MethodGet && x.r.URL.Path == "/v2/account/keys"); err != nil {
		return m, err
	}
	x.faults = x.state.hits(x.r.Method, x.r.URL.Path)
	if f, is := x.faults.of(Throttle); is {
		return m, tooMany(f.For)
	}
	if f, is := x.faults.of(Refuse); is {
		return m, problem(f.status(), "Server Error")
	}
	return m, nil
}

// authorize returns the token of a request that may do what it asks for.
func (x *exchange) authorize() (string, error) {
	token, _ := strings.CutPrefix(x.r.Header.Get("Authorization"), "Bearer ")
	switch {
	case same(token, x.token):
		return token, nil
	case x.readToken == "" || !same(token, x.readToken):
		return "", problem(http.StatusUnauthorized, "Unable to authenticate you")
	case x.r.Method != http.MethodGet:
		return "", problem(http.StatusForbidden, "You do not have access for the attempted action.")
	}
	return token, nil
}

func same(a, b string) bool { return subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1 }

// ServeHTTP serves a route. The writer is the exchange.
func (e endpoint) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	x, is := w.(*exchange)
	if !is {
		http.Error(w, "not a request of the cloud", http.StatusInternalServerError)
		return
	}
	x.r = r
	status, body, err := e(x)
	x.write(status, body, err)
}

// write sets the answer.
func (x *exchange) write(status int, body any, err error) {
	x.header.Set("Content-Type", "application/json; charset=utf-8")
	if err != nil {
		refused := asRefusal(err)
		status, body = refused.status, object{"id": refused.id(), "message": refused.message, "request_id": x.id}
		if refused.retryAfter > 0 {
			x.header.Set("Retry-After", strconv.Itoa(refused.retryAfter))
		}
	}
	x.status, x.payload = status, nil
	if body == nil {
		return
	}
	payload, err := json.Marshal(body)
	if err != nil {
		x.status, payload = http.StatusInternalServerError, []byte(`{"id":"server_error"}`)
	}
	x.payload = payload
}

// send sends the answer, or closes the connection without one.
func (x *exchange) send(w http.ResponseWriter) {
	if x.dropped {
		connection, _, err := http.NewResponseController(w).Hijack()
		if err == nil {
			err = connection.Close()
		}
		if err != nil {
			x.log.Error(err, "the connection was not dropped")
		}
		return
	}
	for name, values := range x.header {
		w.Header()[name] = values
	}
	w.Header().Set("X-Request-Id", x.id)
	w.WriteHeader(x.status)
	_, _ = io.Copy(w, bytes.NewReader(x.payload))
}

// Header, WriteHeader and Write take what a ServeMux answers itself: there is no such route.
func (x *exchange) Header() http.Header { return http.Header{} }

// WriteHeader takes the status of a ServeMux.
func (x *exchange) WriteHeader(status int) {
	if status == http.StatusMethodNotAllowed {
		x.write(0, nil, problem(status, "The method is not allowed for the resource."))
		return
	}
	x.write(0, nil, notFound())
}

// Write drops the text of a ServeMux.
func (x *exchange) Write(p []byte) (int, error) { return len(p), nil }

// read reads the body of a request.
func (x *exchange) read(into any) error {
	if len(x.body) == 0 {
		return nil
	}
	if err := json.Unmarshal(x.body, into); err != nil {
		return problem(http.StatusBadRequest, "The request is not valid JSON of the expected form: %v", err)
	}
	return nil
}

// requestID is a random UUID.
func requestID() string {
	var b [16]byte
	_, _ = rand.Read(b[:])
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}
