import { type BundleContent, documentsIn, listAt, type Manifest, member, textAt } from './read.ts';
import { duplicatesIn, isDnsName, type Rule, when } from './rule.ts';

/** Kinds that OLM v0 installs from a bundle, with the API versions that API servers still have. */
const kinds: Readonly<Record<string, string>> = {
  ClusterServiceVersion: 'operators.coreos.com/v1alpha1',
  CustomResourceDefinition: 'apiextensions.k8s.io/v1',
  Secret: 'v1',
  ConfigMap: 'v1',
  Service: 'v1',
  ServiceAccount: 'v1',
  ClusterRole: 'rbac.authorization.k8s.io/v1',
  ClusterRoleBinding: 'rbac.authorization.k8s.io/v1',
  Role: 'rbac.authorization.k8s.io/v1',
  RoleBinding: 'rbac.authorization.k8s.io/v1',
  PrometheusRule: 'monitoring.coreos.com/v1',
  ServiceMonitor: 'monitoring.coreos.com/v1',
  PodDisruptionBudget: 'policy/v1',
  PriorityClass: 'scheduling.k8s.io/v1',
  VerticalPodAutoscaler: 'autoscaling.k8s.io/v1',
  NetworkPolicy: 'networking.k8s.io/v1',
  ConsoleYAMLSample: 'console.openshift.io/v1',
  ConsoleQuickStart: 'console.openshift.io/v1',
  ConsoleCLIDownload: 'console.openshift.io/v1',
  ConsoleLink: 'console.openshift.io/v1',
  ConsolePlugin: 'console.openshift.io/v1',
};

const prefix = 'operators.operatorframework.io.bundle';
const fixed: Readonly<Record<string, string>> = {
  [`${prefix}.mediatype.v1`]: 'registry+v1',
  [`${prefix}.manifests.v1`]: 'manifests/',
  [`${prefix}.metadata.v1`]: 'metadata/',
};
/** OLM unpacks a bundle into a ConfigMap. */
const maxBytes = 1_048_576;

export const bundleRules: readonly Rule<BundleContent>[] = [
  {
    name: 'annotations',
    check: ({ annotations }) => [
      ...Object.entries(fixed).flatMap(([key, value]) =>
        when(annotations[key] !== value, `${key} is not ${JSON.stringify(value)}`),
      ),
      ...['package', 'channels', 'channel.default'].flatMap(name =>
        when(textAt(annotations, `${prefix}.${name}.v1`) === '', `${prefix}.${name}.v1 is missing`),
      ),
    ],
  },
  {
    name: 'default channel',
    check: ({ annotations }) =>
      when(
        !channelsOf(annotations).includes(textAt(annotations, `${prefix}.channel.default.v1`)),
        'the default channel is none of the channels',
      ),
  },
  {
    name: 'channel names',
    check: ({ annotations }) =>
      channelsOf(annotations)
        .filter(channel => !/^(candidate|fast|stable)/.test(channel))
        .map(channel => `${channel} does not begin with candidate, fast or stable`),
  },
  {
    name: 'labels of the image',
    check: ({ annotations, files }) =>
      Object.entries(annotations)
        .filter(([key, value]) => !files['Containerfile']?.includes(`LABEL ${key}="${String(value)}"\n`))
        .map(([key]) => `the image has no label ${key} with the value of the annotation`),
  },
  {
    name: 'OpenShift versions',
    check: ({ annotations }) => {
      const value = textAt(annotations, 'com.redhat.openshift.versions');
      return when(
        !/^(=?v\d+\.\d+|v\d+\.\d+-v\d+\.\d+)$/.test(value),
        `${JSON.stringify(value)} is no range of versions`,
      );
    },
  },
  {
    name: 'one object per file',
    check: ({ files }) =>
      Object.entries(files)
        .filter(([path, text]) => path.startsWith('manifests/') && documentsIn(text).length !== 1)
        .map(([path]) => `${path} has not one object`),
  },
  {
    name: 'one ClusterServiceVersion',
    check: ({ manifests }) => {
      const count = manifests.filter(({ object }) => object.kind === 'ClusterServiceVersion').length;
      return when(count !== 1, `the bundle has ${count}`);
    },
  },
  {
    name: 'kinds',
    check: ({ manifests }) =>
      manifests
        .filter(({ object: { kind, apiVersion } }) => kinds[kind ?? ''] !== apiVersion)
        .map(({ path, object: { kind, apiVersion } }) => `${path}: OLM installs no ${kind} of ${apiVersion}`),
  },
  {
    name: 'object names',
    check: ({ manifests }) => [
      ...manifests
        .filter(({ object: { metadata } }) => !isDnsName(metadata?.name ?? ''))
        .map(({ path }) => `${path}: the name is invalid`),
      ...duplicatesIn(manifests.map(({ object: { kind, metadata } }) => `${kind} ${metadata?.name}`)).map(
        twice => `${twice} is in two files`,
      ),
    ],
  },
  {
    name: 'namespaces',
    check: ({ manifests }) =>
      manifests
        .filter(({ object: { metadata } }) => metadata?.namespace !== undefined)
        .map(({ path }) => `${path} names a namespace, but OLM uses that of the operator`),
  },
  {
    name: 'owned definitions',
    check: ({ csv, manifests }) => {
      const owned = listAt(csv, 'spec', 'customresourcedefinitions', 'owned').map(
        each => `${textAt(each, 'name')} ${textAt(each, 'version')} ${textAt(each, 'kind')}`,
      );
      const present = manifests.flatMap(({ object }) => versionsOf(object));
      return [
        ...owned.filter(each => !present.includes(each)).map(each => `${each} is owned, but not in the bundle`),
        ...present.filter(each => !owned.includes(each)).map(each => `${each} is in the bundle, but not owned`),
        ...duplicatesIn(present).map(each => `${each} is twice in the bundle`),
      ];
    },
  },
  {
    name: 'service accounts',
    check: ({ csv, manifests }) => {
      const own = accountsOf(csv);
      return manifests
        .filter(({ object: { kind, metadata } }) => kind === 'ServiceAccount' && own.includes(metadata?.name ?? ''))
        .map(({ path }) => `${path}: OLM creates this account from the ClusterServiceVersion`);
    },
  },
  {
    name: 'permissions in manifests',
    check: ({ manifests }) =>
      manifests
        .filter(({ object: { kind } }) => /^(Cluster)?Role$/.test(kind ?? ''))
        .flatMap(({ path, object }) =>
          listAt(object, 'rules').flatMap(rule => dangersOf(rule).map(it => `${path}: ${it}`)),
        ),
  },
  {
    name: 'size',
    check: ({ files }) => {
      const bytes = Object.values(files).reduce((sum, text) => sum + Buffer.byteLength(text), 0);
      return when(bytes > maxBytes, `${bytes} bytes are more than ${maxBytes}`);
    },
  },
];

function channelsOf(annotations: BundleContent['annotations']): string[] {
  return textAt(annotations, `${prefix}.channels.v1`).split(',').filter(Boolean);
}

function versionsOf(object: Manifest): string[] {
  if (object.kind !== 'CustomResourceDefinition') return [];
  const kind = textAt(object, 'spec', 'names', 'kind');
  return listAt(object, 'spec', 'versions').map(({ name }) => `${object.metadata?.name} ${String(name)} ${kind}`);
}

export function accountsOf(csv: Manifest): string[] {
  const install = member(csv, 'spec', 'install', 'spec');
  return [...listAt(install, 'permissions'), ...listAt(install, 'clusterPermissions')].map(each =>
    textAt(each, 'serviceAccountName'),
  );
}

const defaultSccs =
  /^(privileged|restricted|anyuid|hostaccess|hostmount-anyuid|hostnetwork|node-exporter|nonroot)(-v2)?$/;

/** What could hurt the cluster: changing the security constraints that OpenShift comes with, or budgets of others. */
export function dangersOf(rule: Record<string, unknown>): string[] {
  const names = (key: string) => (Array.isArray(rule[key]) ? rule[key].map(String) : []);
  const verbs = names('verbs');
  const changes = ['*', 'create', 'update', 'patch', 'delete'].some(verb => verbs.includes(verb));
  const changesDefaults =
    names('resourceNames').length === 0 || names('resourceNames').some(it => defaultSccs.test(it));
  return [
    ...when(
      changes && changesDefaults && names('resources').includes('securitycontextconstraints'),
      'can change default security context constraints',
    ),
    ...when(changes && names('resources').includes('poddisruptionbudgets'), 'can change disruption budgets'),
    ...when(names('apiGroups').includes('*') || names('resources').includes('*'), 'is for everything'),
  ];
}
