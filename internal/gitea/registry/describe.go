package registry

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"mime"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// described is what a manifest says.
type described struct {
	manifest
	// subject is the digest of what it refers to.
	subject string
	// foreign are layers that other servers have, and that may be here as well.
	foreign []string
}

// describe reads a manifest that was sent with a content type.
func describe(contentType string, body []byte) (described, error) {
	var head struct {
		MediaType string         `json:"mediaType"`
		Subject   *v1.Descriptor `json:"subject"`
	}
	if err := json.Unmarshal(body, &head); err != nil {
		return described{}, errors.New("the manifest is not a JSON object")
	}
	media, _, err := mime.ParseMediaType(contentType)
	if err != nil {
		media = head.MediaType
	}
	if head.MediaType != "" && head.MediaType != media {
		return described{}, fmt.Errorf("the manifest has the mediaType %q and was sent as %q", head.MediaType, media)
	}
	made := described{manifest: manifest{MediaType: media, Size: int64(len(body))}}
	if head.Subject != nil {
		made.subject = head.Subject.Digest.String()
	}
	switch kind := types.MediaType(media); {
	case kind.IsIndex():
		err = made.index(body)
	case kind == types.OCIManifestSchema1 || kind == types.DockerManifestSchema2:
		err = made.image(body)
	default:
		err = fmt.Errorf("the media type %q is not that of an image or an index", media)
	}
	return made, err
}

func (d *described) index(body []byte) error {
	parsed, err := v1.ParseIndexManifest(bytes.NewReader(body))
	if err != nil {
		return errors.New("the index is malformed")
	}
	for _, part := range parsed.Manifests {
		d.Manifests = append(d.Manifests, part.Digest.String())
	}
	return nil
}

func (d *described) image(body []byte) error {
	parsed, err := v1.ParseManifest(bytes.NewReader(body))
	if err != nil {
		return errors.New("the manifest is malformed")
	}
	for _, part := range append([]v1.Descriptor{parsed.Config}, parsed.Layers...) {
		if digest := part.Digest.String(); part.MediaType.IsDistributable() {
			d.Blobs = append(d.Blobs, digest)
		} else {
			d.foreign = append(d.foreign, digest)
		}
	}
	return nil
}
