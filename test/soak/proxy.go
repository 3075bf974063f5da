package main

import (
	"context"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"sync/atomic"
	"time"
)

// mood is how a server answers.
type mood int32

const (
	well mood = iota
	// away closes every connection, failing answers with 500, hanging accepts and says nothing.
	away
	failing
	hanging
)

var moods = map[mood]string{away: "the Git server closes connections", failing: "the Git server answers 500", hanging: "the Git server hangs"}

// unreliable forwards requests to a Git server, in some mood.
type unreliable struct {
	mood atomic.Int32
	base string
	http *http.Server
}

func serveUnreliably(target string) (*unreliable, error) {
	to, err := url.Parse(target)
	if err != nil {
		return nil, err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	u := &unreliable{base: "http://" + listener.Addr().String()}
	forward := httputil.NewSingleHostReverseProxy(to)
	u.http = &http.Server{ReadHeaderTimeout: time.Minute, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch mood(u.mood.Load()) {
		case away:
			panic(http.ErrAbortHandler)
		case failing:
			http.Error(w, "out of order", http.StatusInternalServerError)
		case hanging:
			<-r.Context().Done()
		default:
			forward.ServeHTTP(w, r)
		}
	})}
	go func() { _ = u.http.Serve(listener) }()
	return u, nil
}

func (u *unreliable) set(m mood) { u.mood.Store(int32(m)) }

func (u *unreliable) url(repo string) string { return u.base + "/git/" + repo + ".git" }

func (u *unreliable) stop(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	if u.http.Shutdown(ctx) != nil {
		return u.http.Close()
	}
	return nil
}
