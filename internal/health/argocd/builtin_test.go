package argocd

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestBuiltins holds objects of the kinds that Argo CD judges in Go against what it says of them. An object is written as its
// apiVersion, its kind, and the fields beside metadata.name, which is "a".
func TestBuiltins(t *testing.T) {
	type row struct {
		reason, fields string
		want           Health
	}
	cases := map[string]map[string]row{
		"apps/v1 Deployment": {
			"paused":   {"nobody waits for it, nor thinks it done", "spec: {paused: true}", Health{Suspended, "Deployment is paused"}},
			"behind":   {"the status is of an older generation", "metadata: {name: a, generation: 2}, status: {observedGeneration: 1}", Health{Progressing, "Waiting for rollout to finish: observed deployment generation less than desired generation"}},
			"deadline": {"its time is over", "status: {conditions: [{type: Progressing, reason: ProgressDeadlineExceeded}]}", Health{Degraded, `Deployment "a" exceeded its progress deadline`}},
			"updating": {"replicas are to be replaced", "spec: {replicas: 3}, status: {updatedReplicas: 1}", Health{Progressing, "Waiting for rollout to finish: 1 out of 3 new replicas have been updated..."}},
			"old":      {"old replicas are still there", "spec: {replicas: 3}, status: {updatedReplicas: 3, replicas: 5}", Health{Progressing, "Waiting for rollout to finish: 2 old replicas are pending termination..."}},
			"starting": {"new replicas have yet to start", "spec: {replicas: 3}, status: {updatedReplicas: 3, replicas: 3, availableReplicas: 2}", Health{Progressing, "Waiting for rollout to finish: 2 of 3 updated replicas are available..."}},
			"done":     {"all are there", "spec: {replicas: 3}, status: {updatedReplicas: 3, replicas: 3, availableReplicas: 3}", Health{Healthy, ""}},
		},
		"cluster.headgate.dev/v1alpha1 VirtualCluster": {
			"new":      {"nobody has seen it", "spec: {}", Health{Progressing, "Waiting for its control plane"}},
			"starting": {"its API does not answer yet", "status: {conditions: [{type: Ready, status: 'False', reason: ControlPlaneNotReady, message: starting}]}", Health{Progressing, "ControlPlaneNotReady: starting"}},
			"ended":    {"its control plane died", "status: {conditions: [{type: Ready, status: 'False', reason: ControlPlaneEnded, message: gone}]}", Health{Degraded, "gone"}},
			"taken":    {"another cluster has its name", "status: {conditions: [{type: Ready, status: 'False', reason: NameTaken, message: taken}]}", Health{Degraded, "taken"}},
			"done":     {"its API answers", "status: {conditions: [{type: Ready, status: 'True', message: it answers}]}", Health{Healthy, "it answers"}},
		},
		"apps/v1beta1 Deployment": {
			"version": {"a version that is gone is not judged", "spec: {}", Health{Unknown, "unsupported Deployment GVK: apps/v1beta1, Kind=Deployment"}},
		},
		"apps/v1 StatefulSet": {
			"new":         {"nobody has seen it", "spec: {}", Health{Progressing, "Waiting for statefulset spec update to be observed..."}},
			"behind":      {"the status is of an older generation", "metadata: {name: a, generation: 2}, status: {observedGeneration: 1}", Health{Progressing, "Waiting for statefulset spec update to be observed..."}},
			"starting":    {"pods are not ready", "spec: {replicas: 3}, status: {observedGeneration: 1, readyReplicas: 1}", Health{Progressing, "Waiting for 2 pods to be ready..."}},
			"partition":   {"a part is to be replaced", "spec: {replicas: 3, updateStrategy: {type: RollingUpdate, rollingUpdate: {partition: 1}}}, status: {observedGeneration: 1, readyReplicas: 3, updatedReplicas: 1}", Health{Progressing, "Waiting for partitioned roll out to finish: 1 out of 2 new pods have been updated..."}},
			"partitioned": {"a part was replaced", "spec: {replicas: 3, updateStrategy: {type: RollingUpdate, rollingUpdate: {partition: 1}}}, status: {observedGeneration: 1, readyReplicas: 3, updatedReplicas: 2}", Health{Healthy, "partitioned roll out complete: 2 new pods have been updated..."}},
			"on delete":   {"pods are replaced by whoever deletes them", "spec: {replicas: 1, updateStrategy: {type: OnDelete}}, status: {observedGeneration: 1, readyReplicas: 1, updateRevision: x}", Health{Healthy, "statefulset has 1 ready pods"}},
			"rolling":     {"there are two revisions", "spec: {replicas: 1, updateStrategy: {type: RollingUpdate}}, status: {observedGeneration: 1, readyReplicas: 1, updatedReplicas: 1, updateRevision: r2, currentRevision: r1}", Health{Progressing, "waiting for statefulset rolling update to complete 1 pods at revision r2..."}},
			"done":        {"there is one", "spec: {replicas: 1}, status: {observedGeneration: 1, readyReplicas: 1, currentReplicas: 1, updateRevision: x, currentRevision: x}", Health{Healthy, "statefulset rolling update complete 1 pods at revision x..."}},
		},
		"apps/v1 ReplicaSet": {
			"behind":   {"the status is of an older generation", "metadata: {name: a, generation: 2}, status: {observedGeneration: 1}", Health{Progressing, "Waiting for rollout to finish: observed replica set generation less than desired generation"}},
			"failing":  {"pods cannot be made", "status: {conditions: [{type: ReplicaFailure, status: 'True', message: quota}]}", Health{Degraded, "quota"}},
			"starting": {"pods are not available", "spec: {replicas: 2}, status: {availableReplicas: 1}", Health{Progressing, "Waiting for rollout to finish: 1 out of 2 new replicas are available..."}},
			"done":     {"all are there", "spec: {replicas: 2}, status: {availableReplicas: 2, conditions: [{type: ReplicaFailure, status: 'False'}]}", Health{Healthy, ""}},
		},
		"apps/v1 DaemonSet": {
			"behind":    {"the status is of an older generation", "metadata: {name: a, generation: 2}, status: {observedGeneration: 1}", Health{Progressing, "Waiting for rollout to finish: observed daemon set generation less than desired generation"}},
			"on delete": {"pods are replaced by whoever deletes them", "spec: {updateStrategy: {type: OnDelete}}, status: {updatedNumberScheduled: 1, desiredNumberScheduled: 2}", Health{Healthy, "daemon set 1 out of 2 new pods have been updated"}},
			"updating":  {"pods are to be replaced", "status: {updatedNumberScheduled: 1, desiredNumberScheduled: 2}", Health{Progressing, `Waiting for daemon set "a" rollout to finish: 1 out of 2 new pods have been updated...`}},
			"starting":  {"pods are not available", "status: {updatedNumberScheduled: 2, desiredNumberScheduled: 2, numberAvailable: 1}", Health{Progressing, `Waiting for daemon set "a" rollout to finish: 1 of 2 updated pods are available...`}},
			"done":      {"all are there", "status: {updatedNumberScheduled: 2, desiredNumberScheduled: 2, numberAvailable: 2}", Health{Healthy, ""}},
		},
		"batch/v1 Job": {
			"running":   {"it has not ended", "status: {active: 1}", Health{Progressing, ""}},
			"failed":    {"it has failed", "status: {conditions: [{type: Failed, status: 'True', message: too often}]}", Health{Degraded, "too often"}},
			"complete":  {"it has ended", "status: {conditions: [{type: Complete, status: 'True', message: done}]}", Health{Healthy, "done"}},
			"suspended": {"it was stopped, of which Argo CD gives no message", "status: {conditions: [{type: Suspended, status: 'True', message: stopped}]}", Health{Suspended, ""}},
			"resumed":   {"it goes on, which Argo CD takes for healthy", "status: {conditions: [{type: Suspended, status: 'False', message: resumed}]}", Health{Healthy, "resumed"}},
		},
		"v1 Pod": {
			"pulling":      {"a container that always runs cannot start", "spec: {restartPolicy: Always}, status: {phase: Pending, containerStatuses: [{state: {waiting: {reason: ImagePullBackOff, message: no image}}}, {state: {waiting: {reason: ErrImagePull, message: nor here}}}]}", Health{Degraded, "no image, nor here"}},
			"pulling once": {"of a hook that may still pass", "spec: {restartPolicy: Never}, status: {phase: Pending, containerStatuses: [{state: {waiting: {reason: ImagePullBackOff, message: no image}}}]}", Health{Progressing, ""}},
			"waiting":      {"there are other reasons to wait", "spec: {restartPolicy: Always}, status: {phase: Pending, message: soon, containerStatuses: [{state: {waiting: {reason: ContainerCreating}}}]}", Health{Progressing, "soon"}},
			"succeeded":    {"it has ended", "status: {phase: Succeeded, message: done}", Health{Healthy, "done"}},
			"evicted":      {"it says why it failed", "status: {phase: Failed, message: Evicted}", Health{Degraded, "Evicted"}},
			"message":      {"a container says why", "status: {phase: Failed, containerStatuses: [{state: {running: {}}}, {state: {terminated: {exitCode: 1, message: disk full}}}]}", Health{Degraded, "disk full"}},
			"killed":       {"it needed too much memory", "status: {phase: Failed, containerStatuses: [{state: {terminated: {exitCode: 137, reason: OOMKilled}}}]}", Health{Degraded, "OOMKilled"}},
			"exit code":    {"a container that comes first has failed", "status: {phase: Failed, initContainerStatuses: [{name: init, state: {terminated: {exitCode: 2, reason: Error}}}], containerStatuses: [{name: c, state: {terminated: {exitCode: 3}}}]}", Health{Degraded, `container "init" failed with exit code 2`}},
			"no reason":    {"nobody says why", "status: {phase: Failed, containerStatuses: [{state: {terminated: {exitCode: 0}}}]}", Health{Degraded, ""}},
			"ready":        {"it runs", "spec: {restartPolicy: Always}, status: {phase: Running, conditions: [{type: Ready, status: 'True'}]}", Health{Healthy, ""}},
			"crashed":      {"it runs again, and is not ready", "spec: {restartPolicy: Always}, status: {phase: Running, containerStatuses: [{lastState: {terminated: {exitCode: 1}}}]}", Health{Degraded, ""}},
			"starting":     {"it is not ready yet", "spec: {restartPolicy: Always}, status: {phase: Running, conditions: [{type: Ready, status: 'False'}]}", Health{Progressing, ""}},
			"once":         {"it runs and is to end", "spec: {restartPolicy: OnFailure}, status: {phase: Running, conditions: [{type: Ready, status: 'True'}]}", Health{Progressing, ""}},
			"lost":         {"its node does not answer", "status: {phase: Unknown, message: node lost}", Health{Unknown, "node lost"}},
		},
		"v1 Service": {
			"inside":  {"it has no balancer", "spec: {type: ClusterIP}", Health{Healthy, ""}},
			"waiting": {"it waits for one", "spec: {type: LoadBalancer}", Health{Progressing, ""}},
			"there":   {"it has one", "spec: {type: LoadBalancer}, status: {loadBalancer: {ingress: [{ip: 1.2.3.4}]}}", Health{Healthy, ""}},
		},
		"networking.k8s.io/v1 Ingress": {
			"waiting": {"it waits for an address", "status: {loadBalancer: {}}", Health{Progressing, ""}},
			"there":   {"it has one", "status: {loadBalancer: {ingress: [{hostname: x}]}}", Health{Healthy, ""}},
		},
		"extensions/v1beta1 Ingress": {
			"there": {"all versions count", "status: {loadBalancer: {ingress: [{hostname: x}]}}", Health{Healthy, ""}},
		},
		"v1 PersistentVolumeClaim": {
			"bound":   {"it has a volume", "status: {phase: Bound}", Health{Healthy, ""}},
			"pending": {"it waits for one", "status: {phase: Pending}", Health{Progressing, ""}},
			"lost":    {"it has lost it", "status: {phase: Lost}", Health{Degraded, ""}},
			"new":     {"nobody has seen it", "spec: {}", Health{Unknown, ""}},
		},
		"apiregistration.k8s.io/v1 APIService": {
			"new":       {"nobody has seen it", "spec: {}", Health{Progressing, "Waiting to be processed"}},
			"available": {"it answers", "status: {conditions: [{type: Available, status: 'True', reason: Passed, message: all}]}", Health{Healthy, "Passed: all"}},
			"away":      {"it does not", "status: {conditions: [{type: Available, status: 'False', reason: MissingEndpoints, message: none}]}", Health{Progressing, "MissingEndpoints: none"}},
		},
		"autoscaling/v2 HorizontalPodAutoscaler": {
			"new":     {"nobody has seen it", "spec: {}", Health{Progressing, "Waiting to Autoscale"}},
			"able":    {"it scales", "status: {conditions: [{type: AbleToScale, status: 'True', message: ready}]}", Health{Healthy, "ready"}},
			"limited": {"it scales up to a limit", "status: {conditions: [{type: ScalingLimited, status: 'True', message: too many}]}", Health{Healthy, "too many"}},
			"failing": {"one failure outweighs the rest", "status: {conditions: [{type: AbleToScale, status: 'True', message: ready}, {type: ScalingActive, status: 'False', reason: FailedGetObjectMetric, message: no metric}]}", Health{Degraded, "no metric"}},
			"target":  {"there is nothing to scale", "status: {conditions: [{type: AbleToScale, status: 'False', reason: FailedGetScale, message: no target}]}", Health{Degraded, "no target"}},
			"off":     {"it was turned off", "status: {conditions: [{type: ScalingActive, status: 'False', reason: ScalingDisabled}]}", Health{Progressing, "Waiting to Autoscale"}},
		},
		"autoscaling/v1 HorizontalPodAutoscaler": {
			"new":     {"there is no annotation", "status: {conditions: [{type: AbleToScale, status: 'True'}]}", Health{Progressing, "Waiting to Autoscale"}},
			"able":    {"the annotation has the conditions", `metadata: {name: a, annotations: {autoscaling.alpha.kubernetes.io/conditions: '[{"type":"AbleToScale","status":"True","message":"ready"}]'}}`, Health{Healthy, "ready"}},
			"garbage": {"it has something else", `metadata: {name: a, annotations: {autoscaling.alpha.kubernetes.io/conditions: 'x'}}`, Health{Unknown, "failed to convert conditions annotation to typed: invalid character 'x' looking for beginning of value"}},
		},
		"autoscaling/v3 HorizontalPodAutoscaler": {
			"version": {"a version of the future is not judged", "spec: {}", Health{Unknown, "unsupported HPA GVK: autoscaling/v3, Kind=HorizontalPodAutoscaler"}},
		},
		"argoproj.io/v1alpha1 Workflow": {
			"new":       {"nobody has seen it", "spec: {}", Health{Progressing, ""}},
			"running":   {"it runs", "status: {phase: Running, message: one of two}", Health{Progressing, "one of two"}},
			"succeeded": {"it has ended", "status: {phase: Succeeded}", Health{Healthy, ""}},
			"failed":    {"it has failed", "status: {phase: Error, message: child failed}", Health{Degraded, "child failed"}},
			"odd":       {"there are other phases", "status: {phase: Odd}", Health{Unknown, ""}},
		},
	}
	checks := New(Settings{})
	for kind, rows := range cases {
		for name, c := range rows {
			t.Run(kind+"/"+name, func(t *testing.T) {
				var version, of string
				if _, err := fmt.Sscan(kind, &version, &of); err != nil {
					t.Fatal(err)
				}
				u := object(t, "{apiVersion: "+version+", kind: "+of+", "+c.fields+"}")
				if u.GetName() == "" {
					u.SetName("a")
				}
				got, _ := checks.Health(t.Context(), u)
				if diff := cmp.Diff(c.want, got); diff != "" {
					t.Errorf("%s (-want +got):\n%s", c.reason, diff)
				}
			})
		}
	}
}
