package scenario

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"

	"github.com/headgate-dev/headgate/internal/kit"
)

// installed is a cluster on which controllers run as processes, with the rights that the chart gives them.
type installed struct {
	*fleet
	kubeconfig string
	// Ports that each replica has at its own address, as pods do.
	health, storage, metrics, receivers string
}

func newInstalled(t *testing.T, k *kit.Kit) *installed {
	t.Helper()
	i := &installed{fleet: newFleet(t, k), kubeconfig: kubeconfigOf(t, k.Own)}
	for _, port := range []*string{&i.health, &i.storage, &i.metrics, &i.receivers} {
		*port = sharedPort(t)
	}
	return i
}

// kubeconfigOf writes a kubeconfig for the account of a configuration.
func kubeconfigOf(t *testing.T, config *rest.Config) string {
	t.Helper()
	file := api.NewConfig()
	file.Clusters["c"] = &api.Cluster{Server: config.Host, CertificateAuthority: config.CAFile, CertificateAuthorityData: config.CAData}
	file.AuthInfos["u"] = &api.AuthInfo{Token: config.BearerToken}
	file.Contexts["x"] = &api.Context{Cluster: "c", AuthInfo: "u"}
	file.CurrentContext = "x"
	name := filepath.Join(t.TempDir(), "kubeconfig")
	if err := clientcmd.WriteToFile(*file, name); err != nil {
		t.Fatal(err)
	}
	return name
}

// Addresses of two replicas: each has the same ports at its own.
const (
	here  = "127.0.0.1"
	there = "127.0.0.2"
)

// lastPort is the last port that was handed out. The range lies below those that the kernel gives to listeners
// and connections which name none, so that no other process takes a port between its choice and its use.
var lastPort atomic.Int32

const firstPort, ports = 20000, 10000

// sharedPort is a port that is free at both addresses and was handed out to no other caller.
func sharedPort(t *testing.T) string {
	t.Helper()
	lastPort.CompareAndSwap(0, int32(os.Getpid()%ports))
	for range 200 {
		port := strconv.Itoa(firstPort + int(lastPort.Add(1))%ports)
		one, err := net.Listen("tcp", net.JoinHostPort(here, port))
		if err != nil {
			continue
		}
		two, err := net.Listen("tcp", net.JoinHostPort(there, port))
		_ = one.Close()
		if err == nil {
			_ = two.Close()
			return port
		}
	}
	t.Fatal("no port is free at two addresses")
	return ""
}

// replica is a controller that runs as a process.
type replica struct {
	*process
	of *installed
	ip string
}

// start starts a replica at an address, which serves all of Flux's groups when the arguments do not say which. The
// lease of one that is killed is short.
func (i *installed) start(t *testing.T, ip string, args ...string) *replica {
	t.Helper()
	if !slices.Contains(args, "--serve") {
		args = append(args, "--serve", "flux")
	}
	return &replica{of: i, ip: ip, process: runIn(t, "", append(os.Environ(), "POD_IP="+ip), append([]string{
		"controller", "--kubeconfig", i.kubeconfig, "--lease-duration", "3s",
		"--storage-path", t.TempDir(), "--storage-adv-url", "http://" + net.JoinHostPort(here, i.storage),
		"--health-addr", net.JoinHostPort(ip, i.health), "--storage-addr", net.JoinHostPort(ip, i.storage),
		"--metrics-addr", net.JoinHostPort(ip, i.metrics), "--receiver-addr", net.JoinHostPort(ip, i.receivers),
	}, args...)...)}
}

// ask sends a request to a port of the replica.
func (r *replica) ask(method, port, path string) (status int, body string) {
	r.t.Helper()
	q, err := http.NewRequestWithContext(r.t.Context(), method, "http://"+net.JoinHostPort(r.ip, port)+path, strings.NewReader("{}"))
	if err != nil {
		r.t.Fatal(err)
	}
	answer, err := http.DefaultClient.Do(q)
	if err != nil {
		return 0, err.Error()
	}
	defer func() { _ = answer.Body.Close() }()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		return 0, err.Error()
	}
	return answer.StatusCode, string(text)
}

// ready waits until /readyz answers with a status and a text.
func (r *replica) ready(status int, text string) {
	r.t.Helper()
	eventually(r.t, fmt.Sprintf("/readyz of %s is %d with %q", r.ip, status, text), func() (bool, string) {
		select {
		case <-r.ended:
			r.t.Fatalf("the replica at %s ended", r.ip)
		default:
		}
		got, body := r.ask(http.MethodGet, r.of.health, "/readyz")
		return got == status && strings.Contains(body, text), fmt.Sprintf("%d %s", got, body)
	})
}

// log is what the replica logged. Every line has to be an object with a time, a level and a message.
func (r *replica) log() []map[string]any {
	r.t.Helper()
	var entries []map[string]any
	text := r.output.String()
	text = text[:strings.LastIndex(text, "\n")+1]
	for line := range strings.Lines(text) {
		entry := map[string]any{}
		if err := json.Unmarshal([]byte(line), &entry); err != nil {
			r.t.Errorf("a line of the log is no object: %q", line)
			continue
		}
		for _, key := range []string{"ts", "level", "msg"} {
			if value, is := entry[key].(string); !is || value == "" {
				r.t.Errorf("a line of the log has no %s: %q", key, line)
			}
		}
		entries = append(entries, entry)
	}
	return entries
}

// tellsOf reports whether the replica logged something of units that have a name.
func (r *replica) tellsOf(name string) bool {
	for _, entry := range r.log() {
		if entry["name"] == name {
			return true
		}
	}
	return false
}
