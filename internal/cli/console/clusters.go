package console

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"github.com/headgate-dev/headgate/internal/dialect"
)

// BindCluster adds the flag that chooses among clusters.
func BindCluster(cmd *cobra.Command, name *string, usage string) {
	cmd.Flags().StringVar(name, "cluster", "", usage)
}

// Clusters are those that units deploy to, as the dialects know them: the chosen one, which declares the units, and those that are
// registered there.
type Clusters struct {
	g       *Globals
	session *Session
	of      []dialect.Destined
	all     []dialect.Cluster
	// err is why there may be more.
	err error
}

// Clusters reads which clusters there are.
func (g *Globals) Clusters(ctx context.Context, client dynamic.Interface) *Clusters {
	c := &Clusters{g: g, session: NewSession(g, client)}
	for _, d := range g.Catalogue {
		of, is := d.(dialect.Destined)
		if !is {
			continue
		}
		known, err := of.Clusters(ctx, c.session)
		c.of, c.err = append(c.of, of), errors.Join(c.err, err)
		for _, one := range known {
			if !slices.ContainsFunc(c.all, func(other dialect.Cluster) bool { return other.Name == one.Name || other.Home && one.Home }) {
				c.all = append(c.all, one)
			}
		}
	}
	if len(c.all) == 0 {
		c.all = []dialect.Cluster{{Name: "in-cluster", Home: true}}
	}
	return c
}

// Several reports whether there is more than one. Where they cannot be listed, objects that name another one tell.
func (c *Clusters) Several(units []*unstructured.Unstructured) bool {
	if c.err == nil {
		return len(c.all) > 1
	}
	return slices.ContainsFunc(units, func(u *unstructured.Unstructured) bool { return c.Of(u) != c.Home() })
}

// Home is the name of the cluster that declares the units.
func (c *Clusters) Home() string { return c.all[0].Name }

// Of is the name of the cluster that what an object declares is in.
func (c *Clusters) Of(u *unstructured.Unstructured) string {
	for _, of := range c.of {
		if name := of.ClusterOf(u, c.all); name != "" {
			return name
		}
	}
	return c.Home()
}

// Named is the name of the cluster with the address, or the address.
func (c *Clusters) Named(server string) string {
	for _, one := range c.all {
		if one.Server == server {
			return one.Name
		}
	}
	return server
}

// Check is an error for a name that none of them has; the empty one chooses none.
func (c *Clusters) Check(name string) error {
	_, err := c.Choose(name)
	return err
}

// Choose are all of them, or the one with a name.
func (c *Clusters) Choose(name string) ([]dialect.Cluster, error) {
	if name == "" {
		return c.all, nil
	}
	names := make([]string, len(c.all))
	for i, one := range c.all {
		if one.Name == name {
			return []dialect.Cluster{one}, nil
		}
		names[i] = one.Name
	}
	if c.err != nil {
		return nil, fmt.Errorf("--cluster %s: %w", name, Unreachable(c.err))
	}
	return nil, Hint(fmt.Errorf("--cluster %s: there is no cluster with this name; there are %s", name, strings.Join(names, ", ")), "headgate get apps")
}

// Config is how one of them is reached.
func (c *Clusters) Config(one dialect.Cluster) (*rest.Config, error) {
	if one.Home {
		return c.g.RestConfig()
	}
	return remote(one)
}

// remote is how a cluster that is not the chosen one is reached.
func remote(c dialect.Cluster) (*rest.Config, error) {
	if c.Err != nil {
		return nil, c.Err
	}
	if c.Config == nil {
		return nil, fmt.Errorf("cluster %s: it is unknown how it is reached", c.Name)
	}
	return Dressed(rest.CopyConfig(c.Config)), nil
}
