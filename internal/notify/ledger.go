package notify

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"time"
)

const (
	// sameEvent is for how long an event that is the same again is not taken, as Flux has it.
	sameEvent = 5 * time.Minute
	// sameError is for how long an error that an object still has is not told again.
	sameError = time.Hour
	// maxSeen and maxTold bound what is remembered; the oldest is forgotten first.
	maxSeen, maxTold = 5000, 5000
)

// ledger records what was sent. It is safe for concurrent use.
type ledger struct {
	mu   sync.Mutex
	seen map[string]time.Time
	told map[string]word
	// changed signals that the ledger differs from its file.
	changed chan struct{}
}

// word is what an Alert last sent about an object.
type word struct {
	Said string    `json:"said"`
	At   time.Time `json:"at"`
	// Failing is set while the object has an error that was sent.
	Failing bool `json:"failing,omitempty"`
}

// ledgerFile is the stored form of a ledger. Events are stored as digests only.
type ledgerFile struct {
	Seen map[string]time.Time `json:"seen"`
	Told map[string]word      `json:"told"`
}

func newLedger() *ledger {
	return &ledger{seen: map[string]time.Time{}, told: map[string]word{}, changed: make(chan struct{}, 1)}
}

func (l *ledger) touched() {
	select {
	case l.changed <- struct{}{}:
	default:
	}
}

func (l *ledger) load(data []byte) error {
	var f ledgerFile
	if err := json.Unmarshal(data, &f); err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for k, at := range f.Seen {
		l.seen[k] = at
	}
	for k, w := range f.Told {
		l.told[k] = w
	}
	return nil
}

// encode returns what to write down.
func (l *ledger) encode() ([]byte, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return json.Marshal(ledgerFile{l.seen, l.told})
}

func digest(parts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	return hex.EncodeToString(sum[:16])
}

// first reports whether an event was not seen a moment ago.
func (l *ledger) first(e *Event, now time.Time) bool {
	key := digest(e.InvolvedObject.String(), e.Reason, e.Message, e.own(metaRevision), e.own(metaToken))
	l.mu.Lock()
	defer l.mu.Unlock()
	if at, known := l.seen[key]; known && now.Sub(at) < sameEvent {
		return false
	}
	l.seen[key] = now
	l.touched()
	forgetOldest(l.seen, maxSeen, func(at time.Time) time.Time { return at })
	return true
}

func forgetOldest[V any](m map[string]V, most int, at func(V) time.Time) {
	if len(m) <= most {
		return
	}
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, func(a, b string) int { return cmp.Compare(at(m[a]).UnixNano(), at(m[b]).UnixNano()) })
	// A tenth at once, so that the next ones cost nothing.
	for _, k := range keys[:len(keys)-most*9/10] {
		delete(m, k)
	}
}

func toldKey(alert Ref, o Object) string { return alert.String() + " " + o.String() }

// said records what an Alert sends, and reports whether it is news.
func (l *ledger) said(alert Ref, o Object, next word, lasts time.Duration) bool {
	key := toldKey(alert, o)
	l.mu.Lock()
	defer l.mu.Unlock()
	last, known := l.told[key]
	if known && last.Said == next.Said && (lasts == 0 || next.At.Sub(last.At) < lasts) {
		return false
	}
	l.told[key] = next
	l.touched()
	forgetOldest(l.told, maxTold, func(w word) time.Time { return w.At })
	return true
}

// recovered reports whether an object had an error that was sent, once.
func (l *ledger) recovered(alert Ref, o Object) bool {
	key := toldKey(alert, o)
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.told[key].Failing {
		return false
	}
	delete(l.told, key)
	l.touched()
	return true
}

// retract forgets what was not told after all.
func (l *ledger) retract(alert Ref, o Object) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.told, toldKey(alert, o))
	l.touched()
}

// word decides what an Alert sends for an event, if anything. fresh is false for an event that was seen a
// moment ago.
func (l *ledger) word(a *Alert, f *Fact, now time.Time, fresh bool) (Event, bool) {
	e := a.prepared(f.Event)
	said := digest(e.Reason, e.Message, e.Revision())
	if a.Forge {
		return e, forForge(f) && l.said(a.Ref, e.InvolvedObject, word{Said: digest(e.Severity, e.Reason, e.Revision()), At: now}, 0)
	}
	if f.Ready && l.recovered(a.Ref, e.InvolvedObject) {
		e.Severity, e.Message = SeverityInfo, "recovered: "+e.Message
		delete(e.Metadata, metaCommitStatus)
		return e, !a.excluded(e.Message)
	}
	// The completion of a commit is for forges; all others were sent the changes.
	if !fresh || f.Event.own(metaCommitStatus) == commitStatusUpdate ||
		!a.severe(e.Severity) || !a.included(e.Message) || a.excluded(e.Message) {
		return e, false
	}
	if f.Failing {
		return e, l.said(a.Ref, e.InvolvedObject, word{Said: said, At: now, Failing: true}, sameError)
	}
	return e, true
}
