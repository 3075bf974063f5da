package controlplane

import (
	"sync"
	"time"

	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/informers/networking"
	networkinginformers "k8s.io/client-go/informers/networking/v1"
	networkinglisters "k8s.io/client-go/listers/networking/v1"
)

// The API server counts all addresses of Services, twice, whenever it has allocated one, for two of its gauges: with 5,000 Services that is a
// tenth of all that it does. Here a list of them serves for a second. Whether an address is free is decided by creating it, not by a list.
type (
	countedRarely struct {
		informers.SharedInformerFactory
	}
	countedRarelyNetworking struct{ networking.Interface }
	countedRarelyV1         struct{ networkinginformers.Interface }
	countedRarelyAddresses  struct {
		networkinginformers.IPAddressInformer
	}
)

// Networking is the group of addresses.
func (c countedRarely) Networking() networking.Interface {
	return countedRarelyNetworking{c.SharedInformerFactory.Networking()}
}

// V1 is the version of addresses.
func (c countedRarelyNetworking) V1() networkinginformers.Interface {
	return countedRarelyV1{c.Interface.V1()}
}

// IPAddresses is the informer of addresses.
func (c countedRarelyV1) IPAddresses() networkinginformers.IPAddressInformer {
	return countedRarelyAddresses{c.Interface.IPAddresses()}
}

// Lister lists addresses.
func (c countedRarelyAddresses) Lister() networkinglisters.IPAddressLister {
	return &rareLists{IPAddressLister: c.IPAddressInformer.Lister(), known: map[string]addressList{}}
}

// listAge is how old a list may be.
const listAge = time.Second

// rareLists lists addresses once in a while.
type rareLists struct {
	networkinglisters.IPAddressLister

	mu    sync.Mutex
	known map[string]addressList
}

// addressList is a list, and when it was made.
type addressList struct {
	all []*networkingv1.IPAddress
	at  time.Time
}

// List lists the addresses with some labels, as of a moment ago.
func (l *rareLists) List(selector labels.Selector) ([]*networkingv1.IPAddress, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	key := selector.String()
	if last, known := l.known[key]; known && time.Since(last.at) < listAge {
		return last.all, nil
	}
	all, err := l.IPAddressLister.List(selector)
	if err != nil {
		return nil, err
	}
	l.known[key] = addressList{all, time.Now()}
	return all, nil
}
