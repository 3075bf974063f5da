package console

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/dynamic"

	"github.com/headgate-dev/headgate/chart/similar"
)

// unnamed is the error for a NAME that is the word for a kind, and of which there is not an object.
func (r Reference) unnamed(err error) error {
	return Hint(&absentError{fmt.Sprintf("the name is missing: %q is a kind, and there is no %s with this name", r.Name, r.Kind), err}, "headgate get %s", r.Name)
}

// Missing is Absent for an object that was not requested from the server by its name: no list has it. The verb is that of the hint.
func (r Reference) Missing(ctx context.Context, c dynamic.Interface, verb string) error {
	err := apierrors.NewNotFound(r.Resource.GroupResource(), r.Name)
	if r.bare {
		return r.unnamed(err)
	}
	return r.Absent(ctx, c, verb, err)
}

// Exists reports whether the object is there, in any namespace where none is named.
func (r Reference) Exists(ctx context.Context, c dynamic.Interface) (bool, error) {
	list, err := r.List(ctx, c, r.Namespace, true)
	for _, u := range list {
		if u.GetName() == r.Name {
			return true, nil
		}
	}
	return false, err
}

// CheckNamespace is an error for a namespace that does not exist. An account that may not list namespaces is not told.
func CheckNamespace(ctx context.Context, c dynamic.Interface, namespace, verb string) error {
	list, err := c.Resource(corev1.SchemeGroupVersion.WithResource("namespaces")).List(ctx, metav1.ListOptions{})
	if err != nil || namespace == "" {
		return nil
	}
	names := make([]string, len(list.Items))
	for i := range list.Items {
		names[i] = list.Items[i].GetName()
	}
	if slices.Contains(names, namespace) {
		return nil
	}
	text, hint := fmt.Sprintf("namespace %q does not exist", namespace), "headgate "+verb
	if near := similar.Closest(namespace, names); near != "" {
		text, hint = text+fmt.Sprintf("; did you mean %q?", near), hint+" -n "+near
	}
	return Hint(&absentError{text, apierrors.NewNotFound(corev1.Resource("namespaces"), namespace)}, "%s", hint)
}

// DidYouMean is what follows the name of something that does not exist: the nearest of those that do, or nothing.
func DidYouMean(name string, names []string) string {
	if near := similar.Closest(name, names); near != "" {
		return fmt.Sprintf("; did you mean %q?", near)
	}
	return ""
}

// UnknownOutput is the error for a value of -o that a command does not have.
func UnknownOutput(format string, values ...string) error {
	last := len(values) - 1
	list := values[last]
	if last > 0 {
		list = strings.Join(values[:last], ", ") + " or " + list
	}
	return fmt.Errorf("unknown output %q; use %s", format, list)
}

// CheckOutput is the error for an output that is not one of some values; the empty one is text.
func CheckOutput(format string, values ...string) error {
	if format == "" || slices.Contains(values, format) {
		return nil
	}
	return UnknownOutput(format, values...)
}

// names reports whether arguments name a unit without a directory before it: KIND/NAME, or KIND NAME.
func (o *OfflineOptions) names(args []string) bool {
	if exists(args[0]) || !strings.Contains(Joined(args), "/") {
		return false
	}
	_, err := o.ParseReference(Joined(args), o.Namespace)
	return err == nil
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// Split reads [PATH] [KIND/NAME | KIND NAME]: what names a unit, and is no directory, stands alone.
func (o *OfflineOptions) Split(args []string) (dir, unit string) {
	switch {
	case len(args) == 0:
		return "", ""
	case o.names(args):
		return "", Joined(args)
	}
	return args[0], Joined(args[1:])
}

// Aim is Split for a command about a repository, which is that of --folder or of the current directory where there is no PATH.
func (o *OfflineOptions) Aim(args []string) {
	dir, unit := o.Split(args)
	o.Dir, o.Only = orWord(dir, orWord(o.Folder, ".")), unit
}
