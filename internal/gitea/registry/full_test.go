package registry

import (
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/v1/remote"
)

// TestFullDisk has the disk be full during an upload: the client is notified, nothing of it is counted or kept, and images are pulled and
// pushed afterwards.
func TestFullDisk(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip("there is no device that is always full")
	}
	s := serve(t, Config{Dir: t.TempDir()})
	s.push(t, "dev", "dev/app:v1", picture(t, 100))
	counted := func() int64 {
		s.Registry.mu.Lock()
		defer s.Registry.mu.Unlock()
		return s.used["dev"]
	}
	before := counted()
	answer, _ := s.do(t, "dev", http.MethodPost, "/v2/dev/app/blobs/uploads/", nil)
	at := answer.Header.Get("Location")
	s.Registry.mu.Lock()
	for _, one := range s.uploads {
		one.spool.discard()
		one.spool = &fullSpool{full}
	}
	s.Registry.mu.Unlock()
	answer, text := s.do(t, "dev", http.MethodPatch, at, strings.NewReader("content"))
	if answer.StatusCode != http.StatusInsufficientStorage || !strings.Contains(text, "the disk of the registry is full") {
		t.Errorf("an upload to a full disk answers %d %s", answer.StatusCode, text)
	}
	if got := counted(); got != before {
		t.Errorf("%d bytes are counted, want %d as before", got, before)
	}
	if answer, _ := s.do(t, "dev", http.MethodPatch, at, strings.NewReader("content")); answer.StatusCode != http.StatusNotFound {
		t.Errorf("an upload that failed continues: %d", answer.StatusCode)
	}
	if _, err := remote.Image(s.ref(t, "dev/app:v1"), as(t, "dev")...); err != nil {
		t.Error(err)
	}
	s.push(t, "dev", "dev/app:v2", picture(t, 100))
}

// fullSpool is a file on a disk that is full.
type fullSpool struct{ *os.File }

func (s *fullSpool) settle() error     { return s.Sync() }
func (s *fullSpool) keep(string) error { return os.ErrInvalid }
func (s *fullSpool) discard()          { s.Close() }
