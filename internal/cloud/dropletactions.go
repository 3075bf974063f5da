package cloud

import (
	"net/http"
	"slices"
)

// actOnDroplet starts an action on a Droplet.
func (x *exchange) actOnDroplet() (int, any, error) {
	d, err := x.theDroplet()
	if err != nil {
		return 0, nil, err
	}
	var wanted request
	if err := x.read(&wanted); err != nil {
		return 0, nil, err
	}
	a, err := x.act(d, wanted)
	if err != nil {
		return 0, nil, err
	}
	return http.StatusCreated, object{"action": x.showAction(a)}, nil
}

// actOnDroplets starts an action on all Droplets with a tag.
func (x *exchange) actOnDroplets() (int, any, error) {
	some, err := x.byTag()
	if err != nil {
		return 0, nil, err
	}
	var wanted request
	if err := x.read(&wanted); err != nil {
		return 0, nil, err
	}
	shown := []any{}
	for _, d := range some {
		a, err := x.act(d, wanted)
		if err != nil {
			return 0, nil, err
		}
		shown = append(shown, x.showAction(a))
	}
	return http.StatusCreated, object{"actions": shown, "links": object{}}, nil
}

// act starts an action on a Droplet, if it can be done to it.
func (x *exchange) act(d *Droplet, wanted request) (*Action, error) {
	if x.state.pending("droplet", decimal(d.ID)) != nil {
		return nil, pendingEvent("droplet")
	}
	if err := x.possible(d, &wanted); err != nil {
		return nil, err
	}
	return x.begin(d.subject(), wanted, x.timing.Act)
}

// possible refuses an action that the state of the Droplet does not permit.
func (x *exchange) possible(d *Droplet, wanted *request) error {
	custom := false
	if i := x.state.image(d.Image); i != nil {
		custom = i.Type == "custom"
	}
	switch wanted.Type {
	case "power_on":
		return unless(d.Status != active, "Droplet is already powered on.")
	case "power_off", "shutdown", "reboot", "power_cycle":
		return unless(d.Status == active, "Droplet is currently powered off.")
	case "rename":
		_, err := dropletRequest{Name: wanted.Name}.named()
		return err
	case "snapshot":
		return unless(wanted.Name != "", "Name can't be blank")
	case "resize":
		return x.resizable(d, wanted.Size)
	case "rebuild", "restore":
		return x.rebuildable(d, wanted)
	case "enable_ipv6":
		return unless(!custom, "IPv6 is not supported for Droplets that are created from custom images.")
	case "enable_backups", "disable_backups", "change_backup_policy", "enable_private_networking":
		return nil
	case "password_reset":
		return unless(!custom, "Password reset is not supported for Droplets that are created from custom images.")
	}
	return unprocessable("The action type %q is not valid for this Droplet.", wanted.Type)
}

func unless(fine bool, message string) error {
	if fine {
		return nil
	}
	return unprocessable("%s", message)
}

func (x *exchange) resizable(d *Droplet, slug string) error {
	s, known := sizeBy(slug)
	switch {
	case !known:
		return unprocessable("You specified an invalid size for Droplet resize.")
	case d.Status != off:
		return unprocessable("Droplet must be powered off before it can be resized.")
	case s.Disk < d.Disk:
		return unprocessable("Size can not decrease size of Droplet's disk image")
	case s.Slug == d.Size:
		return unprocessable("Droplet is already of this size.")
	}
	return nil
}

// rebuildable resolves the image that a Droplet is to get, which has to be in its region and to fit its disk.
func (x *exchange) rebuildable(d *Droplet, wanted *request) error {
	i := x.usable(wanted.Image)
	switch {
	case i == nil || !slices.Contains(i.Regions, d.Region):
		return unprocessable("You specified an invalid image for Droplet rebuild.")
	case i.MinDisk > d.Disk:
		return unprocessable("Cannot create a droplet with a smaller disk (%dGB) than the image (%dGB)", d.Disk, i.MinDisk)
	}
	wanted.Image = reference(decimal(i.ID))
	return nil
}
