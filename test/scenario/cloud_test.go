package scenario

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/headgate-dev/headgate/internal/cloud"
	"github.com/headgate-dev/headgate/internal/dialect"
	"github.com/headgate-dev/headgate/internal/dialects"
	"github.com/headgate-dev/headgate/internal/provision"
	"github.com/headgate-dev/headgate/internal/provision/digitalocean"
)

// cloudToken is that of the account that all scripts share.
const cloudToken = "the-token-of-the-simulated-account"

// startCloud starts the account, in which everything takes a moment.
func startCloud(t *testing.T) *cloud.Server {
	t.Helper()
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	t.Cleanup(cancel)
	const moment = 300 * time.Millisecond
	s, err := cloud.Start(ctx, cloud.Options{
		Token: cloudToken, Timing: cloud.Timing{Create: moment, Act: moment, Destroy: moment, Queue: moment, Import: moment},
	})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// cloudDialects are all dialects, with resources of DigitalOcean in a simulated account.
func cloudDialects(s *cloud.Server) dialect.Catalogue {
	return dialects.With(dialects.Options{Provision: provision.Options{
		DigitalOcean: &digitalocean.Options{Simulated: &digitalocean.Simulated{URL: s.URL, Token: s.Token()}},
	}})
}

// serveDisks serves images of disks below /, and a file that is none at /text.
func serveDisks(t *testing.T) string {
	t.Helper()
	content := make([]byte, 512)
	copy(content, "QFI\xfb\x00\x00\x00\x03")
	binary.BigEndian.PutUint64(content[24:], 20<<30)
	s := httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		data := content
		if strings.HasPrefix(r.URL.Path, "/text") {
			data = []byte("this is no image of a disk")
		}
		http.ServeContent(out, r, "disk", time.Time{}, bytes.NewReader(data))
	}))
	t.Cleanup(s.Close)
	return s.URL
}

// cloudVerb acts on the simulated account, or prints what it has of the script: what has a name that begins with the namespace.
func (w *world) cloudVerb(ts *testscript.TestScript, neg bool, args []string) {
	noNeg(ts, neg)
	const all = "cloud delete KIND NAME | power-off NAME | droplets | until REGEXP | posts PATH"
	usage(ts, len(args) >= 1, all)
	switch {
	case args[0] == "delete" && len(args) == 3:
		ts.Check(w.cloud.Delete(args[1], args[2]))
	case args[0] == "power-off" && len(args) == 2:
		ts.Check(w.cloud.PowerOff(args[1]))
	case args[0] == "droplets" && len(args) == 1:
		fmt.Fprint(ts.Stdout(), w.droplets(ts))
	case args[0] == "until" && len(args) == 2:
		pattern := regexp.MustCompile(args[1])
		w.until(ts, strings.Join(args, " "), func() (bool, string) {
			text := w.droplets(ts)
			return pattern.MatchString(text), text
		})
	case args[0] == "posts" && len(args) == 2:
		for _, e := range w.cloud.Audit().Select("POST", args[1]) {
			if name, _ := e.Body["name"].(string); strings.HasPrefix(name, ts.Getenv("NS")+"-") {
				fmt.Fprintf(ts.Stdout(), "%s %d\n", name, e.Status)
			}
		}
	default:
		usage(ts, false, all)
	}
}

// droplets are those of a script, a line each.
func (w *world) droplets(ts *testscript.TestScript) string {
	shown, err := w.cloud.Account()
	ts.Check(err)
	var text strings.Builder
	for _, d := range shown.Droplets {
		if strings.HasPrefix(d.Name, ts.Getenv("NS")+"-") {
			fmt.Fprintf(&text, "%s %d %s image=%d\n", d.Name, d.ID, d.Status, d.Image)
		}
	}
	return text.String()
}
