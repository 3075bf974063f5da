package process

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// volumes are those that the container mounts.
func (p *preparation) volumes(ctx context.Context) error {
	for _, m := range p.container.VolumeMounts {
		volume := volumeOf(p.run, m.Name)
		if volume == nil {
			return never("volumeMounts: there is no volume %q", m.Name)
		}
		if err := p.volume(ctx, volume, m); err != nil {
			return fmt.Errorf("volume %s: %w", m.Name, err)
		}
	}
	return nil
}

func (p *preparation) volume(ctx context.Context, volume *corev1.Volume, m corev1.VolumeMount) error {
	from := mount{Path: m.MountPath, ReadOnly: m.ReadOnly}
	switch {
	case volume.EmptyDir != nil && volume.EmptyDir.Medium == corev1.StorageMediumMemory:
		from.Memory = true
		if limit := volume.EmptyDir.SizeLimit; limit != nil {
			from.Size = limit.Value()
		}
	case volume.EmptyDir != nil:
		dir, err := p.private(filepath.Join("volumes", m.Name, filepath.FromSlash(m.SubPath)))
		if err != nil {
			return err
		}
		from.Source = dir
	case volume.PersistentVolumeClaim != nil:
		from.Source = filepath.Join(p.executor.claims(p.x.intent.UID), volume.PersistentVolumeClaim.ClaimName)
		from.ReadOnly = from.ReadOnly || volume.PersistentVolumeClaim.ReadOnly
		if err := os.MkdirAll(from.Source, 0o755); err != nil { //nolint:gosec // the directory above is closed to others
			return err
		}
	case volume.Secret != nil:
		data, err := p.account.secret(ctx, volume.Secret.SecretName)
		for _, value := range data {
			p.hide(value)
		}
		return p.files(from, m.SubPath, content{"Secret", volume.Secret.SecretName, volume.Secret.Items, volume.Secret.DefaultMode, volume.Secret.Optional, data, err})
	case volume.ConfigMap != nil:
		data, err := p.account.configMap(ctx, volume.ConfigMap.Name)
		return p.files(from, m.SubPath, content{"ConfigMap", volume.ConfigMap.Name, volume.ConfigMap.Items, volume.ConfigMap.DefaultMode, volume.ConfigMap.Optional, data, err})
	}
	p.mount(from)
	return nil
}

// content is what an object has, or why that is unknown.
type content struct {
	kind, name string
	items      []corev1.KeyToPath
	mode       *int32
	optional   *bool
	data       map[string][]byte
	err        error
}

// files mounts what an object has, or one file of it.
func (p *preparation) files(from mount, subPath string, c content) error {
	isOptional := c.optional != nil && *c.optional
	if c.err != nil && (!apierrors.IsNotFound(c.err) || !isOptional) {
		return c.err
	}
	from.Memory, from.ReadOnly, from.Files = true, true, map[string][]byte{}
	if c.mode != nil {
		from.Mode = uint32(*c.mode) & 0o777 //nolint:gosec // only these bits count
	}
	for _, item := range c.items {
		value, err := keyOf(c.data, c.kind, c.name, item.Key)
		var lacks *keyError
		switch {
		case errors.As(err, &lacks) && isOptional:
		case err != nil:
			return err
		case !filepath.IsLocal(item.Path):
			return never("items: path %q leaves the volume", item.Path)
		default:
			from.Files[item.Path] = value
		}
	}
	if len(c.items) == 0 {
		for key, value := range c.data {
			from.Files[key] = value
		}
	}
	if subPath == "" {
		p.mount(from)
		return nil
	}
	value, has := from.Files[subPath]
	if !has {
		return never("subPath: %s %q has no file %q", c.kind, c.name, subPath)
	}
	from.File, from.Files = true, map[string][]byte{onlyFile: value}
	p.mount(from)
	return nil
}

// mountable are the sources of volumes that a process can have.
func mountable(v *corev1.Volume) bool {
	source := v.VolumeSource
	source.EmptyDir, source.ConfigMap, source.Secret, source.PersistentVolumeClaim = nil, nil, nil, nil
	return source == (corev1.VolumeSource{})
}
