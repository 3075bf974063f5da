package digitalocean

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/digitalocean/godo"

	types "github.com/headgate-dev/headgate/api/crossplane/digitalocean"
	"github.com/headgate-dev/headgate/internal/provision/digitalocean/api"
	"github.com/headgate-dev/headgate/internal/provision/digitalocean/kinds"
	"github.com/headgate-dev/headgate/internal/provision/managed"
)

// image is a custom image for the length of a pass.
type image struct {
	simple
	want, create types.ImageParameters
	record       imageRecord
	id           int
}

// imageRecord is what is remembered of an image.
type imageRecord struct {
	// URL is where it was imported from, without what signs it.
	URL string `json:"url,omitempty"`
	// For is the version of the declaration that it was imported for.
	For string `json:"for,omitempty"`
}

// annotationRequested is set by people who want something tried again.
const annotationRequested = "crossplane.io/reconcile-requested-at"

func newImage(s session) (*image, error) {
	i := &image{simple: simple{session: s}}
	if err := s.declared(&i.want, &i.create); err != nil {
		return nil, err
	}
	return i, s.Record(&i.record)
}

// version tells declarations apart, and requests to try again.
func (i *image) version() string {
	return fmt.Sprintf("%d/%s", i.Object.GetGeneration(), i.Object.GetAnnotations()[annotationRequested])
}

// Observe compares the image. An import that failed is repeated for another declaration, or when a person asks for it: it would
// fail again.
func (i *image) Observe(ctx context.Context) (managed.Observation, error) {
	var err error
	if i.id, err = kinds.ParseNumber(i.ExternalName()); err != nil {
		return managed.Observation{}, managed.Invalid("%w", err)
	}
	var have *godo.Image
	if i.id != 0 {
		if have, err = i.account.image(ctx, i.do, i.id); err != nil {
			return managed.Observation{}, failure("observing image "+i.ExternalName(), err)
		}
	}
	facts := kinds.ImageFacts{Observed: have, URL: i.record.URL}
	outcome := kinds.Image(i.want, facts)
	if outcome.Next != nil && outcome.Next.Verb == kinds.Transfer {
		if facts.Pending, err = i.transferring(ctx); err != nil {
			return managed.Observation{}, err
		}
		outcome = kinds.Image(i.want, facts)
	}
	if outcome.Condition == kinds.Failed && (i.deleting() || i.record.For != i.version()) {
		return managed.Observation{}, nil
	}
	if outcome.Condition == kinds.Failed {
		// Nothing is changed about it, or replaced: there is nothing behind it.
		outcome = kinds.Outcome{Condition: kinds.Failed, Message: outcome.Message}
	}
	o, err := i.decide(outcome)
	if err != nil || !o.Exists {
		return o, err
	}
	o.AtProvider, o.Connection = kinds.ObserveImage(have, i.record.URL), connection(kinds.ImageConnection(have))
	return o, nil
}

// transferring reports whether the image is being copied to another region.
func (i *image) transferring(ctx context.Context) (bool, error) {
	// The client has no list of the actions of an image.
	all, _, err := i.do.Actions.List(ctx, &godo.ListOptions{PerPage: perPage})
	if err != nil {
		return false, failure("observing the actions of image "+i.ExternalName(), err)
	}
	for _, a := range all {
		if a.ResourceType == "image" && a.ResourceID == i.id && a.Status == godo.ActionInProgress {
			return true, nil
		}
	}
	return false, nil
}

// Find searches for what an import made: by the tag of the resource, and by the number of the import.
func (i *image) Find(ctx context.Context, intent managed.Intent) (managed.Finding, error) {
	listed, err := pages(ctx, func(o *godo.ListOptions) ([]godo.Image, *godo.Response, error) {
		return i.do.Images.ListByTag(ctx, kinds.OwnerTag(i.uid()), o)
	})
	if err != nil {
		return managed.Finding{}, failure("searching for an image that was imported", err)
	}
	var found []kinds.Candidate
	for _, one := range listed {
		attempt, own := kinds.Attempt(one.Tags, i.uid())
		if !own || intent.Attempt != 0 && attempt != intent.Attempt || strings.EqualFold(one.Status, "deleted") {
			continue
		}
		created, err := time.Parse(time.RFC3339, one.Created)
		if err != nil {
			return managed.Finding{}, fmt.Errorf("reading when image %d was created: %w", one.ID, err)
		}
		found = append(found, kinds.Candidate{Name: strconv.Itoa(one.ID), Attempt: attempt, Created: created})
	}
	return findingOf(kinds.Recover(found, intent.Began, i.clock.Now()), intent), nil
}

// Create has the image imported.
func (i *image) Create(ctx context.Context, intent managed.Intent) (managed.Result, error) {
	i.record = imageRecord{URL: kinds.ComparableURL(text(i.create.URL)), For: i.version()}
	if err := i.Keep(ctx, i.record); err != nil {
		return managed.Result{}, err
	}
	request, err := kinds.CreateImage(i.create, kinds.OwnTags(i.uid(), intent.Attempt))
	if err != nil {
		return managed.Result{}, managed.Invalid("%w", err)
	}
	made, _, err := i.do.Images.Create(ctx, request)
	if err != nil {
		return managed.Result{}, failure("importing the image", err)
	}
	return managed.Result{ExternalName: strconv.Itoa(made.ID), Ready: managed.Creating("the image is being imported"), Next: poll}, nil
}

// Update makes the next step.
func (i *image) Update(ctx context.Context) (managed.Result, error) { return i.update(ctx, i) }

// Delete deletes the image.
func (i *image) Delete(ctx context.Context) (managed.Result, error) {
	return managed.Result{Next: poll}, i.destroy(ctx)
}

func (i *image) destroy(ctx context.Context) error {
	defer i.account.images.forget(i.id)
	_, err := i.do.Images.Delete(ctx, i.id)
	if message, refused := api.Unprocessable(err); api.NotFound(err) || refused && strings.Contains(message, "already deleted") {
		return nil
	}
	return failure("deleting image "+i.ExternalName(), err)
}

func (i *image) call(ctx context.Context, c kinds.Call) error {
	defer i.account.images.forget(i.id)
	switch c.Verb {
	case kinds.Describe:
		_, _, err := i.do.Images.Update(ctx, i.id, &godo.ImageUpdateRequest{Name: c.To, Description: c.Description, Distribution: c.Distribution})
		return err
	case kinds.Transfer:
		_, _, err := i.do.ImageActions.Transfer(ctx, i.id, &godo.ActionRequest{"type": "transfer", "region": c.To})
		return err
	}
	return i.retag(ctx, godo.Resource{ID: strconv.Itoa(i.id), Type: godo.ImageResourceType}, c)
}

// text is what an optional field declares, empty for nothing.
func text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}
