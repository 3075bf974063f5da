package cloud_test

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/digitalocean/godo"
	"github.com/google/go-cmp/cmp"

	"github.com/headgate-dev/headgate/internal/cloud"
)

func TestKeys(t *testing.T) {
	a := start(t)
	k := a.key()
	want := &godo.Key{ID: k.ID, Name: "ada", Fingerprint: "e1:80:0e:31:07:d5:55:32:8c:dc:2f:65:9e:d1:55:85", PublicKey: publicKey}
	if diff := cmp.Diff(want, k); diff != "" {
		t.Errorf("the key (-want +got):\n%s", diff)
	}
	_, _, err := a.do.Keys.Create(t.Context(), &godo.KeyCreateRequest{Name: "again", PublicKey: publicKey})
	refused(t, err, 422, "SSH Key is already in use on your account")
	_, _, err = a.do.Keys.Create(t.Context(), &godo.KeyCreateRequest{Name: "bad", PublicKey: "ssh-ed25519 AAAA"})
	refused(t, err, 422, "Key invalid, key should be of the format `ssh-keytype key [comment]`")
	_, _, err = a.do.Keys.Create(t.Context(), &godo.KeyCreateRequest{PublicKey: otherKey})
	refused(t, err, 422, "Name can't be blank")
	if got := must[*godo.Key](t)(a.do.Keys.UpdateByFingerprint(t.Context(), k.Fingerprint, &godo.KeyUpdateRequest{Name: "lovelace"})); got.Name != "lovelace" {
		t.Errorf("renamed to %v", got)
	}
	if got := must[*godo.Key](t)(a.do.Keys.GetByFingerprint(t.Context(), k.Fingerprint)); got.ID != k.ID || got.Name != "lovelace" {
		t.Errorf("found %v", got)
	}
	if _, err := a.do.Keys.DeleteByID(t.Context(), k.ID); err != nil {
		t.Fatal(err)
	}
	_, _, err = a.do.Keys.GetByID(t.Context(), k.ID)
	refused(t, err, 404, "The resource you requested could not be found.")
}

func TestTags(t *testing.T) {
	a := start(t)
	d, i := a.running("vm"), a.imported("nixos")
	made := must[*godo.Tag](t)(a.do.Tags.Create(t.Context(), &godo.TagCreateRequest{Name: "Env:Prod"}))
	if made.Name != "Env:Prod" || made.Resources.Count != 0 {
		t.Errorf("made %v", made)
	}
	both := []godo.Resource{{ID: strconv.Itoa(d.ID), Type: godo.DropletResourceType}, {ID: strconv.Itoa(i.ID), Type: godo.ImageResourceType}}
	if _, err := a.do.Tags.TagResources(t.Context(), "env:prod", &godo.TagResourcesRequest{Resources: both}); err != nil {
		t.Fatal(err)
	}
	tag := must[*godo.Tag](t)(a.do.Tags.Get(t.Context(), "ENV:PROD"))
	if tag.Resources.Count != 2 || tag.Resources.Droplets.LastTagged.ID != d.ID || tag.Resources.Images.Count != 1 {
		t.Errorf("the tag is on %v", tag.Resources)
	}
	if got := must[*godo.Image](t)(a.do.Images.GetByID(t.Context(), i.ID)); !cmp.Equal(got.Tags, []string{"Env:Prod"}) {
		t.Errorf("the image has the tags %v", got.Tags)
	}
	if _, err := a.do.Tags.UntagResources(t.Context(), "env:prod", &godo.UntagResourcesRequest{Resources: both[:1]}); err != nil {
		t.Fatal(err)
	}
	if got := must[[]godo.Droplet](t)(a.do.Droplets.ListByTag(t.Context(), "env:prod", nil)); len(got) > 0 {
		t.Errorf("still tagged: %v", got)
	}
	if _, err := a.do.Tags.Delete(t.Context(), "env:prod"); err != nil {
		t.Fatal(err)
	}
	if got := must[*godo.Image](t)(a.do.Images.GetByID(t.Context(), i.ID)); len(got.Tags) > 0 {
		t.Errorf("the image has the tags %v", got.Tags)
	}
	_, err := a.do.Tags.TagResources(t.Context(), "env:prod", &godo.TagResourcesRequest{Resources: both})
	refused(t, err, 404, "The resource you requested could not be found.")
}

func TestCatalogue(t *testing.T) {
	a := start(t)
	regions := must[[]godo.Region](t)(a.do.Regions.List(t.Context(), nil))
	closed := slices.IndexFunc(regions, func(r godo.Region) bool { return r.Slug == "nyc2" })
	if len(regions) != 8 || regions[closed].Available || len(regions[closed].Sizes) > 0 || !slices.Contains(regions[0].Sizes, "s-1vcpu-1gb") {
		t.Errorf("the regions are %v", regions)
	}
	if sizes := must[[]godo.Size](t)(a.do.Sizes.List(t.Context(), nil)); len(sizes) != 7 || !sizes[0].Available || slices.Contains(sizes[0].Regions, "nyc2") {
		t.Errorf("the sizes are %v", sizes)
	}
}

func TestAuthorization(t *testing.T) {
	a := start(t)
	for name, tc := range map[string]struct {
		token      string
		get, write int
	}{
		"Full": {token, 0, 0}, "Read": {readToken, 0, 403}, "Wrong": {"other", 401, 401}, "None": {"", 401, 401},
	} {
		do := client(t, a.URL, tc.token)
		_, _, err := do.Account.Get(t.Context())
		_, _, failed := do.Tags.Create(t.Context(), &godo.TagCreateRequest{Name: "x"})
		if status(err) != tc.get || status(failed) != tc.write {
			t.Errorf("%s: reads are answered %d, writes %d; want %d, %d", name, status(err), status(failed), tc.get, tc.write)
		}
	}
	_, _, err := client(t, a.URL, "other").Account.Get(t.Context())
	refused(t, err, 401, "Unable to authenticate you")
	q, err := a.do.NewRequest(t.Context(), http.MethodPatch, "v2/droplets/1", nil)
	if err != nil {
		t.Fatal(err)
	}
	_, err = a.do.Do(t.Context(), q, nil)
	refused(t, err, 405, "The method is not allowed for the resource.")
	_, _, err = a.do.Domains.List(t.Context(), nil)
	refused(t, err, 404, "The resource you requested could not be found.")
}

func TestPages(t *testing.T) {
	a := start(t)
	for i := range 25 {
		r := ubuntu("vm-" + strconv.Itoa(i))
		r.Tags = []string{"pool"}
		must[*godo.Droplet](t)(a.do.Droplets.Create(t.Context(), r))
	}
	for name, tc := range map[string]struct {
		ask         *godo.ListOptions
		count       int
		next, links string
	}{
		"First":   {nil, 20, "page=2", "first= prev= next=2 last=2"},
		"Last":    {&godo.ListOptions{Page: 2}, 5, "", "first=1 prev=1 next= last="},
		"Middle":  {&godo.ListOptions{Page: 2, PerPage: 10}, 10, "page=3", "first=1 prev=1 next=3 last=3"},
		"Beyond":  {&godo.ListOptions{Page: 9}, 0, "", "first=1 prev=2 next= last="},
		"All":     {&godo.ListOptions{PerPage: 200}, 25, "", "none"},
		"TooMany": {&godo.ListOptions{PerPage: 1000}, 25, "", "none"},
	} {
		t.Run(name, func(t *testing.T) {
			got, answer, err := a.do.Droplets.ListByTag(t.Context(), "pool", tc.ask)
			if err != nil {
				t.Fatal(err)
			}
			links := "none"
			if p := answer.Links.Pages; p != nil {
				number := func(link string) string {
					if link != "" && !strings.HasPrefix(link, a.URL+"/v2/droplets?") || link != "" && !strings.Contains(link, "tag_name=pool") {
						t.Errorf("the link %q leads elsewhere", link)
					}
					_, after, _ := strings.Cut(link, "&page=")
					if after == "" {
						_, after, _ = strings.Cut(link, "?page=")
					}
					before, _, _ := strings.Cut(after, "&")
					return before
				}
				links = "first=" + number(p.First) + " prev=" + number(p.Prev) + " next=" + number(p.Next) + " last=" + number(p.Last)
			}
			if len(got) != tc.count || answer.Meta.Total != 25 || links != tc.links {
				t.Errorf("%d of %d, links %s; want %d of 25, %s", len(got), answer.Meta.Total, links, tc.count, tc.links)
			}
		})
	}
}

func TestLimits(t *testing.T) {
	a := start(t, func(o *cloud.Options) { o.Limits = cloud.Limits{Hour: 8, Minute: 3, KeyLists: 2} })
	account := func() (*godo.Response, error) {
		_, answer, err := a.do.Account.Get(t.Context())
		return answer, err
	}
	answer, err := account()
	if err != nil || answer.Limit != 8 || answer.Remaining != 7 || !answer.Reset.Equal(godo.Timestamp{Time: began.Add(time.Hour)}) {
		t.Errorf("the rate is %v, %v", answer.Rate, err)
	}
	a.clock.Advance(20 * time.Second)
	for range 2 {
		if _, err := account(); err != nil {
			t.Fatal(err)
		}
	}
	answer, err = account()
	refused(t, err, 429, "Too many requests")
	if got := answer.Header.Get("Retry-After"); got != "40" {
		t.Errorf("to be retried after %q, when the first request is a minute old", got)
	}
	a.clock.Advance(40 * time.Second)
	if _, err := account(); err != nil {
		t.Errorf("the window slides: %v", err)
	}
	_, err = account()
	refused(t, err, 429, "Too many requests")
	a.clock.Advance(time.Minute)
	for range 2 {
		must[[]godo.Key](t)(a.do.Keys.List(t.Context(), nil))
	}
	_, _, err = a.do.Keys.List(t.Context(), nil)
	refused(t, err, 429, "Too many requests")
	a.clock.Advance(2 * time.Minute)
	for range 2 {
		if _, err := account(); err != nil {
			t.Fatal(err)
		}
	}
	answer, err = account()
	refused(t, err, 429, "API Rate limit exceeded.")
	if answer.Remaining != 0 || answer.Header.Get("Retry-After") != "" {
		t.Errorf("the rate is %v, to be retried after %q", answer.Rate, answer.Header.Get("Retry-After"))
	}
}
