/** Where the files and ports of one cluster are, and what its user asked for. */
export interface Layout {
  folder: string;
  etcdUrl: string;
  port: number;
  /** Minor version of kube-apiserver. */
  apiServerMinor: number;
  /** Minor version of kube-controller-manager, which may be another than that of kube-apiserver. */
  managerMinor: number;
  authorization: string;
  admissionPlugins: readonly string[];
  controllers: readonly FurtherController[];
  apiServerFlags: readonly string[];
  controllerManagerFlags: readonly string[];
}

export function etcdFlags({ folder, etcdUrl }: Layout): string[] {
  return [
    `--data-dir=${folder}/etcd`,
    `--listen-client-urls=${etcdUrl}`,
    `--advertise-client-urls=${etcdUrl}`,
    '--listen-peer-urls=http://127.0.0.1:0',
    '--logger=zap',
    '--log-level=warn',
    // A cluster that is thrown away after the test need not survive a power cut.
    '--unsafe-no-fsync',
  ];
}

/** The version without the beta APIs that the flags below name. */
const betaRemovedIn = 25;

/** Every group that is served costs processor time at each start: of the beta ones only what tests and the server itself use. */
const withoutBetaFlags = [
  '--runtime-config=api/beta=false,policy/v1beta1=true,discovery.k8s.io/v1beta1=true',
  '--enable-priority-and-fairness=false',
];

export function apiServerFlags(layout: Layout): string[] {
  const { folder } = layout;
  return [
    `--etcd-servers=${layout.etcdUrl}`,
    '--bind-address=127.0.0.1',
    '--advertise-address=127.0.0.1',
    `--secure-port=${layout.port}`,
    `--cert-dir=${folder}`,
    `--tls-cert-file=${folder}/server.crt`,
    `--tls-private-key-file=${folder}/server.key`,
    `--client-ca-file=${folder}/ca.crt`,
    `--authorization-mode=${layout.authorization}`,
    '--service-cluster-ip-range=10.96.0.0/16',
    '--service-account-issuer=https://kubernetes.default.svc',
    `--service-account-key-file=${folder}/service-accounts.pub`,
    `--service-account-signing-key-file=${folder}/service-accounts.key`,
    '--allow-privileged=true',
    '--profiling=false',
    ...(layout.apiServerMinor < betaRemovedIn ? withoutBetaFlags : []),
    ...(layout.admissionPlugins.length > 0 ? [`--enable-admission-plugins=${layout.admissionPlugins.join(',')}`] : []),
    ...layout.apiServerFlags,
  ];
}

/**
 * The controllers a test may rely on, with their names before and since Kubernetes 1.28. The one that approves requests of
 * kubelets and the one that watches over the life of Nodes are left out: they would act on what tests put there.
 */
const controllers: readonly (readonly [old: string, since28: string])[] = [
  ['serviceaccount', 'serviceaccount-controller'],
  ['serviceaccount-token', 'serviceaccount-token-controller'],
  ['root-ca-cert-publisher', 'root-ca-certificate-publisher-controller'],
  ['namespace', 'namespace-controller'],
  ['garbagecollector', 'garbage-collector-controller'],
  ['csrsigning', 'certificatesigningrequest-signing-controller'],
  ['disruption', 'disruption-controller'],
  ['clusterrole-aggregation', 'clusterrole-aggregation-controller'],
];

/** What a test may ask for beside them, by the name before Kubernetes 1.28. */
const furtherControllers = {
  nodelifecycle: 'node-lifecycle-controller',
  replicaset: 'replicaset-controller',
  deployment: 'deployment-controller',
} as const;
export type FurtherController = keyof typeof furtherControllers;

export function controllerManagerFlags(layout: Layout): string[] {
  const { folder, managerMinor: minor, controllers: more } = layout;
  const wanted = [...controllers, ...more.map(name => [name, furtherControllers[name]] as const)];
  const names = wanted.map(([old, since28]) => (minor >= 28 ? since28 : old));
  return [
    `--kubeconfig=${folder}/kubeconfig`,
    '--leader-elect=false',
    '--secure-port=0',
    ...(minor < 24 ? ['--port=0'] : []),
    `--controllers=${names.join(',')}`,
    `--cluster-signing-cert-file=${folder}/ca.crt`,
    `--cluster-signing-key-file=${folder}/ca.key`,
    `--root-ca-file=${folder}/ca.crt`,
    `--service-account-private-key-file=${folder}/service-accounts.key`,
    // Without its own limits it would take seconds for what tests wait for.
    '--kube-api-qps=500',
    '--kube-api-burst=500',
    ...layout.controllerManagerFlags,
  ];
}
