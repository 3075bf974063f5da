package cloud_test

import (
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/digitalocean/godo"

	"github.com/headgate-dev/headgate/internal/cloud"
)

func TestEndpoint(t *testing.T) {
	dir := t.TempDir()
	a := start(t, func(o *cloud.Options) { o.Dir = dir })
	e, err := cloud.Locate(dir)
	if err != nil || e != (cloud.Endpoint{URL: a.URL, Token: token}) {
		t.Fatalf("located %v, %v", e, err)
	}
	d, twin, image, key := a.running("vm"), a.running("twin"), a.imported("nixos"), a.key()
	a.running("twin")
	ip := must[*godo.ReservedIP](t)(a.do.ReservedIPs.Create(t.Context(), &godo.ReservedIPCreateRequest{Region: "fra1"}))
	shown, err := e.Account(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(shown.Droplets) != 3 || shown.Droplets[0].Status != "active" || len(shown.Images) != 1 || len(shown.Keys) != 1 || len(shown.Reserved) != 1 {
		t.Errorf("the account has %+v", shown)
	}
	before := len(a.Audit())
	if err := e.PowerOff(t.Context(), "vm"); err != nil {
		t.Fatal(err)
	}
	if got := must[*godo.Droplet](t)(a.do.Droplets.Get(t.Context(), d.ID)); got.Status != "off" {
		t.Errorf("the Droplet is %s", got.Status)
	}
	for kind, name := range map[string]string{"droplets": "vm", "image": "nixos", "ssh-key": key.Fingerprint, "reserved_ips": ip.IP} {
		if err := e.Delete(t.Context(), kind, name); err != nil {
			t.Errorf("%s %s: %v", kind, name, err)
		}
	}
	for name, err := range map[string]error{
		`droplet "twin": 2 Droplets have the name; use a number, such as `: e.Delete(t.Context(), "droplet", "twin"),
		`droplet "gone": not in the account`:                               e.PowerOff(t.Context(), "gone"),
		`kind "volume": use droplet, image, ssh_key or reserved_ip`:        e.Delete(t.Context(), "volume", "x"),
		`image "ubuntu-24-04-x64": not in the account`:                     e.Delete(t.Context(), "image", "ubuntu-24-04-x64"),
		"Unable to authenticate you":                                       cloud.Endpoint{URL: a.URL, Token: readToken + "x"}.PowerOff(t.Context(), "twin"),
		"You do not have access for the attempted action.":                 cloud.Endpoint{URL: a.URL, Token: readToken}.PowerOff(t.Context(), "twin"),
	} {
		if err == nil || !strings.HasPrefix(err.Error(), name) {
			t.Errorf("the error is %v, want %s", err, name)
		}
	}
	if err := e.Delete(t.Context(), "droplet", strconv.Itoa(twin.ID)); err != nil {
		t.Error(err)
	}
	_, _, err = a.do.Images.GetByID(t.Context(), image.ID)
	refused(t, err, 404, "The resource you requested could not be found.")
	shown, err = e.Account(t.Context())
	if err != nil || len(shown.Droplets) != 1 || len(shown.Images)+len(shown.Keys)+len(shown.Reserved) > 0 {
		t.Errorf("left are %+v, %v", shown, err)
	}
	if after := len(a.Audit()); after != before+2 {
		t.Errorf("the audit log has %d more entries, want the two requests of the API", after-before)
	}
}

func TestAdministration(t *testing.T) {
	a := start(t)
	ask := func(method, path, body string) int {
		t.Helper()
		q, err := http.NewRequestWithContext(t.Context(), method, a.URL+cloud.Prefix+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		q.Header.Set("Authorization", "Bearer "+token)
		answer, err := http.DefaultClient.Do(q)
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		return answer.StatusCode
	}
	if got := ask("POST", "faults", `[{"kind":"refuse","path":"/v2/account","status":503}]`); got != 200 {
		t.Errorf("adding a fault is answered %d", got)
	}
	if _, _, err := a.do.Account.Get(t.Context()); status(err) != 503 {
		t.Errorf("the fault does not apply: %v", err)
	}
	for name, tc := range map[string]struct {
		method, path, body string
		want               int
	}{
		"Fault":      {"POST", "faults", `[{"kind":"explode"}]`, 422},
		"NotFaults":  {"POST", "faults", `{"kind":"drop"}`, 400},
		"Clear":      {"DELETE", "faults", "", 204},
		"Backwards":  {"POST", "clock", `{"advance":"-1s"}`, 422},
		"Advance":    {"POST", "clock", `{"advance":"90s"}`, 204},
		"Elsewhere":  {"GET", "secrets", "", 404},
		"Audit":      {"GET", "audit?method=GET&path=/v2/account", "", 200},
		"KindOfPath": {"DELETE", "droplets/7", "", 404},
	} {
		if got := ask(tc.method, tc.path, tc.body); got != tc.want {
			t.Errorf("%s: answered %d, want %d", name, got, tc.want)
		}
	}
	if got := a.Now(); !got.Equal(began.Add(90 * time.Second)) {
		t.Errorf("the clock shows %s", got)
	}
	log, _ := a.raw(cloud.Prefix + "audit?method=GET&path=/v2/account")["entries"].([]any)
	if len(log) != 1 {
		t.Errorf("the audit log has %v", log)
	}
	running := start(t, func(o *cloud.Options) { o.Clock = nil })
	a.URL = running.URL
	if got := ask("POST", "clock", `{"advance":"90s"}`); got != 409 {
		t.Errorf("moving a clock that runs is answered %d", got)
	}
}
