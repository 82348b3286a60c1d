import { mkdtemp, writeFile } from 'node:fs/promises';
import { request } from 'node:https';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadKubeconfig } from '../../../src/kube/config/load-kubeconfig.ts';
import type { Connection } from '../../../src/kube/transport/connection.ts';
import { type KeyPair, publicKeyOf, TestCa } from '../certificates.ts';
import { type Binaries, findBinaries } from './binaries.ts';
import { Component, Guard } from './component.ts';
import { apiServerFlags, controllerManagerFlags, etcdFlags, type FurtherController, type Layout } from './flags.ts';

export interface ClusterOptions {
  /** `Node,RBAC` when absent. */
  authorization?: string;
  /** Beside those that are on by default, e.g. NodeRestriction. */
  admissionPlugins?: readonly string[];
  /** Beside the default ones. */
  controllers?: readonly FurtherController[];
  /** Without it no object is garbage collected, signed or filled in; starts faster. */
  controllerManager?: boolean;
  apiServerFlags?: readonly string[];
  controllerManagerFlags?: readonly string[];
  /** By which the API server's certificate is valid beside `127.0.0.1`, `localhost` and `kubernetes.default.svc`. */
  names?: readonly string[];
  binaries?: Binaries;
}

export type ComponentName = 'etcd' | 'kube-apiserver' | 'kube-controller-manager';

/** A running cluster. Its processes end and its folder is removed, whatever happens to the test. */
export interface Cluster extends AsyncDisposable {
  readonly url: string;
  readonly ca: string;
  readonly version: string;
  readonly minor: number;
  readonly kubeconfigText: string;
  readonly adminConfig: Connection;
  readonly hasControllerManager: boolean;
  /** Where its files and logs are while it runs. */
  readonly folder: string;
  /** Kubeconfig of another user, by a client certificate; with another server address if given. */
  kubeconfigFor(user: string, groups?: readonly string[], server?: string): string;
  kill(component: ComponentName): Promise<void>;
  restart(component: ComponentName): Promise<void>;
  /** The process id, for a test that stops or signals it. */
  pidOf(component: ComponentName): number | undefined;
  stop(): Promise<void>;
}

const startTimeoutMs = 60_000;

/** Starts etcd, kube-apiserver and kube-controller-manager on loopback. */
export async function startCluster(options: ClusterOptions = {}): Promise<Cluster> {
  const binaries = options.binaries ?? (await findBinaries());
  // Another process may take a port between choosing and using it.
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await start(options, binaries);
    } catch (error) {
      if (attempt === 3 || !/address already in use/.test(String(error))) throw error;
    }
  }
}

async function start(options: ClusterOptions, binaries: Binaries): Promise<Cluster> {
  const folder = await mkdtemp(join(tmpdir(), 'wmco-cluster-'));
  const guard = new Guard(folder);
  try {
    return await startIn(folder, guard, options, binaries);
  } catch (error) {
    await guard.release();
    throw error;
  }
}

async function startIn(folder: string, guard: Guard, options: ClusterOptions, binaries: Binaries): Promise<Cluster> {
  const [port, etcdPort] = await freePorts(2);
  const layout: Layout = {
    folder,
    port: port ?? 0,
    etcdUrl: `http://127.0.0.1:${etcdPort}`,
    apiServerMinor: binaries.apiServer.minor,
    managerMinor: binaries.controllerManager?.minor ?? 0,
    authorization: options.authorization ?? 'Node,RBAC',
    admissionPlugins: options.admissionPlugins ?? [],
    controllers: options.controllers ?? [],
    apiServerFlags: options.apiServerFlags ?? [],
    controllerManagerFlags: options.controllerManagerFlags ?? [],
  };
  const url = `https://127.0.0.1:${port}`;
  const ca = new TestCa('test-cluster-ca');
  const kubeconfigFor = (user: string, groups: readonly string[] = [], server = url) =>
    printKubeconfig(server, ca.cert, ca.issue({ commonName: user, organizations: groups }));
  const admin = ca.issue({ commonName: 'admin', organizations: ['system:masters'] });
  const kubeconfigText = printKubeconfig(url, ca.cert, admin);
  await writeFiles(folder, ca, kubeconfigText, options.names ?? []);

  const components = makeComponents(layout, binaries, path => ask(url, path, ca.cert, admin));
  const hasControllerManager = binaries.controllerManager !== undefined && options.controllerManager !== false;
  if (!hasControllerManager) components.delete('kube-controller-manager');
  const running = new Map([...components].map(([name, spec]) => [name, new Component(spec, folder, guard)]));
  for (const component of running.values()) await component.start(startTimeoutMs);

  const of = (name: ComponentName): Component => {
    const component = running.get(name);
    if (component === undefined) throw new Error(`this cluster runs without ${name}`);
    return component;
  };
  const stop = async () => {
    await Promise.all([...running.values()].map(component => component.kill()));
    await guard.release();
  };
  return {
    url,
    ca: ca.cert,
    version: binaries.apiServer.version,
    minor: binaries.apiServer.minor,
    kubeconfigText,
    adminConfig: loadKubeconfig(kubeconfigText),
    hasControllerManager,
    folder,
    kubeconfigFor,
    kill: name => of(name).kill(),
    restart: async name => {
      await of(name).kill();
      await of(name).start(startTimeoutMs);
    },
    pidOf: name => of(name).pid,
    stop,
    [Symbol.asyncDispose]: stop,
  };
}

function makeComponents(layout: Layout, binaries: Binaries, get: (path: string) => Promise<boolean>) {
  return new Map<ComponentName, ConstructorParameters<typeof Component>[0]>([
    [
      'etcd',
      {
        name: 'etcd',
        binary: binaries.etcd,
        args: etcdFlags(layout),
        ready: async () => (await fetch(`${layout.etcdUrl}/health`)).ok,
      },
    ],
    [
      'kube-apiserver',
      {
        name: 'kube-apiserver',
        binary: binaries.apiServer.path,
        args: apiServerFlags(layout),
        // It reports ready before its first namespaces exist.
        ready: async () =>
          (await get('/readyz')) && (await get('/api/v1/namespaces/kube-system')) && get('/api/v1/namespaces/default'),
      },
    ],
    [
      'kube-controller-manager',
      {
        name: 'kube-controller-manager',
        binary: binaries.controllerManager?.path ?? '',
        args: controllerManagerFlags(layout),
        ready: () => get('/api/v1/namespaces/default/serviceaccounts/default'),
      },
    ],
  ]);
}

async function writeFiles(folder: string, ca: TestCa, kubeconfig: string, names: readonly string[]): Promise<void> {
  const server = ca.issue({
    commonName: 'kube-apiserver',
    names: ['127.0.0.1', 'localhost', 'kubernetes.default.svc', ...names],
  });
  const accounts = new TestCa('service-accounts').key;
  const files: [string, string][] = [
    ['ca.crt', ca.cert],
    ['ca.key', ca.key],
    ['server.crt', server.cert],
    ['server.key', server.key],
    ['service-accounts.key', accounts],
    ['service-accounts.pub', publicKeyOf(accounts)],
    ['kubeconfig', kubeconfig],
  ];
  await Promise.all(files.map(([name, text]) => writeFile(join(folder, name), text, { mode: 0o600 })));
}

function printKubeconfig(server: string, ca: string, user: KeyPair): string {
  const base64 = (text: string) => Buffer.from(text).toString('base64');
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'test', cluster: { server, 'certificate-authority-data': base64(ca) } }],
    users: [
      {
        name: 'user',
        user: { 'client-certificate-data': base64(user.cert), 'client-key-data': base64(user.key) },
      },
    ],
    contexts: [{ name: 'test', context: { cluster: 'test', user: 'user' } }],
    'current-context': 'test',
  };
  return `${JSON.stringify(config, undefined, 2)}\n`;
}

/** Whether the server answers 200; apart from the client under test on purpose. */
function ask(url: string, path: string, ca: string, { cert, key }: KeyPair): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const call = request(`${url}${path}`, { ca, cert, key, agent: false, timeout: 2000 }, response => {
      response.resume();
      resolve(response.statusCode === 200);
    });
    call.once('timeout', () => call.destroy(new Error('no answer')));
    call.once('error', reject);
    call.end();
  });
}

async function freePorts(count: number): Promise<number[]> {
  const servers = await Promise.all(
    Array.from({ length: count }, async () => {
      const server = createServer();
      await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
      return server;
    }),
  );
  const ports = servers.map(server => (server.address() as { port: number }).port);
  await Promise.all(servers.map(server => new Promise(resolve => server.close(resolve))));
  return ports;
}
