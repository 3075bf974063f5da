package controlplane

import (
	"context"
	"fmt"
	"io"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
	nodefast "sigs.k8s.io/kwok/kustomize/stage/node/fast"
	podfast "sigs.k8s.io/kwok/kustomize/stage/pod/fast"
	"sigs.k8s.io/kwok/pkg/apis/internalversion"
	"sigs.k8s.io/kwok/pkg/config"
	kwok "sigs.k8s.io/kwok/pkg/kwok/controllers"
	"sigs.k8s.io/kwok/pkg/log"
	kwokclient "sigs.k8s.io/kwok/pkg/utils/client"
)

// nodes simulates nodes: pods that are scheduled on them run at once, and those that are not restarted end at once.
func nodes(ctx context.Context, kubeconfig string, client *rest.Config, count int) error {
	typed, err := kubernetes.NewForConfig(client)
	if err != nil {
		return fmt.Errorf("creating a client for the simulated nodes: %w", err)
	}
	controller, err := kwokController(kubeconfig, typed)
	if err != nil {
		return err
	}
	quiet := log.NewContext(ctx, log.NewLogger(io.Discard, log.LevelError))
	if err := controller.Start(quiet); err != nil {
		return fmt.Errorf("starting the simulated nodes: %w", err)
	}
	for i := range count {
		_, err := typed.CoreV1().Nodes().Create(ctx, node(i), metav1.CreateOptions{})
		if err != nil && !apierrors.IsAlreadyExists(err) {
			return fmt.Errorf("creating a simulated node: %w", err)
		}
	}
	return nil
}

func kwokController(kubeconfig string, typed kubernetes.Interface) (*kwok.Controller, error) {
	stages, err := localStages()
	if err != nil {
		return nil, err
	}
	set, err := kwokclient.NewClientset("", kubeconfig)
	if err != nil {
		return nil, fmt.Errorf("creating a client for the simulated nodes: %w", err)
	}
	dynamic, err := set.ToDynamicClient()
	if err != nil {
		return nil, fmt.Errorf("creating a client for the simulated nodes: %w", err)
	}
	mapper, err := set.ToRESTMapper()
	if err != nil {
		return nil, fmt.Errorf("creating a mapper for the simulated nodes: %w", err)
	}
	controller, err := kwok.NewController(kwok.Config{
		Clock: clock.RealClock{}, DynamicClient: dynamic, RESTClient: typed.CoreV1().RESTClient(), RESTMapper: mapper,
		ImpersonatingDynamicClient: set.ToImpersonatingDynamicClient(), ImpersonatingTypedClient: set.ToImpersonatingTypedClient(),
		TypedClient: typed, ManageAllNodes: true, CIDR: "10.244.0.0/16", NodeIP: "10.0.0.1", NodeName: "headgate",
		LocalStages: stages, PodPlayStageParallelism: 8, NodePlayStageParallelism: 2, PodsOnNodeSyncParallelism: 2,
		ID: "headgate",
	})
	if err != nil {
		return nil, fmt.Errorf("configuring the simulated nodes: %w", err)
	}
	return controller, nil
}

// localStages are the life of nodes and pods, as the library ships it.
func localStages() (map[internalversion.StageResourceRef][]*internalversion.Stage, error) {
	stages := map[internalversion.StageResourceRef][]*internalversion.Stage{}
	for _, text := range []string{
		nodefast.DefaultNodeInit, podfast.DefaultPodReady, podfast.DefaultPodComplete, podfast.DefaultPodDelete,
	} {
		stage, err := config.UnmarshalWithType[*internalversion.Stage](text)
		if err != nil {
			return nil, fmt.Errorf("reading the stages of simulated pods: %w", err)
		}
		stages[stage.Spec.ResourceRef] = append(stages[stage.Spec.ResourceRef], stage)
		if text == podfast.DefaultPodComplete {
			stages[stage.Spec.ResourceRef] = append(stages[stage.Spec.ResourceRef], ending(stage))
		}
	}
	return stages, nil
}

// ending is the stage of pods that end without a Job: those that are not restarted and have no owner, such as tests and hooks.
func ending(complete *internalversion.Stage) *internalversion.Stage {
	stage := complete.DeepCopy()
	stage.Name = "pod-end"
	jq := func(key string, operator internalversion.SelectorOperator, values ...string) internalversion.MatchExpression {
		return internalversion.MatchExpression{JQ: &internalversion.SelectorJQ{Key: key, Operator: operator, Values: values}}
	}
	stage.Spec.Selector = &internalversion.StageSelector{MatchExpressions: []internalversion.MatchExpression{
		jq(".metadata.deletionTimestamp", internalversion.SelectorOpDoesNotExist),
		jq(".metadata.ownerReferences", internalversion.SelectorOpDoesNotExist),
		jq(".spec.restartPolicy", internalversion.SelectorOpIn, string(corev1.RestartPolicyNever), string(corev1.RestartPolicyOnFailure)),
		jq(".status.phase", internalversion.SelectorOpIn, string(corev1.PodRunning)),
	}}
	return stage
}

func node(i int) *corev1.Node {
	name := "node-" + strconv.Itoa(i+1)
	capacity := corev1.ResourceList{
		corev1.ResourceCPU: resource.MustParse("1000"), corev1.ResourceMemory: resource.MustParse("1Ti"),
		corev1.ResourcePods: resource.MustParse("100000"), corev1.ResourceEphemeralStorage: resource.MustParse("1Ti"),
	}
	return &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{
			corev1.LabelHostname: name, corev1.LabelOSStable: "linux", corev1.LabelArchStable: "amd64",
			corev1.LabelTopologyZone: "zone-" + strconv.Itoa(i%3+1), corev1.LabelTopologyRegion: "region-1",
			"node-role.kubernetes.io/worker": "", "headgate.dev/simulated": "true",
		}},
		Status: corev1.NodeStatus{Capacity: capacity, Allocatable: capacity},
	}
}
