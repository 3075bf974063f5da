package cloud_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/digitalocean/godo"
	"github.com/google/go-cmp/cmp"

	"github.com/headgate-dev/headgate/internal/cloud"
	"github.com/headgate-dev/headgate/internal/cloud/disk"
)

func TestImport(t *testing.T) {
	a := start(t)
	created := must[*godo.Image](t)(a.do.Images.Create(t.Context(), &godo.CustomImageCreateRequest{
		Name: "nixos-20261120", Url: serve(t, qcow2(20<<30)), Region: "fra1", Distribution: "nixos", Description: "built", Tags: []string{"built"},
	}))
	want := &godo.Image{
		ID: created.ID, Name: "nixos-20261120", Type: "custom", Distribution: "Unknown", Description: "built", Tags: []string{"built"},
		Created: "2026-11-20T12:00:00Z", Status: "NEW", Regions: []string{},
	}
	if diff := cmp.Diff(want, created); diff != "" {
		t.Errorf("what is answered (-want +got):\n%s", diff)
	}
	a.Settle()
	get := func() *godo.Image {
		t.Helper()
		return must[*godo.Image](t)(a.do.Images.GetByID(t.Context(), created.ID))
	}
	if got := get(); got.Status != "NEW" {
		t.Errorf("status %q although no time passed", got.Status)
	}
	a.clock.Advance(time.Minute)
	if got := get(); got.Status != "pending" || len(got.Regions) > 0 {
		t.Errorf("status %q in %v while it is imported", got.Status, got.Regions)
	}
	a.clock.Advance(4 * time.Minute)
	want.Status, want.Regions, want.MinDiskSize, want.SizeGigaBytes = "available", []string{"fra1"}, 20, 0.01
	if diff := cmp.Diff(want, get()); diff != "" {
		t.Errorf("what was imported (-want +got):\n%s", diff)
	}
}

func TestImportFails(t *testing.T) {
	methods := func(head, get int) string {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodHead {
				w.WriteHeader(head)
				return
			}
			w.WriteHeader(get)
			_, _ = w.Write(qcow2(1 << 30))
		}))
		t.Cleanup(s.Close)
		return s.URL + "/image"
	}
	closed := httptest.NewServer(http.NotFoundHandler())
	closed.Close()
	for name, tc := range map[string]struct{ reason, url, want string }{
		"NoHead":  {"the server of the image has to answer HEAD", methods(http.StatusMethodNotAllowed, http.StatusOK), "HEAD "},
		"NoGet":   {"the image is not there", methods(http.StatusOK, http.StatusForbidden), "answered 403 Forbidden"},
		"Silent":  {"there is no server", closed.URL + "/image?signature=secret", "got no answer"},
		"Text":    {"the page of an error is not an image", serve(t, []byte("<html>not found</html>")), disk.ErrFormat.Error()},
		"TooTiny": {"a file without a boot sector", serve(t, make([]byte, 600)), disk.ErrFormat.Error()},
	} {
		t.Run(name, func(t *testing.T) {
			a := start(t)
			i := must[*godo.Image](t)(a.do.Images.Create(t.Context(), &godo.CustomImageCreateRequest{Name: "x", Url: tc.url, Region: "fra1", Tags: []string{"x"}}))
			a.Settle()
			a.clock.Advance(5 * time.Minute)
			got := must[*godo.Image](t)(a.do.Images.GetByID(t.Context(), i.ID))
			if got.Status != "deleted" || !strings.Contains(got.ErrorMessage, tc.want) || strings.Contains(got.ErrorMessage, "secret") {
				t.Errorf("%s: status %q, message %q; want deleted, %q", tc.reason, got.Status, got.ErrorMessage, tc.want)
			}
			if listed := must[[]godo.Image](t)(a.do.Images.ListByTag(t.Context(), "x", nil)); len(listed) > 0 {
				t.Errorf("%s: it is listed", tc.reason)
			}
			_, err := a.do.Images.Delete(t.Context(), i.ID)
			refused(t, err, 422, "Image Can not delete an already deleted image.")
		})
	}
}

func TestImageRequests(t *testing.T) {
	a := start(t)
	for name, tc := range map[string]struct {
		change func(*godo.CustomImageCreateRequest)
		want   string
	}{
		"NoName":   {func(r *godo.CustomImageCreateRequest) { r.Name = "" }, "Name can't be blank"},
		"NoRegion": {func(r *godo.CustomImageCreateRequest) { r.Region = "mars1" }, "Region is invalid"},
		"NoURL":    {func(r *godo.CustomImageCreateRequest) { r.Url = "result/nixos.qcow2" }, "URL is invalid"},
		"Tag":      {func(r *godo.CustomImageCreateRequest) { r.Tags = []string{"a b"} }, `Tag names may contain letters, numbers, colons, dashes, and underscores, and have 255 characters at most: "a b"`},
	} {
		t.Run(name, func(t *testing.T) {
			r := &godo.CustomImageCreateRequest{Name: "x", Url: "http://127.0.0.1:1/x", Region: "fra1"}
			tc.change(r)
			_, _, err := a.do.Images.Create(t.Context(), r)
			refused(t, err, 422, tc.want)
		})
	}
	if got := a.Audit().Select("POST", "/v2/images").Made(); got != nil {
		t.Errorf("refused requests made %v", got)
	}
}

func TestImagesAreListed(t *testing.T) {
	a := start(t)
	a.imported("one", "Built:one")
	a.imported("two")
	names := func(list []godo.Image, _ *godo.Response, err error) string {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		var all []string
		for _, i := range list {
			all = append(all, i.Name)
		}
		return strings.Join(all, ",")
	}
	for name, tc := range map[string]struct{ got, want string }{
		"All":          {names(a.do.Images.List(t.Context(), nil)), "24.04 (LTS) x64,22.04 (LTS) x64,12 x64,one,two"},
		"Private":      {names(a.do.Images.ListUser(t.Context(), nil)), "one,two"},
		"Distribution": {names(a.do.Images.ListDistribution(t.Context(), nil)), "24.04 (LTS) x64,22.04 (LTS) x64,12 x64"},
		"Application":  {names(a.do.Images.ListApplication(t.Context(), nil)), ""},
		"Tag":          {names(a.do.Images.ListByTag(t.Context(), "built:one", nil)), "one"},
		"NoTag":        {names(a.do.Images.ListByTag(t.Context(), "other", nil)), ""},
	} {
		if tc.got != tc.want {
			t.Errorf("%s: %q, want %q", name, tc.got, tc.want)
		}
	}
	_, _, err := a.do.Images.GetBySlug(t.Context(), "one")
	refused(t, err, 404, "The resource you requested could not be found.")
}

func TestImageIsChangedAndDeleted(t *testing.T) {
	a := start(t)
	i := a.imported("one")
	got := must[*godo.Image](t)(a.do.Images.Update(t.Context(), i.ID, &godo.ImageUpdateRequest{Name: "uno", Distribution: "debian", Description: "new"}))
	if got.Name != "uno" || got.Distribution != "Debian" || got.Description != "new" {
		t.Errorf("changed to %v", got)
	}
	moved := must[*godo.Action](t)(a.do.ImageActions.Transfer(t.Context(), i.ID, &godo.ActionRequest{"type": "transfer", "region": "nyc3"}))
	if moved.Type != "transfer" || moved.ResourceType != "image" || moved.ResourceID != i.ID || moved.RegionSlug != "nyc3" {
		t.Errorf("the action is %v", moved)
	}
	_, _, err := a.do.ImageActions.Transfer(t.Context(), i.ID, &godo.ActionRequest{"type": "transfer", "region": "sfo3"})
	refused(t, err, 422, "Image already has a pending event.")
	a.clock.Advance(5 * time.Minute)
	if got := must[*godo.Action](t)(a.do.ImageActions.Get(t.Context(), i.ID, moved.ID)); got.Status != "completed" {
		t.Errorf("the transfer is %s", got.Status)
	}
	if got := must[*godo.Image](t)(a.do.Images.GetByID(t.Context(), i.ID)); !cmp.Equal(got.Regions, []string{"fra1", "nyc3"}) {
		t.Errorf("it is in %v after the transfer", got.Regions)
	}
	if _, err := a.do.Images.Delete(t.Context(), i.ID); err != nil {
		t.Fatal(err)
	}
	_, _, err = a.do.Images.GetByID(t.Context(), i.ID)
	refused(t, err, 404, "The resource you requested could not be found.")
	_, err = a.do.Images.Delete(t.Context(), i.ID)
	refused(t, err, 422, "Image Can not delete an already deleted image.")
	_, err = a.do.Images.Delete(t.Context(), 155133621)
	refused(t, err, 403, "You do not have access for the attempted action.")
}

func TestSlowTransfer(t *testing.T) {
	release := make(chan struct{})
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			<-release
		}
		_, _ = w.Write(qcow2(1 << 30))
	}))
	defer s.Close()
	a := start(t)
	i := must[*godo.Image](t)(a.do.Images.Create(t.Context(), &godo.CustomImageCreateRequest{Name: "x", Url: s.URL, Region: "fra1"}))
	a.clock.Advance(time.Hour)
	if got := must[*godo.Image](t)(a.do.Images.GetByID(t.Context(), i.ID)); got.Status != "pending" {
		t.Errorf("status %q while the transfer runs, want pending", got.Status)
	}
	close(release)
	a.Settle()
	if got := must[*godo.Image](t)(a.do.Images.GetByID(t.Context(), i.ID)); got.Status != "available" {
		t.Errorf("status %q after the transfer, want available", got.Status)
	}
}

func TestRunningClock(t *testing.T) {
	a := start(t, func(o *cloud.Options) {
		o.Clock, o.Timing = nil, cloud.Timing{Queue: time.Millisecond, Import: 2 * time.Millisecond}
		o.Limits = cloud.Limits{Hour: -1, Minute: -1}
	})
	i := must[*godo.Image](t)(a.do.Images.Create(t.Context(), &godo.CustomImageCreateRequest{Name: "x", Url: serve(t, qcow2(1<<30)), Region: "fra1"}))
	for {
		if got := must[*godo.Image](t)(a.do.Images.GetByID(t.Context(), i.ID)); got.Status == "available" {
			return
		}
	}
}
