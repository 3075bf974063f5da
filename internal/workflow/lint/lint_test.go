package lint

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
	"sigs.k8s.io/yaml"

	"github.com/headgate-dev/headgate/api/argoproj/workflow/v1alpha1"
	"github.com/headgate-dev/headgate/internal/workflow/plan"
)

func check(t *testing.T, document string, library Library) []string {
	t.Helper()
	data, err := yaml.YAMLToJSON([]byte(document))
	if err != nil {
		t.Fatal(err)
	}
	var texts []string
	for _, finding := range Check(data, library) {
		texts = append(texts, finding.String())
	}
	return texts
}

// workflow is a workflow with a template main, in which everything else stands.
func workflow(rest string) string {
	return "{kind: Workflow, metadata: {name: w, namespace: ns}, spec: {entrypoint: main, " + rest + "}}"
}

func main(template string) string { return workflow("templates: [{name: main, " + template + "}]") }

func steps(all string) string {
	return workflow(`templates: [{name: main, steps: [` + all + `]}, {name: work, container: {image: x}}, {name: takes, inputs: {parameters: [{name: p}]}, container: {image: x}}]`)
}

func dag(all string) string {
	return workflow(`templates: [{name: main, dag: {` + all + `}}, {name: work, container: {image: x}}]`)
}

func TestCheck(t *testing.T) {
	const w = "Workflow ns/w"
	const m = w + `, template "main": spec.templates[0]`
	for name, tc := range map[string]struct {
		reason, document string
		want             []string
	}{
		"Fine":         {"nothing is wrong", main("container: {image: x}"), nil},
		"Unknown":      {"a field that there is not, with its path and template", main("container: {image: x, imge: y}"), []string{m + ".container.imge: unknown field"}},
		"UnknownSpec":  {"one of the spec", workflow("entrypont: x, templates: [{name: main, container: {image: x}}]"), []string{w + ": spec.entrypont: unknown field"}},
		"UnknownDeep":  {"one deep inside", steps("[{name: a, template: work, arguments: {parameters: [{name: p, valeu: x}]}}]"), []string{m + ".steps[0][0].arguments.parameters[0].valeu: unknown field"}},
		"Status":       {"what a controller wrote is left alone", "{kind: Workflow, metadata: {name: w}, spec: {entrypoint: main, templates: [{name: main, container: {image: x}}]}, status: {more: 1}}", nil},
		"Type":         {"a value of another type", workflow("templates: {}"), []string{w + ": spec.templates: json: cannot unmarshal object into Go struct field WorkflowSpec.spec.templates of type []v1alpha1.Template"}},
		"NoKind":       {"another kind", "{kind: Pod, metadata: {name: w}}", []string{`Pod w: kind: "Pod" is not a kind of workflow`}},
		"Later":        {"what is not supported yet", workflow("synchronization: {mutexes: [{name: x}]}, metrics: {}, templates: [{name: main, container: {image: x}, sidecars: [{name: s}], daemon: true, memoize: {key: k}}]"), []string{w + ": spec.metrics: it is not supported yet", w + ": spec.synchronization: it is not supported yet", m + ".daemon: it is not supported yet", m + ".memoize: it is not supported yet", m + ".sidecars: it is not supported yet"}},
		"LaterKind":    {"a kind of template that is not", main("containerSet: {containers: []}"), []string{m + ".containerSet: it is not supported yet"}},
		"LaterStore":   {"a store of artifacts that is not", main("container: {image: x}, outputs: {artifacts: [{name: o, path: /o, s3: {key: k}}]}"), []string{m + ".outputs.artifacts[0].s3: it is not supported yet"}},
		"LaterArg":     {"one of the arguments", workflow("arguments: {artifacts: [{name: a, gcs: {key: k}}]}, templates: [{name: main, container: {image: x}}]"), []string{w + ": spec.arguments.artifacts[0].gcs: it is not supported yet"}},
		"Flags":        {"flags of kubectl", main("resource: {action: get, manifest: x, flags: [-v]}"), []string{m + ".resource.flags: flags are those of kubectl, which is not used", m + ".resource.manifest: it is not the YAML of one object: error unmarshaling JSON: while decoding JSON: json: cannot unmarshal string into Go value of type map[string]interface {}"}},
		"JSONPatch":    {"a patch that does not name its object", main("resource: {action: patch, mergeStrategy: json, manifest: '{}'}"), []string{m + ".resource.mergeStrategy: a json patch does not name its object, and flags of kubectl are not supported; use strategic or merge"}},
		"Older":        {"fields of early versions without a meaning", main("container: {image: x}, template: base"), []string{m + ".template: templates have no base anymore; call the other template from steps"}},
		"NoEntry":      {"no entrypoint", "{kind: Workflow, metadata: {name: w}, spec: {templates: [{name: main, container: {image: x}}]}}", []string{"Workflow w: spec.entrypoint: spec.entrypoint is required"}},
		"Entry":        {"an entrypoint that is not there", "{kind: Workflow, metadata: {generateName: w-}, spec: {entrypoint: x, onExit: z, templates: [{name: main, container: {image: x}}]}}", []string{"Workflow w-: spec.entrypoint: template name 'x' undefined", "Workflow w-: spec.onExit: template name 'z' undefined"}},
		"Same":         {"two templates of one name", workflow("templates: [{name: main, container: {image: x}}, {name: main, suspend: {}}]"), []string{w + `: spec.templates[1].name: the template name "main" is not unique`}},
		"NoType":       {"a template that does nothing", main("inputs: {}"), []string{m + ": template type unspecified. choose one of: container, script, resource, http, suspend, steps, dag"}},
		"TwoTypes":     {"one that does two things", main("container: {image: x}, suspend: {}"), []string{m + ": multiple template types specified: container, suspend. choose one"}},
		"Arguments":    {"a parameter without a value", workflow("arguments: {parameters: [{name: p}]}, templates: [{name: main, container: {image: x}}]"), []string{w + ": spec.arguments.parameters[0]: spec.arguments.p.value or spec.arguments.p.valueFrom is required"}},
		"EntryInput":   {"an input of the entrypoint that is not supplied", main("inputs: {parameters: [{name: p}]}, container: {image: x}"), []string{w + ": spec.arguments.parameters: parameter 'p' was not supplied"}},
		"Enum":         {"a value that is not permitted, and a list of none", workflow("arguments: {parameters: [{name: p, value: c, enum: [a, b]}, {name: q, value: a, enum: []}]}, templates: [{name: main, container: {image: x}}]"), []string{w + `: spec.arguments.parameters[0].value: "c" should be present in 'enum' list`, w + ": spec.arguments.parameters[1].enum: should contain at least one value"}},
		"Image":        {"a container without an image", main("script: {source: x}"), []string{m + ".script.image: it may not be empty"}},
		"Outputs":      {"an output of a container without a path, and one without anything", main("container: {image: x}, outputs: {parameters: [{name: o, valueFrom: {jsonPath: x}}, {name: q}]}"), []string{m + ".outputs.parameters[0].valueFrom.path: it is required for container", m + ".outputs.parameters[1]: value or valueFrom is required"}},
		"Constant":     {"an output with a value of its own, and two outputs of one file", main("container: {image: x}, outputs: {parameters: [{name: o, value: x}], artifacts: [{name: a, path: /x}, {name: b, path: /x}]}"), nil},
		"LaterPod":     {"what pods have since, and plugins", workflow("executorPlugins: [{spec: {}}], podResources: {requests: {cpu: 1}}, templates: [{name: main, container: {image: x}, resourceClaims: [{name: gpu}], podResources: {limits: {cpu: 1}}}]"), []string{w + ": spec.executorPlugins: it is not supported yet", w + ": spec.podResources: it is not supported yet", m + ".podResources: it is not supported yet", m + ".resourceClaims: it is not supported yet"}},
		"Paths":        {"artifacts without a path, or with one path", main("container: {image: x}, inputs: {artifacts: [{name: a, raw: {data: x}}, {name: b, path: /x, raw: {data: x}}, {name: c, path: /x, raw: {data: x}}]}"), []string{m + ".inputs.artifacts[0].path: it is required: the file is put there, or taken from there", m + `.inputs.artifacts[2].path: "/x" is also that of artifact "b"`}},
		"Retry":        {"retries", main("container: {image: x}, retryStrategy: {limit: many, retryPolicy: Sometimes, expression: 'a +', backoff: {factor: 2, maxDuration: soon}}"), []string{m + `.retryStrategy.backoff.duration: no base duration specified for retryStrategy`, m + `.retryStrategy.backoff.maxDuration: "soon" is not a duration, such as 90, 1m30s or 2h`, m + `.retryStrategy.expression: unable to compile expression "a +": unexpected token EOF (1:3)`, m + `.retryStrategy.limit: "many" is not a number that is at least 0`, m + `.retryStrategy.retryPolicy: "Sometimes" is not one of Always, OnFailure, OnError, OnTransientError`}},
		"RetryTag":     {"which tags may be in", main("inputs: {parameters: [{name: num, value: 3}]}, container: {image: x}, retryStrategy: {limit: '{{inputs.parameters.num}}', backoff: {duration: '{{inputs.parameters.num}}'}}"), nil},
		"Request":      {"an output of a request", main("http: {url: x}, outputs: {parameters: [{name: o, valueFrom: {path: x}}]}"), []string{m + ".outputs.parameters[0]: a request has no output but its result"}},
		"Resource":     {"an action that there is not, a condition with a mistake", main("resource: {action: make, successCondition: 'a ==== b'}"), []string{m + `.resource.action: "make" is not one of get, create, apply, delete, replace, patch`, m + ".resource.manifest: manifest or manifestFrom is required", m + `.resource.successCondition: successCondition 'a ==== b' failed to parse: unable to parse requirement: found '==', expected: identifier`}},
		"Deadline":     {"a deadline of what is not a pod", workflow("parallelism: 0, shutdown: Now, templates: [{name: main, activeDeadlineSeconds: 3, suspend: {duration: long}}]"), []string{w + ": spec.parallelism: 0 is less than 1", w + `: spec.shutdown: "Now" is not one of Stop, Terminate`, m + ".activeDeadlineSeconds: it is only valid for leaf templates", m + `.suspend.duration: "long" is not a duration, such as 90, 1m30s or 2h`}},
		"Undefined":    {"a step with a template that is not there", steps("[{name: a, template: x}], [{name: a, template: work}]"), []string{m + ".steps[0][0].template: template name 'x' undefined", m + ".steps[1][0].name: name 'a' is not unique"}},
		"Supplied":     {"a step without an argument", steps("[{name: a, template: takes}, {name: b, template: takes, arguments: {parameters: [{name: p, value: x}]}}]"), []string{m + ".steps[0][0].arguments.parameters: parameter 'p' was not supplied"}},
		"Both":         {"a step with two templates, or with none", steps("[{name: a, template: work, templateRef: {name: x, template: z}}, {name: b}]"), []string{m + ".steps[0][0]: it has template and templateRef; choose one", m + ".steps[0][1].template: template, templateRef or inline is required"}},
		"Loops":        {"two loops, and a sequence without an end", steps("[{name: a, template: work, withItems: [1], withParam: '[]'}, {name: b, template: work, withSequence: {start: 1}}]"), []string{m + ".steps[0][0]: only one of withItems, withParam and withSequence can be used", m + ".steps[0][1].withSequence: must have one of count or end in withSequence"}},
		"LaterStep":    {"a tag that names a later step, an unknown input, an item without a loop", steps("[{name: a, template: work, when: '{{steps.b.status}} == x'}], [{name: b, template: takes, arguments: {parameters: [{name: p, value: '{{item}} {{inputs.parameters.q}} {{steps.a.status}}'}]}}]"), []string{m + ".steps[0][0].when: failed to resolve {{steps.b.status}}", m + ".steps[1][0].arguments.parameters[0].value: failed to resolve {{item}}", m + ".steps[1][0].arguments.parameters[0].value: failed to resolve {{inputs.parameters.q}}"}},
		"Expression":   {"the same in an expression, and one with a mistake", main(`container: {image: x, args: ["{{= inputs.parameters.q + workflow.parameters.z }}", "{{= 1 + }}", "{{ .Values.fine }}"]}`), []string{m + ".container.args[0]: failed to resolve {{inputs.parameters.q}}", m + ".container.args[0]: failed to resolve {{workflow.parameters.z}}", m + `.container.args[1]: unable to compile expression "1 +": unexpected token EOF (1:3)`}},
		"Leaf":         {"a step in a template that has none", main(`container: {image: x, args: ["{{steps.a.outputs.result}} {{steps.name}} {{pod.name}}"]}`), []string{m + ".container.args[0]: failed to resolve {{steps.a.outputs.result}}"}},
		"Hooks":        {"a hook without an expression", steps("[{name: a, template: work, hooks: {run: {template: work}, exit: {template: none}}}]"), []string{m + ".steps[0][0].hooks.exit.template: template name 'none' undefined", m + ".steps[0][0].hooks.run.expression: it is required for all hooks but the one named exit"}},
		"Inline":       {"a template where it is called", steps("[{name: a, inline: {container: {image: ''}}}, {name: b, inline: {steps: [[{name: c, inline: {suspend: {}}}]]}}]"), []string{m + ".steps[0][0].inline.container.image: it may not be empty", m + ".steps[0][1].inline: an inline template cannot have inline templates itself"}},
		"Depends":      {"dependencies that are not there, both spellings, continueOn beside depends", dag("target: z, tasks: [{name: a, template: work, depends: x}, {name: b, template: work, depends: a, dependencies: [a]}, {name: c, template: work, depends: a.Done}, {name: d, template: work, depends: a, continueOn: {failed: true}}]"), []string{m + ".dag.target: target 'z' is not defined", m + ".dag.tasks[0].depends: dependency 'x' not defined", m + ".dag.tasks[1].depends: cannot use both 'depends' and 'dependencies' in the same DAG template", m + `.dag.tasks[2].depends: depends "a.Done": "Done" is not a result of a task; it is one of Succeeded, Failed, Errored, Skipped, Omitted, Daemoned, AnySucceeded, AllFailed`, m + ".dag.tasks[3].continueOn: cannot use 'continueOn' when using 'depends'. Instead use 'dep-task.Failed'/'dep-task.Errored'"}},
		"Cycle":        {"tasks that wait for each other", dag("tasks: [{name: a, template: work, depends: b}, {name: b, template: work, depends: a}]"), []string{m + ".dag.tasks[0]: tasks depend on each other: a -> b -> a", m + ".dag.tasks[1]: tasks depend on each other: b -> a -> b"}},
		"Ancestors":    {"a tag that names a task which need not have ended", dag("tasks: [{name: a, template: work}, {name: b, template: work, depends: a, when: '{{tasks.a.status}} == x'}, {name: c, template: work, depends: b, when: '{{tasks.a.status}} == {{tasks.b.status}}'}, {name: d, template: work, when: '{{tasks.a.status}} == x'}]"), []string{m + ".dag.tasks[3].when: failed to resolve {{tasks.a.status}}"}},
		"Library":      {"templates of other objects, as far as they are known", steps("[{name: a, templateRef: {name: lib, template: none}}, {name: b, templateRef: {name: gone, template: x}}, {name: c, templateRef: {name: other, template: x}}, {name: d, templateRef: {name: lib, template: takes}}]"), []string{m + `.steps[0][0].templateRef.template: "lib" has no template "none"`, m + `.steps[0][1].templateRef.name: "gone" does not exist`, m + ".steps[0][3].arguments.parameters: parameter 'p' was not supplied"}},
		"Ref":          {"a template of workflows that does not exist, with templates beside it", "{kind: Workflow, metadata: {name: w}, spec: {workflowTemplateRef: {name: gone}, templates: [{name: main, suspend: {}}]}}", []string{"Workflow w: spec.templates: templates is invalid field in spec if workflow referred WorkflowTemplate reference", `Workflow w: spec.workflowTemplateRef.name: "gone" does not exist`}},
		"Template":     {"a template of workflows need not be complete", "{kind: WorkflowTemplate, metadata: {name: t}, spec: {arguments: {parameters: [{name: p}]}, templates: [{name: x, container: {image: x, args: ['{{workflow.parameters.any}}']}}]}}", nil},
		"Cluster":      {"nor one for all namespaces", "{kind: ClusterWorkflowTemplate, metadata: {name: t}, spec: {templates: [{name: x, contaner: {image: x}}]}}", []string{`ClusterWorkflowTemplate t, template "x": spec.templates[0]: template type unspecified. choose one of: container, script, resource, http, suspend, steps, dag`, `ClusterWorkflowTemplate t, template "x": spec.templates[0].contaner: unknown field`}},
		"Cron":         {"a schedule", "{kind: CronWorkflow, metadata: {name: c}, spec: {schedule: 'x', concurrencyPolicy: Never, startingDeadlineSeconds: -1, stopStrategy: {}, when: '{{= a + }}', workflowSpec: {templates: [{name: main, suspend: {}}]}}}", []string{`CronWorkflow c: spec.concurrencyPolicy: "Never" is not one of Allow, Forbid, Replace`, `CronWorkflow c: spec.schedule: cron schedule "x" is malformed: expected exactly 5 fields, found 1: [x]`, "CronWorkflow c: spec.startingDeadlineSeconds: -1 is less than 0", "CronWorkflow c: spec.stopStrategy.expression: it is required", `CronWorkflow c: spec.when: unable to compile expression "a +": unexpected token EOF (1:3)`, "CronWorkflow c: spec.workflowSpec.entrypoint: spec.entrypoint is required"}},
		"CronTemplate": {"the template of a field in a schedule", "{kind: CronWorkflow, metadata: {name: c}, spec: {schedules: ['0 2 * * *'], workflowSpec: {entrypoint: main, templates: [{name: main, suspend: {x: 1}}]}}}", []string{`CronWorkflow c, template "main": spec.workflowSpec.templates[0].suspend.x: unknown field`}},
	} {
		t.Run(name, func(t *testing.T) {
			library := Library{Specs: map[plan.Source]*v1alpha1.WorkflowSpec{
				{Name: "lib"}:  {Templates: []v1alpha1.Template{{Name: "takes", Inputs: v1alpha1.Inputs{Parameters: []v1alpha1.Parameter{{Name: "p"}}}}}},
				{Name: "gone"}: nil,
			}}
			if diff := cmp.Diff(tc.want, check(t, tc.document, library)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

// TestExecutable keeps what is executed in the tests of plan free of findings, but for what is wrong there on purpose.
func TestExecutable(t *testing.T) {
	files, err := filepath.Glob("../plan/testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("there are no workflows: %v", err)
	}
	wrong := map[string]string{"missing": "undefined", "noref": "does not exist"}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".txtar")
		t.Run(name, func(t *testing.T) {
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			library := Library{Specs: map[plan.Source]*v1alpha1.WorkflowSpec{{Name: "nothing"}: nil, {Name: "nothing", Cluster: true}: nil}}
			for _, f := range archive.Files {
				if f.Name == "defaults.yaml" {
					library.Defaults = &v1alpha1.WorkflowSpec{}
					if err := yaml.UnmarshalStrict(f.Data, library.Defaults); err != nil {
						t.Fatal(err)
					}
				}
				if f.Name != "templates.yaml" {
					continue
				}
				for document := range strings.SplitSeq(string(f.Data), "\n---\n") {
					template := &v1alpha1.WorkflowTemplate{}
					if err := yaml.UnmarshalStrict([]byte(document), template); err != nil {
						t.Fatal(err)
					}
					library.Specs[plan.Source{Name: template.Name, Cluster: template.Kind == v1alpha1.ClusterWorkflowTemplateKind}] = &template.Spec
					for _, finding := range check(t, document, library) {
						t.Error(finding)
					}
				}
			}
			for _, f := range archive.Files {
				if f.Name == "workflow.yaml" {
					findings := strings.Join(check(t, "kind: Workflow\n"+string(f.Data), library), "\n")
					if expected := wrong[name]; findings != "" && (expected == "" || !strings.Contains(findings, expected)) {
						t.Error(findings)
					}
				}
			}
		})
	}
}

func FuzzCheck(f *testing.F) {
	for _, seed := range []string{main("container: {image: x}"), steps("[{name: a, template: work, withItems: [1]}]"), dag("tasks: [{name: a, template: work, depends: 'b && a'}]"), "{kind: CronWorkflow, spec: {schedule: '* * * * *'}}"} {
		data, err := yaml.YAMLToJSON([]byte(seed))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(_ *testing.T, document []byte) {
		Check(document, Library{Specs: map[plan.Source]*v1alpha1.WorkflowSpec{{Name: "gone"}: nil}})
	})
}
