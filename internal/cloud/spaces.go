package cloud

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// Spaces is the path below which files are kept, as a bucket that anybody may read keeps them: an image is imported from a URL, and a
// simulation needs one that is near. PUT with the token, as bearer or as the password of a login, stores a file; GET and HEAD read it.
const Spaces = "/spaces/"

// maxFile is how large a file may be that is stored.
const maxFile = 4 << 30

// spacesDir is where the files are, below the directory of the cloud.
const spacesDir = "spaces"

// errName is returned for names of files that leave their bucket, or are in none.
var errName = errors.New("want " + Spaces + "BUCKET/NAME without empty or hidden parts")

// space answers a request for a file.
func (c *Cloud) space(w http.ResponseWriter, r *http.Request) {
	name, err := fileName(r.URL.Path)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	if c.files == nil {
		http.Error(w, "this cloud has no directory to keep files in", http.StatusNotImplemented)
		return
	}
	switch r.Method {
	case http.MethodGet, http.MethodHead:
		http.ServeFileFS(w, r, c.files.FS(), name)
	case http.MethodPut:
		c.put(w, r, name)
	default:
		http.Error(w, "files are read and stored", http.StatusMethodNotAllowed)
	}
}

// put stores a file in one step, so that no one reads half of one.
func (c *Cloud) put(w http.ResponseWriter, r *http.Request, name string) {
	if !c.writes(r) {
		http.Error(w, "only the token of the account may store files", http.StatusForbidden)
		return
	}
	if err := c.keep(name, http.MaxBytesReader(w, r.Body, maxFile)); err != nil {
		c.log.Error(err, "a file was not stored", "file", name)
		http.Error(w, "the file was not stored", http.StatusInternalServerError)
	}
}

func (c *Cloud) keep(name string, content io.Reader) error {
	if err := c.files.MkdirAll(path.Dir(name), 0o700); err != nil {
		return err
	}
	part := path.Join(path.Dir(name), "."+path.Base(name)+"."+requestID())
	file, err := c.files.OpenFile(part, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(file, content)
	if err = errors.Join(err, file.Close()); err == nil {
		err = c.files.Rename(part, name)
	}
	if err != nil {
		err = errors.Join(err, c.files.Remove(part))
	}
	return err
}

// writes reports whether a request has the token that gives access to everything.
func (c *Cloud) writes(r *http.Request) bool {
	token, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	if _, password, has := r.BasicAuth(); has {
		token = password
	}
	return same(token, c.token)
}

// fileName is the name of a file below the directory of files, by the path of a URL.
func fileName(at string) (string, error) {
	name := strings.TrimPrefix(at, Spaces)
	bucket, rest, _ := strings.Cut(name, "/")
	if bucket == "" || rest == "" || !fs.ValidPath(name) || strings.Contains("/"+name, "/.") {
		return "", errName
	}
	return name, nil
}

// openFiles opens the directory of files below that of the cloud, nil if there is none.
func openFiles(dir string) (*os.Root, error) {
	if dir == "" {
		return nil, nil
	}
	at := filepath.Join(dir, spacesDir)
	if err := os.MkdirAll(at, 0o700); err != nil {
		return nil, fmt.Errorf("creating the directory of the files of the simulated cloud: %w", err)
	}
	root, err := os.OpenRoot(at)
	if err != nil {
		return nil, fmt.Errorf("opening the directory of the files of the simulated cloud: %w", err)
	}
	return root, nil
}
