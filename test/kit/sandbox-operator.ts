import { setTimeout as delay } from 'node:timers/promises';
import { type Clock, systemClock } from '../../src/base/clock.ts';
import { type PayloadRelease, sandboxPayload } from '../../src/bin/sandbox-factory.ts';
import { createLog } from '../../src/base/log.ts';
import { type WindowsInstance, windowsInstances } from '../../src/cluster/windows-instance-resource.ts';
import type { DialTcp } from '../../src/host/dial-tcp.ts';
import type { Connect } from '../../src/host/host.ts';
import type { Client } from '../../src/kube/client.ts';
import { loadKubeconfig } from '../../src/kube/config/load-kubeconfig.ts';
import { MemoryMetrics } from '../../src/kube/controller/metrics.ts';
import { createClient } from '../../src/kube/http-client.ts';
import { runOperator } from '../../src/operator/operator.ts';
import { type RunSettings, defaultSettings } from '../../src/operator/settings.ts';
import type { Sandbox } from '../../src/sandbox/sandbox.ts';
import { checkSandbox, inspectedText } from './secret-check.ts';

/** The operator of a sandbox in this process. Its end fails when a secret can be read anywhere. */
export interface SandboxOperator extends AsyncDisposable {
  version: string;
  /** Of the administrator. */
  client: Client;
  /** Everything it has logged. */
  lines: readonly string[];
  /** Why it has ended by itself. */
  readonly failure: unknown;
  instances(): Promise<WindowsInstance[]>;
  /** Waits until there are this many instances and all are ready. */
  allReady(count: number, limitMs?: number): Promise<WindowsInstance[]>;
  stop(): Promise<void>;
}

/** The version of operators unless another one is given. */
export const defaultRelease: PayloadRelease = { version: '11.0.0-sandbox' };

export function operatorSettings(namespace: string, { version } = defaultRelease): RunSettings {
  return defaultSettings({ namespace, version });
}

/** A client with all rights. */
export function administratorOf({ kubeconfig }: Pick<Sandbox, 'kubeconfig'>): AsyncDisposable & { client: Client } {
  const client = createClient(loadKubeconfig(kubeconfig));
  return { client, [Symbol.asyncDispose]: () => client.close() };
}

export interface OperatorOptions {
  /** Of the operator; that of the administrator by default. */
  kubeconfig?: string;
  /** Version of operator and programs. */
  release?: PayloadRelease;
  payloadBytes?: number;
  platform?: string;
  clock?: Clock;
  settings?: Partial<RunSettings>;
  /** Replaces the connection of the sandbox to its hosts. */
  connect?: Connect;
  /** Replaces the way to the kubelets. */
  dialTcp?: DialTcp;
  /** Wraps the client of the operator. */
  wrapClient?: (client: Client) => Client;
}

export function startOperator(sandbox: Sandbox, options: OperatorOptions = {}): SandboxOperator {
  const { payloadBytes = 1_000_000, platform = 'None', clock = systemClock, release = defaultRelease } = options;
  const client = createClient(loadKubeconfig(sandbox.kubeconfig));
  const lines: string[] = [];
  const log = createLog(line => void lines.push(line), clock);
  const payload = sandboxPayload(release, payloadBytes, platform);
  const settings = { ...operatorSettings(sandbox.namespace, release), ...options.settings };
  const ending = new AbortController();
  const { resolver } = sandbox;
  const { connect = sandbox.connect, dialTcp = sandbox.dialTcp, wrapClient = own => own } = options;
  const metrics = new MemoryMetrics();
  const own = options.kubeconfig === undefined ? client : createClient(loadKubeconfig(options.kubeconfig));
  const parts = {
    client: wrapClient(own),
    leaseClient: own,
    settings,
    connect,
    dialTcp,
    resolver,
    payload,
    clock,
    log,
    metrics,
    random: Math.random,
  };
  let failure: unknown;
  const running = runOperator(parts, ending.signal).catch((error: unknown) => {
    failure = error;
  });
  const instances = async () => (await client.list(windowsInstances, { namespace: sandbox.namespace })).items;
  const stop = async () => {
    ending.abort(new Error('the test is over'));
    await running;
    const output = [
      { where: 'log of the operator', text: lines.join('') },
      { where: 'figures of the operator', text: JSON.stringify([...metrics.all()]) },
      { where: 'end of the operator', text: inspectedText(failure) },
    ];
    try {
      await checkSandbox(sandbox, client, output);
    } finally {
      await own.close();
      await client.close();
    }
  };
  return {
    version: release.version,
    client,
    lines,
    get failure() {
      return failure;
    },
    instances,
    async allReady(count, limitMs = 90_000) {
      const endMs = performance.now() + limitMs;
      for (;;) {
        if (failure !== undefined) throw failure;
        const seen = await instances();
        if (seen.length === count && seen.every(({ status }) => status?.phase === 'Ready')) return seen;
        if (performance.now() > endMs) throw new Error(`not ready in time: ${JSON.stringify(seen.map(shown))}`);
        await delay(100);
      }
    },
    stop,
    [Symbol.asyncDispose]: stop,
  };
}

function shown({ metadata, status }: WindowsInstance): unknown {
  const { phase, step, conditions = [] } = status ?? {};
  return { name: metadata.name, phase, step, conditions: conditions.map(({ reason, message }) => [reason, message]) };
}
