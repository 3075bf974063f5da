package cloud_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/digitalocean/godo"

	"github.com/headgate-dev/headgate/internal/cloud"
	"github.com/headgate-dev/headgate/internal/egress"
)

// TestImportOfOthers has others name an image on this machine: it is not requested, nor by a redirect.
func TestImportOfOthers(t *testing.T) {
	reached := 0
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached++ }))
	defer server.Close()
	policy, err := egress.Run{Remote: true}.Policy()
	if err != nil {
		t.Fatal(err)
	}
	front := httptest.NewServer(http.RedirectHandler(server.URL, http.StatusFound))
	defer front.Close()
	policy.Served.Add(front.URL)
	a := start(t, func(o *cloud.Options) { o.Egress = policy.Requests })
	for name, url := range map[string]string{"Server": server.URL, "Redirect": front.URL} {
		i := must[*godo.Image](t)(a.do.Images.Create(t.Context(), &godo.CustomImageCreateRequest{Name: name, Url: url + "/image", Region: "fra1"}))
		a.Settle()
		a.clock.Advance(5 * time.Minute)
		got := must[*godo.Image](t)(a.do.Images.GetByID(t.Context(), i.ID))
		if got.Status != "deleted" || !strings.Contains(got.ErrorMessage, "that images are not imported from") || reached > 0 {
			t.Errorf("%s: status %q, message %q, reached %d times", name, got.Status, got.ErrorMessage, reached)
		}
	}
}
