// The work of charts.go in cdk8s, for the bench: node bench.js apps N | chain CHARTS OBJECTS. It prints seconds from the first construct
// to the last file, without the start of node and the loading of modules.
const fs = require('fs');
const os = require('os');
const path = require('path');
const { App, ApiObject, Chart, YamlOutputType } = require('cdk8s');

const out = fs.mkdtempSync(path.join(os.tmpdir(), 'headgate-cdk8s-'));

// objects of one application, as charts.go has them.
function application(chart, name) {
  const labels = { app: name };
  new ApiObject(chart, 'account', { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name } });
  new ApiObject(chart, 'config', { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data: { LOG_LEVEL: 'info', HOST: `${name}.example.dev` } });
  new ApiObject(chart, 'server', {
    apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name, labels },
    spec: {
      replicas: 2, selector: { matchLabels: labels },
      template: {
        metadata: { labels },
        spec: {
          serviceAccountName: name,
          containers: [{
            name: 'server', image: `registry.example.dev/${name}:1.0`, ports: [{ name: 'http', containerPort: 8080 }],
            envFrom: [{ configMapRef: { name } }],
            resources: { requests: { cpu: '100m', memory: '128Mi' }, limits: { memory: '256Mi' } },
            readinessProbe: { httpGet: { path: '/healthz', port: 'http' } },
          }],
        },
      },
    },
  });
  new ApiObject(chart, 'service', { apiVersion: 'v1', kind: 'Service', metadata: { name }, spec: { selector: labels, ports: [{ port: 80, targetPort: 'http' }] } });
}

function apps(count) {
  for (let i = 0; i < count; i++) {
    const name = `app-${i}`;
    const manifests = new App({ outdir: path.join(out, name, 'manifests'), yamlOutputType: YamlOutputType.FILE_PER_RESOURCE });
    application(new Chart(manifests, 'install', { namespace: name }), name);
    fs.mkdirSync(path.join(out, name, 'manifests'), { recursive: true });
    manifests.synth();
    const names = fs.readdirSync(path.join(out, name, 'manifests')).sort();
    fs.writeFileSync(path.join(out, name, 'manifests', 'kustomization.yaml'),
      'apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources:\n' + names.map((n) => `  - ${n}\n`).join(''));
    const argo = new App({ outdir: path.join(out, '.argo', name), yamlOutputType: YamlOutputType.FILE_PER_APP });
    new ApiObject(new Chart(argo, 'app'), 'application', {
      apiVersion: 'argoproj.io/v1alpha1', kind: 'Application', metadata: { name, namespace: 'argocd' },
      spec: {
        project: 'default', destination: { namespace: name, server: 'https://kubernetes.default.svc' },
        source: { repoURL: `cnoe://${name}/manifests`, path: '.', targetRevision: 'HEAD' },
        syncPolicy: { automated: { prune: true, selfHeal: true }, syncOptions: ['CreateNamespace=true'] },
      },
    });
    argo.synth();
    fs.renameSync(path.join(out, '.argo', name, 'app.k8s.yaml'), path.join(out, `${name}.yaml`));
  }
}

function chain(charts, objects) {
  const app = new App({ outdir: out });
  let previous;
  for (let i = 0; i < charts; i++) {
    const chart = new Chart(app, `chart-${i}`);
    for (let j = 0; j < objects; j++) {
      new ApiObject(chart, `config-${j}`, { apiVersion: 'v1', kind: 'ConfigMap', data: { key: `${i}-${j}` } });
    }
    if (previous) {
      chart.addDependency(previous);
    }
    previous = chart;
  }
  app.synth();
}

const [what, ...numbers] = process.argv.slice(2);
const began = process.hrtime.bigint();
({ apps, chain })[what](...numbers.map(Number));
console.log(Number(process.hrtime.bigint() - began) / 1e9);
fs.rmSync(out, { recursive: true });
