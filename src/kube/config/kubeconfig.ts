import { type AppError, shown } from '#base/errors.ts';
import { isRecord } from '#base/fields.ts';
import { Secret } from '#base/secret.ts';
import { yamlIn } from '#base/yaml-text.ts';
import { KubeconfigFields, malformed } from './kubeconfig-fields.ts';

/** Missing members are reported only when a context uses the entry. */
export interface KubeconfigCluster {
  server?: string;
  /** Path of a file with CA certificates. */
  caFile?: string;
  /** CA certificates in PEM form, decoded. */
  caData?: string;
  skipTlsVerify: boolean;
  tlsServerName?: string;
  /** May contain a password. */
  proxyUrl?: Secret;
}

/** An exec plugin for credentials. */
export interface ExecPlugin {
  apiVersion: string;
  command: string;
  args: string[];
  env: { name: string; value: Secret }[];
  /** Pass the cluster to the program. */
  provideClusterInfo: boolean;
  /** `Always` for a program that needs a terminal. */
  interactiveMode?: string;
  /** Remedy for a missing program. */
  installHint?: string;
}

export interface KubeconfigUser {
  token?: Secret;
  tokenFile?: string;
  clientCertificateFile?: string;
  /** In PEM form, decoded. */
  clientCertificateData?: string;
  clientKeyFile?: string;
  clientKeyData?: Secret;
  username?: string;
  password?: Secret;
  exec?: ExecPlugin;
}

export interface KubeconfigContext {
  cluster?: string;
  user?: string;
  namespace?: string;
}

export interface Kubeconfig {
  /** Its name in messages: `kubeconfig`, with its files if known. */
  label: string;
  clusters: ReadonlyMap<string, KubeconfigCluster>;
  users: ReadonlyMap<string, KubeconfigUser>;
  contexts: ReadonlyMap<string, KubeconfigContext>;
  currentContext: string | undefined;
}

const maxTextLength = 1_048_576;

/** Parses a kubeconfig in YAML or JSON. Messages quote no values: any of them may be a misplaced credential. */
export function parseKubeconfig(text: string, label = 'kubeconfig'): Kubeconfig {
  const root = new KubeconfigFields(label, parseDocument(text, label));
  if ((root.text('kind') ?? 'Config') !== 'Config') throw notKubeconfig(label, 'is an object of another kind');
  return {
    label,
    clusters: named(root, 'clusters', 'cluster', readCluster),
    users: named(root, 'users', 'user', readUser),
    contexts: named(root, 'contexts', 'context', readContext),
    currentContext: root.text('current-context') || undefined,
  };
}

export interface ResolvedContext {
  name: string;
  cluster: KubeconfigCluster & { server: string };
  user: KubeconfigUser;
  userName: string;
  namespace: string | undefined;
}

/** Cluster and user of the context given, or of the current one. */
export function resolveContext(config: Kubeconfig, name = config.currentContext): ResolvedContext {
  if (name === undefined) throw noCurrentContext(config);
  const context = find(config, 'context', name);
  const [clusterName, userName] = [context.cluster, context.user];
  if (clusterName === undefined) throw malformed(labelOf(config, 'context', name), 'names no cluster', 'Add cluster.');
  if (userName === undefined) throw malformed(labelOf(config, 'context', name), 'names no user', 'Add user.');
  const cluster = find(config, 'cluster', clusterName);
  const user = find(config, 'user', userName);
  return {
    name,
    cluster: { ...cluster, server: checkServer(labelOf(config, 'cluster', clusterName), cluster.server) },
    user,
    userName,
    namespace: context.namespace,
  };
}

/** The server of a kubeconfig with exactly one cluster, which needs no context. */
export function onlyServer(config: Kubeconfig): string {
  const [first, ...others] = config.clusters;
  if (first === undefined || others.length > 0) {
    throw malformed(config.label, `has ${config.clusters.size} clusters`, 'Use a kubeconfig with one cluster.');
  }
  const [name, { server }] = first;
  return checkServer(labelOf(config, 'cluster', name), server);
}

interface Entries {
  cluster: KubeconfigCluster;
  user: KubeconfigUser;
  context: KubeconfigContext;
}

function find<K extends keyof Entries>(config: Kubeconfig, kind: K, name: string): Entries[K] {
  const map: ReadonlyMap<string, Entries[K]> = config[`${kind}s`] as ReadonlyMap<string, Entries[K]>;
  const found = map.get(name);
  if (found !== undefined) return found;
  const remedy = `Add the ${kind}, or use another one${kind === 'context' ? ' with --context' : ''}.`;
  throw malformed(config.label, `has no ${kind} ${shown(name)} (it has ${namesOf(map)})`, remedy);
}

function noCurrentContext({ label, contexts }: Kubeconfig): AppError {
  if (contexts.size === 0) return notKubeconfig(label, 'has no current-context and no contexts');
  const remedy = 'Use --context NAME, or run `kubectl config use-context NAME`.';
  return malformed(label, `has no current-context (its contexts are ${namesOf(contexts)})`, remedy);
}

const maxNames = 20;

function namesOf(map: ReadonlyMap<string, unknown>): string {
  const names = [...map.keys()];
  const left = names.length > maxNames ? [`${names.length - maxNames} more`] : [];
  return [...names.slice(0, maxNames).map(name => shown(name)), ...left].join(', ') || 'none';
}

function checkServer(where: string, server: string | undefined): string {
  if (server === undefined) throw malformed(where, 'has no server', 'Add server.');
  if (/^https?:\/\/[^\s/@]+(\/\S*)?$/.test(server) && URL.canParse(server)) return server;
  throw malformed(where, 'server is not an http or https URL', 'Set server to the URL of the API server.');
}

function labelOf({ label }: Pick<Kubeconfig, 'label'>, kind: string, name: string): string {
  return `${label}: ${kind} ${shown(name)}`;
}

function parseDocument(text: string, label: string): unknown {
  if (text.length > maxTextLength) throw malformed(label, `is longer than ${maxTextLength} characters`);
  const document = yamlIn(text);
  if (document === undefined) throw notKubeconfig(label, 'is neither YAML nor JSON');
  if (!isRecord(document)) throw notKubeconfig(label, 'is empty or not an object');
  return document;
}

function notKubeconfig(label: string, what: string): AppError {
  return malformed(label, what, 'Use the kubeconfig of a cluster; `kubectl config view --raw` prints yours.');
}

function named<T>(
  root: KubeconfigFields,
  list: string,
  kind: string,
  read: (fields: KubeconfigFields) => T,
): Map<string, T> {
  const found = new Map<string, T>();
  for (const item of root.members(list)) {
    // The cluster in the ConfigMap cluster-info of kubeadm has an empty name.
    const name = kind === 'cluster' ? (item.text('name') ?? '') : item.requiredText('name');
    const label = labelOf({ label: root.where }, kind, name);
    if (found.has(name)) throw malformed(label, 'is listed twice', `Keep one ${kind} of that name.`);
    found.set(name, read(item.member(kind, label)));
  }
  return found;
}

function readCluster(fields: KubeconfigFields): KubeconfigCluster {
  return {
    ...optional('server', fields.text('server')),
    skipTlsVerify: fields.flag('insecure-skip-tls-verify'),
    ...optional('caFile', fields.text('certificate-authority')),
    ...optional('caData', fields.decoded('certificate-authority-data')),
    ...optional('tlsServerName', fields.text('tls-server-name')),
    ...optional('proxyUrl', secret(fields.text('proxy-url'))),
  };
}

function readUser(fields: KubeconfigFields): KubeconfigUser {
  return {
    ...optional('token', secret(fields.text('token'))),
    ...optional('tokenFile', fields.text('tokenFile')),
    ...optional('clientCertificateFile', fields.text('client-certificate')),
    ...optional('clientCertificateData', fields.decoded('client-certificate-data')),
    ...optional('clientKeyFile', fields.text('client-key')),
    ...optional('clientKeyData', secret(fields.decoded('client-key-data'))),
    ...optional('username', fields.text('username')),
    ...optional('password', secret(fields.text('password'))),
    ...optional('exec', fields.has('exec') ? readExec(fields.member('exec', `${fields.where}: exec`)) : undefined),
  };
}

function readExec(fields: KubeconfigFields): ExecPlugin {
  return {
    apiVersion: fields.requiredText('apiVersion'),
    command: fields.requiredText('command'),
    args: fields.texts('args'),
    env: fields.members('env').map(item => ({
      name: item.requiredText('name'),
      value: new Secret(item.text('value') ?? ''),
    })),
    provideClusterInfo: fields.flag('provideClusterInfo'),
    ...optional('interactiveMode', fields.text('interactiveMode')),
    ...optional('installHint', fields.text('installHint')),
  };
}

function readContext(fields: KubeconfigFields): KubeconfigContext {
  return {
    ...optional('cluster', fields.text('cluster')),
    ...optional('user', fields.text('user')),
    ...optional('namespace', fields.text('namespace')),
  };
}

/** An empty member of a kubeconfig counts as missing. */
function optional<K extends string, T>(key: K, value: T | undefined): { [P in K]?: T } {
  return value === undefined || value === '' ? {} : ({ [key]: value } as { [P in K]?: T });
}

function secret(text: string | undefined): Secret | undefined {
  return text === undefined || text === '' ? undefined : new Secret(text);
}
