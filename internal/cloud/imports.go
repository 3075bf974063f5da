package cloud

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"time"

	"github.com/headgate-dev/headgate/internal/cloud/disk"
	"github.com/headgate-dev/headgate/internal/egress"
	"github.com/headgate-dev/headgate/internal/guard"
)

// transfer starts the transfer of an image. The cloud is locked, or not used yet.
func (c *Cloud) transfer(id int) {
	c.started.Add(1)
	select {
	case c.imports <- id:
	case <-c.ended:
		c.started.Done()
	}
}

// transfers runs those that are started, until ctx ends, and no file is needed any more.
func (c *Cloud) transfers(ctx context.Context) {
	if c.files != nil {
		defer func() { _ = c.files.Close() }()
	}
	for {
		select {
		case id := <-c.imports:
			go func() {
				defer c.started.Done()
				c.guard.Run("the import of an image", func() { c.run(ctx, id) })
			}()
		case <-ctx.Done():
			return
		}
	}
}

// longestTransfer is when the transfer of an image has failed.
const longestTransfer = time.Hour

// run fetches an image and records what it found. One that is cut short by the end of the process starts over in the next.
func (c *Cloud) run(ctx context.Context, id int) {
	c.mu.Lock()
	i := c.state.image(id)
	address := i.Import.URL
	c.mu.Unlock()
	limited, cancel := context.WithTimeout(ctx, longestTransfer)
	defer cancel()
	var result disk.Image
	err := guard.Catch(func() (err error) {
		result, err = c.fetch(limited, address)
		return err
	})
	if ctx.Err() != nil {
		return
	}
	failed := c.change(func(*State) error {
		i.Import.Fetched, i.Import.Found = true, result
		if err != nil {
			i.Import.Error = err.Error()
		}
		return nil
	})
	if failed != nil {
		c.log.Error(failed, "the import of an image was not stored", "image", id)
	}
}

// fetch reads an image as the importer of DigitalOcean does: the server has to answer HEAD first.
func (c *Cloud) fetch(ctx context.Context, address string) (disk.Image, error) {
	head, err := c.open(ctx, http.MethodHead, address)
	if err != nil {
		return disk.Image{}, err
	}
	head.Close()
	content, err := c.open(ctx, http.MethodGet, address)
	if err != nil {
		return disk.Image{}, err
	}
	defer content.Close()
	return disk.Inspect(content)
}

// open requests a URL. Its query may be a signature, and is in no error.
func (c *Cloud) open(ctx context.Context, method, address string) (io.ReadCloser, error) {
	q, err := http.NewRequestWithContext(ctx, method, address, nil)
	if err != nil {
		return nil, fmt.Errorf("We could not download your image: %s is not a URL", withoutQuery(address))
	}
	answer, err := c.web.Do(q)
	if errors.Is(err, egress.ErrRefused) {
		return nil, fmt.Errorf("We could not download your image: %s is at an address that images are not imported from", withoutQuery(address))
	}
	if err != nil {
		return nil, fmt.Errorf("We could not download your image: %s %s got no answer", method, withoutQuery(address))
	}
	if answer.StatusCode != http.StatusOK {
		answer.Body.Close()
		return nil, fmt.Errorf("We could not download your image: %s %s answered %s", method, withoutQuery(address), answer.Status)
	}
	return answer.Body, nil
}

// land moves the import of an image on.
func (i *Image) land(now time.Time) {
	from := i.Import
	if from == nil || i.Deleted || i.Status == available || i.Status == deleted {
		return
	}
	if !now.Before(from.Pending) {
		i.Status = pending
	}
	if now.Before(from.Ready) || !from.Fetched {
		return
	}
	if from.Error != "" {
		i.Status, i.Error = deleted, from.Error
		return
	}
	i.Status, i.Regions = available, []string{from.Region}
	i.MinDisk = max(1, int(math.Ceil(gigabytes(max(from.Found.Disk, from.Found.Bytes)))))
	i.Gigabytes = max(0.01, math.Round(gigabytes(from.Found.Bytes)*100)/100)
}

func gigabytes(bytes int64) float64 { return float64(bytes) / (1 << 30) }
