package pods_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/retry"
)

// kubelet runs the containers of pods as processes of this machine, with directories as volumes, and writes what a kubelet writes into their status. Paths of mounts
// in commands are replaced by the directories. The binary of this test is the one of the engine's image.
type kubelet struct {
	t      *testing.T
	client kubernetes.Interface
	dir    string
	all    sync.WaitGroup

	mu   sync.Mutex
	pods map[string]*machine
}

// engineImage is the one whose program is this binary.
const engineImage = "headgate:test"

// machine is one pod that runs.
type machine struct {
	*kubelet
	pod *corev1.Pod
	dir string

	mu        sync.Mutex
	processes map[string]*exec.Cmd
	// ending is the end that something outside the pod requested.
	ending *corev1.PodStatus
	gone   bool
}

func startKubelet(ctx context.Context, t *testing.T, client kubernetes.Interface) *kubelet {
	k := &kubelet{t: t, client: client, dir: t.TempDir(), pods: map[string]*machine{}}
	stream, err := client.CoreV1().Pods("").Watch(ctx, metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	k.all.Go(func() {
		for event := range stream.ResultChan() {
			if pod, is := event.Object.(*corev1.Pod); is {
				k.sync(ctx, pod)
			}
		}
	})
	t.Cleanup(k.all.Wait)
	t.Cleanup(stream.Stop)
	return k
}

// sync takes a pod that appeared or changed. One that is to be unschedulable says so in its scheduler.
func (k *kubelet) sync(ctx context.Context, pod *corev1.Pod) {
	k.mu.Lock()
	defer k.mu.Unlock()
	m := k.pods[string(pod.UID)]
	switch {
	case pod.Spec.SchedulerName == "nobody":
	case m == nil:
		m = &machine{kubelet: k, pod: pod, dir: filepath.Join(k.dir, string(pod.UID)), processes: map[string]*exec.Cmd{}}
		k.pods[string(pod.UID)] = m
		k.all.Go(func() { m.run(ctx) })
	case pod.DeletionTimestamp != nil:
		m.end(syscall.SIGTERM, &corev1.PodStatus{}, true)
	case pod.Spec.ActiveDeadlineSeconds != nil && *pod.Spec.ActiveDeadlineSeconds == 1:
		m.end(syscall.SIGTERM, &corev1.PodStatus{Reason: "DeadlineExceeded", Message: "Pod was active on the node longer than the specified deadline"}, false)
	}
}

// evict ends a pod as a kubelet does whose machine has no memory left.
func (k *kubelet) evict(uid string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.pods[uid].end(syscall.SIGKILL, &corev1.PodStatus{Reason: "Evicted", Message: "The node was low on resource: memory."}, false)
}

// end ends the program of a pod, for a reason of the pod as a whole.
func (m *machine) end(by syscall.Signal, why *corev1.PodStatus, gone bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.gone = m.gone || gone
	if m.ending == nil {
		m.ending = why
	}
	if main := m.processes["main"]; main != nil {
		_ = main.Process.Signal(by)
	}
}

func (m *machine) run(ctx context.Context) {
	api := m.client.CoreV1().Pods(m.pod.Namespace)
	binding := &corev1.Binding{ObjectMeta: metav1.ObjectMeta{Name: m.pod.Name}, Target: corev1.ObjectReference{Kind: "Node", Name: "machine"}}
	if err := api.Bind(ctx, binding, metav1.CreateOptions{}); err != nil {
		m.t.Errorf("binding pod %s: %v", m.pod.Name, err)
		return
	}
	status := &corev1.PodStatus{Phase: corev1.PodRunning}
	var printer *exec.Cmd
	for i := range m.pod.Spec.InitContainers {
		c := &m.pod.Spec.InitContainers[i]
		process := m.start(c)
		if c.RestartPolicy != nil {
			printer = process
			continue
		}
		state := m.wait(c, process)
		status.InitContainerStatuses = append(status.InitContainerStatuses, state)
		if state.State.Terminated.ExitCode != 0 {
			status.Phase = corev1.PodFailed
			m.write(ctx, status)
			return
		}
	}
	main := &m.pod.Spec.Containers[0]
	process := m.start(main)
	status.ContainerStatuses = []corev1.ContainerStatus{{Name: "main", State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: metav1.Now()}}}}
	m.write(ctx, status)
	state := m.wait(main, process)
	status.ContainerStatuses = []corev1.ContainerStatus{state}
	if printer != nil && printer.Process != nil {
		_ = printer.Process.Signal(syscall.SIGTERM)
		status.InitContainerStatuses = append(status.InitContainerStatuses, m.wait(&m.pod.Spec.InitContainers[1], printer))
	}
	status.Phase = corev1.PodSucceeded
	if state.State.Terminated.ExitCode != 0 {
		status.Phase = corev1.PodFailed
	}
	m.mu.Lock()
	if m.ending != nil {
		status.Phase, status.Reason, status.Message = corev1.PodFailed, m.ending.Reason, m.ending.Message
	}
	gone := m.gone
	m.mu.Unlock()
	m.write(ctx, status)
	if gone {
		now := int64(0)
		_ = api.Delete(ctx, m.pod.Name, metav1.DeleteOptions{GracePeriodSeconds: &now})
	}
}

func (m *machine) write(ctx context.Context, status *corev1.PodStatus) {
	err := retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		pod, err := m.client.CoreV1().Pods(m.pod.Namespace).Get(ctx, m.pod.Name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		pod.Status = *status
		_, err = m.client.CoreV1().Pods(m.pod.Namespace).UpdateStatus(ctx, pod, metav1.UpdateOptions{})
		return err
	})
	if err != nil && ctx.Err() == nil {
		m.t.Errorf("writing the status of pod %s: %v", m.pod.Name, err)
	}
}

func (m *machine) file(container, name string) string {
	return filepath.Join(m.dir, container+"."+name)
}

func logOf(dir, uid, container string) string { return filepath.Join(dir, uid, container+".log") }

// start starts a container.
func (m *machine) start(c *corev1.Container) *exec.Cmd {
	paths := []string{"/dev/termination-log", m.file(c.Name, "message")}
	for _, mount := range c.VolumeMounts {
		volume := filepath.Join(m.dir, "volumes", mount.Name)
		if err := os.MkdirAll(volume, 0o777); err != nil {
			m.t.Error(err)
		}
		paths = append(paths, mount.MountPath, filepath.Join(volume, mount.SubPath))
		if strings.HasPrefix(mount.MountPath, os.TempDir()) {
			// Scripts name it, too.
			if err := os.Symlink(filepath.Join(volume, mount.SubPath), mount.MountPath); err != nil {
				m.t.Error(err)
			}
		}
	}
	replace := strings.NewReplacer(paths...)
	command := slices.Concat(c.Command, c.Args)
	if c.Image == engineImage {
		command = append([]string{os.Args[0]}, command...)
	}
	args := make([]string, len(command))
	for i, arg := range command {
		args[i] = replace.Replace(arg)
	}
	process := exec.Command(args[0], args[1:]...)
	process.Env = []string{"PATH=" + os.Getenv("PATH")}
	for _, one := range c.Env {
		if one.ValueFrom != nil {
			ref := one.ValueFrom.SecretKeyRef
			secret, err := m.client.CoreV1().Secrets(m.pod.Namespace).Get(m.t.Context(), ref.Name, metav1.GetOptions{})
			if err != nil {
				m.t.Error(err)
				continue
			}
			one.Value = string(secret.Data[ref.Key])
		}
		process.Env = append(process.Env, one.Name+"="+one.Value)
	}
	log, err := os.Create(m.file(c.Name, "log"))
	if err != nil {
		m.t.Error(err)
		return process
	}
	defer log.Close()
	process.Stdout, process.Stderr = log, log
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := process.Start(); err != nil {
		m.t.Errorf("starting container %s: %v", c.Name, err)
		return process
	}
	m.processes[c.Name] = process
	if m.ending != nil && c.Name == "main" {
		_ = process.Process.Kill()
	}
	return process
}

// wait waits for the end of a container.
func (m *machine) wait(c *corev1.Container, process *exec.Cmd) corev1.ContainerStatus {
	_ = process.Wait()
	message, err := os.ReadFile(m.file(c.Name, "message"))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		m.t.Error(err)
	}
	const most = 4096
	code := int32(128) // as of a container that did not start
	if state := process.ProcessState; state != nil {
		code = int32(state.ExitCode())
		if status, is := state.Sys().(syscall.WaitStatus); is && status.Signaled() {
			code = 128 + int32(status.Signal())
		}
	}
	reason := "Completed"
	if code != 0 {
		reason = "Error"
	}
	return corev1.ContainerStatus{Name: c.Name, State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{
		ExitCode: code, Reason: reason, Message: string(message[:min(most, len(message))]), FinishedAt: metav1.Now(),
	}}}
}

// withLogs is a configuration whose requests for logs are answered from the files of a kubelet: the API server would ask the machine of the pod.
func (k *kubelet) withLogs(config *rest.Config) *rest.Config {
	config = rest.CopyConfig(config)
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { return &logs{k, next} })
	return config
}

type logs struct {
	*kubelet
	next http.RoundTripper
}

func (l *logs) RoundTrip(r *http.Request) (*http.Response, error) {
	path, is := strings.CutSuffix(r.URL.Path, "/log")
	if !is {
		return l.next.RoundTrip(r)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for uid, m := range l.pods {
		if m.pod.Name != filepath.Base(path) {
			continue
		}
		text, err := os.ReadFile(logOf(l.dir, uid, r.URL.Query().Get("container")))
		if err != nil {
			return nil, err
		}
		return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: io.NopCloser(bytes.NewReader(text)), Request: r}, nil
	}
	return nil, errors.New("no pod of the name runs here")
}
