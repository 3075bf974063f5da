package cloud

import (
	"fmt"
	"strings"
)

// erase deletes an object beside the API.
func (s *State) erase(kind, name string) error {
	switch strings.TrimSuffix(strings.ReplaceAll(kind, "-", "_"), "s") {
	case "droplet":
		d, err := s.dropletBy(name)
		if err != nil {
			return err
		}
		s.forget(d)
	case "image":
		i, err := s.imageBy(name)
		if err != nil {
			return err
		}
		i.Deleted, i.Status = true, deleted
	case "ssh_key":
		k := found(s.Keys, func(k *Key) bool { return decimal(k.ID) == name || k.Fingerprint == name || k.Name == name })
		if k == nil {
			return fmt.Errorf("SSH key %q: %w", name, errAbsent)
		}
		s.Keys = without(s.Keys, k)
	case "reserved_ip":
		r := s.reserved(name)
		if r == nil {
			return fmt.Errorf("reserved IP %q: %w", name, errAbsent)
		}
		s.Reserved = without(s.Reserved, r)
	default:
		return fmt.Errorf("kind %q: use droplet, image, ssh_key or reserved_ip", kind)
	}
	return nil
}

// imageBy is the image of the account with a number, or with a name that no other has.
func (s *State) imageBy(name string) (*Image, error) {
	var named []*Image
	for _, i := range s.Images {
		if i.Public || i.Deleted {
			continue
		}
		if decimal(i.ID) == name {
			return i, nil
		}
		if i.Name == name {
			named = append(named, i)
		}
	}
	switch len(named) {
	case 0:
		return nil, fmt.Errorf("image %q: %w", name, errAbsent)
	case 1:
		return named[0], nil
	}
	return nil, fmt.Errorf("image %q: %d images have the name; use a number, such as %d", name, len(named), named[0].ID)
}
