package controlplane

import (
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
)

// storageClass is the default class, as most clusters have one.
const storageClass = "standard"

// simulator does what a cloud would do: volumes for claims, addresses for load balancers and for what an ingress controller serves.
type simulator struct {
	client kubernetes.Interface
	queue  workqueue.TypedRateLimitingInterface[any]
	claims corelisters.PersistentVolumeClaimLister
}

// simulate starts the simulator; it works on events only and ends with ctx.
func simulate(ctx context.Context, config *rest.Config) error {
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return fmt.Errorf("creating a client for the simulated cloud: %w", err)
	}
	s := &simulator{
		client: client,
		queue:  workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[any]()),
	}
	if err := s.defaultClass(ctx); err != nil {
		return err
	}
	factory := informers.NewSharedInformerFactory(client, 0)
	handler := cache.ResourceEventHandlerFuncs{
		AddFunc:    func(obj any) { s.offer(obj) },
		UpdateFunc: func(_, obj any) { s.offer(obj) },
	}
	s.claims = factory.Core().V1().PersistentVolumeClaims().Lister()
	for _, informer := range []cache.SharedIndexInformer{
		factory.Core().V1().PersistentVolumeClaims().Informer(), factory.Core().V1().Services().Informer(),
		factory.Storage().V1().StorageClasses().Informer(), factory.Networking().V1().Ingresses().Informer(),
	} {
		if _, err := informer.AddEventHandler(handler); err != nil {
			return fmt.Errorf("watching for the simulated cloud: %w", err)
		}
	}
	factory.Start(ctx.Done())
	go func() {
		<-ctx.Done()
		s.queue.ShutDown()
	}()
	go s.run(ctx)
	return nil
}

func (s *simulator) defaultClass(ctx context.Context) error {
	binding, reclaim := storagev1.VolumeBindingImmediate, corev1.PersistentVolumeReclaimDelete
	_, err := s.client.StorageV1().StorageClasses().Create(ctx, &storagev1.StorageClass{
		ObjectMeta: metav1.ObjectMeta{Name: storageClass, Annotations: map[string]string{
			"storageclass.kubernetes.io/is-default-class": "true",
		}},
		Provisioner: "headgate.dev/simulated", VolumeBindingMode: &binding, ReclaimPolicy: &reclaim,
	}, metav1.CreateOptions{})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("creating the default storage class: %w", err)
	}
	return nil
}

// volume, address and entry are what the queue holds: objects that lack one.
type (
	volume  struct{ namespace, name string }
	address struct{ namespace, name string }
	entry   struct{ namespace, name string }
)

func (s *simulator) offer(obj any) {
	switch o := obj.(type) {
	case *corev1.PersistentVolumeClaim:
		if o.Status.Phase == corev1.ClaimPending && o.Spec.VolumeName == "" && o.DeletionTimestamp == nil {
			s.queue.Add(volume{o.Namespace, o.Name})
		}
	case *corev1.Service:
		if o.Spec.Type == corev1.ServiceTypeLoadBalancer && len(o.Status.LoadBalancer.Ingress) == 0 {
			s.queue.Add(address{o.Namespace, o.Name})
		}
	case *networkingv1.Ingress:
		if len(o.Status.LoadBalancer.Ingress) == 0 && o.DeletionTimestamp == nil {
			s.queue.Add(entry{o.Namespace, o.Name})
		}
	case *storagev1.StorageClass:
		s.offerClass(o.Name)
	}
}

// offerClass takes up the claims again that waited for a class.
func (s *simulator) offerClass(name string) {
	waiting, err := s.claims.List(labels.Everything())
	if err != nil {
		return
	}
	for _, claim := range waiting {
		if claim.Spec.StorageClassName != nil && *claim.Spec.StorageClassName == name {
			s.offer(claim)
		}
	}
}

func (s *simulator) run(ctx context.Context) {
	for {
		item, stop := s.queue.Get()
		if stop {
			return
		}
		var err error
		switch i := item.(type) {
		case volume:
			err = s.provision(ctx, i)
		case address:
			err = s.balance(ctx, i)
		case entry:
			err = s.enter(ctx, i)
		}
		if err != nil && ctx.Err() == nil && !apierrors.IsNotFound(err) {
			s.queue.AddRateLimited(item)
		} else {
			s.queue.Forget(item)
		}
		s.queue.Done(item)
	}
}

// provision makes the volume that a claim asks for; the volume binder does the rest. A claim of a
// class that does not exist stays pending, as it would elsewhere.
func (s *simulator) provision(ctx context.Context, v volume) error {
	claim, err := s.client.CoreV1().PersistentVolumeClaims(v.namespace).Get(ctx, v.name, metav1.GetOptions{})
	if err != nil || claim.Spec.VolumeName != "" {
		return err
	}
	class := ""
	if claim.Spec.StorageClassName != nil {
		class = *claim.Spec.StorageClassName
	}
	if class != "" {
		if _, err := s.client.StorageV1().StorageClasses().Get(ctx, class, metav1.GetOptions{}); err != nil {
			if apierrors.IsNotFound(err) {
				return fmt.Errorf("waiting for storage class %q", class)
			}
			return err
		}
	}
	mode := corev1.PersistentVolumeFilesystem
	if claim.Spec.VolumeMode != nil {
		mode = *claim.Spec.VolumeMode
	}
	_, err = s.client.CoreV1().PersistentVolumes().Create(ctx, &corev1.PersistentVolume{
		ObjectMeta: metav1.ObjectMeta{Name: "pvc-" + string(claim.UID), Labels: map[string]string{"headgate.dev/simulated": "true"}},
		Spec: corev1.PersistentVolumeSpec{
			Capacity:    corev1.ResourceList{corev1.ResourceStorage: *claim.Spec.Resources.Requests.Storage()},
			AccessModes: claim.Spec.AccessModes, StorageClassName: class, VolumeMode: &mode,
			PersistentVolumeReclaimPolicy: corev1.PersistentVolumeReclaimRetain,
			PersistentVolumeSource: corev1.PersistentVolumeSource{
				HostPath: &corev1.HostPathVolumeSource{Path: "/simulated/" + string(claim.UID)},
			},
			ClaimRef: &corev1.ObjectReference{
				Kind: "PersistentVolumeClaim", APIVersion: "v1", Namespace: claim.Namespace, Name: claim.Name, UID: claim.UID,
			},
		},
	}, metav1.CreateOptions{})
	if apierrors.IsAlreadyExists(err) {
		return nil
	}
	return err
}

// balance gives a load balancer an address, the same one each time.
func (s *simulator) balance(ctx context.Context, a address) error {
	patch, err := statusAt(map[string]any{"ip": addressOf(a.namespace + "/" + a.name), "ipMode": "VIP"})
	if err != nil {
		return err
	}
	_, err = s.client.CoreV1().Services(a.namespace).Patch(ctx, a.name, types.MergePatchType, patch, metav1.PatchOptions{}, "status")
	return err
}

// enter gives an Ingress the address of an ingress controller, which is the same one for all of a class.
func (s *simulator) enter(ctx context.Context, e entry) error {
	ingress, err := s.client.NetworkingV1().Ingresses(e.namespace).Get(ctx, e.name, metav1.GetOptions{})
	if err != nil || len(ingress.Status.LoadBalancer.Ingress) > 0 {
		return err
	}
	class := ""
	if ingress.Spec.IngressClassName != nil {
		class = *ingress.Spec.IngressClassName
	}
	patch, err := statusAt(map[string]any{"ip": addressOf("ingress class " + class)})
	if err != nil {
		return err
	}
	_, err = s.client.NetworkingV1().Ingresses(e.namespace).Patch(ctx, e.name, types.MergePatchType, patch, metav1.PatchOptions{}, "status")
	return err
}

// addressOf is an address of the range for benchmarks, which is never routed.
func addressOf(name string) string {
	h := fnv.New32a()
	_, _ = h.Write([]byte(name))
	sum := h.Sum32()
	return fmt.Sprintf("198.18.%d.%d", sum>>8%250+1, sum%250+1)
}

// statusAt is the patch by which an object can be reached at a place.
func statusAt(place map[string]any) ([]byte, error) {
	patch, err := json.Marshal(map[string]any{"status": map[string]any{"loadBalancer": map[string]any{"ingress": []any{place}}}})
	if err != nil {
		return nil, fmt.Errorf("encoding an address: %w", err)
	}
	return patch, nil
}
