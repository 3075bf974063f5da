package cloud

import (
	"net/http"
	"slices"
)

// routes are those of the API.
func (c *Cloud) routes() *http.ServeMux {
	mux := http.NewServeMux()
	for pattern, e := range map[string]endpoint{
		"GET /v2/account": (*exchange).account,
		"GET /v2/regions": (*exchange).listRegions,
		"GET /v2/sizes":   (*exchange).listSizes,

		"GET /v2/account/keys":          (*exchange).listKeys,
		"POST /v2/account/keys":         (*exchange).createKey,
		"GET /v2/account/keys/{key}":    (*exchange).getKey,
		"PUT /v2/account/keys/{key}":    (*exchange).renameKey,
		"DELETE /v2/account/keys/{key}": (*exchange).deleteKey,

		"GET /v2/tags":                    (*exchange).listTags,
		"POST /v2/tags":                   (*exchange).createTag,
		"GET /v2/tags/{tag}":              (*exchange).getTag,
		"DELETE /v2/tags/{tag}":           (*exchange).deleteTag,
		"POST /v2/tags/{tag}/resources":   (*exchange).tagResources,
		"DELETE /v2/tags/{tag}/resources": (*exchange).untagResources,

		"GET /v2/images":                       (*exchange).listImages,
		"POST /v2/images":                      (*exchange).createImage,
		"GET /v2/images/{image}":               (*exchange).getImage,
		"PUT /v2/images/{image}":               (*exchange).updateImage,
		"DELETE /v2/images/{image}":            (*exchange).deleteImage,
		"GET /v2/images/{image}/actions":       (*exchange).listImageActions,
		"POST /v2/images/{image}/actions":      (*exchange).actOnImage,
		"GET /v2/images/{image}/actions/{act}": (*exchange).getImageAction,

		"GET /v2/droplets":                         (*exchange).listDroplets,
		"POST /v2/droplets":                        (*exchange).createDroplets,
		"DELETE /v2/droplets":                      (*exchange).deleteDroplets,
		"GET /v2/droplets/{droplet}":               (*exchange).getDroplet,
		"DELETE /v2/droplets/{droplet}":            (*exchange).deleteDroplet,
		"GET /v2/droplets/{droplet}/snapshots":     (*exchange).listSnapshots,
		"GET /v2/droplets/{droplet}/backups":       (*exchange).listBackups,
		"GET /v2/droplets/{droplet}/actions":       (*exchange).listDropletActions,
		"POST /v2/droplets/{droplet}/actions":      (*exchange).actOnDroplet,
		"POST /v2/droplets/actions":                (*exchange).actOnDroplets,
		"GET /v2/droplets/{droplet}/actions/{act}": (*exchange).getDropletAction,

		"GET /v2/reserved_ips":                    (*exchange).listReserved,
		"POST /v2/reserved_ips":                   (*exchange).createReserved,
		"GET /v2/reserved_ips/{ip}":               (*exchange).getReserved,
		"DELETE /v2/reserved_ips/{ip}":            (*exchange).deleteReserved,
		"GET /v2/reserved_ips/{ip}/actions":       (*exchange).listReservedActions,
		"POST /v2/reserved_ips/{ip}/actions":      (*exchange).actOnReserved,
		"GET /v2/reserved_ips/{ip}/actions/{act}": (*exchange).getReservedAction,

		"GET /v2/actions":       (*exchange).listActions,
		"GET /v2/actions/{act}": (*exchange).getAction,
	} {
		mux.Handle(pattern, e)
	}
	return mux
}

// What an account may have.
const (
	dropletLimit  = 250
	reservedLimit = 100
)

func (x *exchange) account() (int, any, error) {
	return http.StatusOK, object{"account": object{
		"droplet_limit": dropletLimit, "floating_ip_limit": reservedLimit, "reserved_ip_limit": reservedLimit, "volume_limit": 100,
		"email": "simulated@headgate.example", "name": "Simulated account", "uuid": "b6fr89dbf6d9156cace5f3c78dc9851d957381ef",
		"email_verified": true, "status": "active", "status_message": "",
		"team": object{"name": "Simulated team", "uuid": "5df3e3004a17e242b7c20ca6c9fc25b701a47ece"},
	}}, nil
}

func (x *exchange) listRegions() (int, any, error) {
	return page(x, "regions", regions(), func(r region) any { return r })
}

func (x *exchange) listSizes() (int, any, error) {
	return page(x, "sizes", sizes(), func(s size) any { return s })
}

// seen are those of a list that are visible by now.
func seen[T interface{ visible(x *exchange) bool }](x *exchange, all []T) []T {
	return slices.DeleteFunc(slices.Clone(all), func(one T) bool { return !one.visible(x) })
}

func (d *Droplet) visible(x *exchange) bool    { return !x.now.Before(d.Visible) }
func (i *Image) visible(x *exchange) bool      { return !i.Deleted && !x.now.Before(i.Visible) }
func (k *Key) visible(x *exchange) bool        { return !x.now.Before(k.Visible) }
func (r *ReservedIP) visible(x *exchange) bool { return !x.now.Before(r.Visible) }
