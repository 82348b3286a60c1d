import { setTimeout as delay } from 'node:timers/promises';
import { systemClock } from '../../src/base/clock.ts';
import { createLog } from '../../src/base/log.ts';
import { type InstanceObject, windowsInstances } from '../../src/cluster/windows-instances.ts';
import { file } from '../../src/contract/paths.ts';
import type { Client } from '../../src/kube/client.ts';
import { loadKubeconfig } from '../../src/kube/config/load-kubeconfig.ts';
import { MemoryMetrics } from '../../src/kube/controller/metrics.ts';
import { createClient } from '../../src/kube/http-client.ts';
import { payloadFor } from '../../src/node/payload.ts';
import type { PayloadSource } from '../../src/node/payload-source.ts';
import { runOperator } from '../../src/operator/operator.ts';
import { type RunSettings, usualSettings } from '../../src/operator/settings.ts';
import { simulatedPayload } from '../../src/sandbox/machines/programs/payload.ts';
import type { Sandbox } from '../../src/sandbox/sandbox.ts';

/** The operator at work in a sandbox, in this process. */
export interface SandboxOperator extends AsyncDisposable {
  version: string;
  /** Of the administrator. */
  client: Client;
  /** Everything it has logged. */
  lines: readonly string[];
  instances(): Promise<InstanceObject[]>;
  /** Waits until so many instances are there and all of them are ready. */
  allReady(count: number, limitMs?: number): Promise<InstanceObject[]>;
  stop(): Promise<void>;
}

const version = '11.0.0-sandbox';

/** Programs of the size given, for hosts of the platform. */
export function sandboxPayload(payloadBytes: number, platform = 'None'): PayloadSource {
  const carried = payloadFor(platform).map(({ directory, name }) => `${directory}\\${name}`);
  const programs = carried.filter(path => path !== file.agent);
  return simulatedPayload({ version, agent: file.agent, programs, bytes: payloadBytes });
}

export function operatorSettings(namespace: string): RunSettings {
  return usualSettings({ namespace, version });
}

export interface OperatorOptions {
  payloadBytes?: number;
  platform?: string;
}

export function startOperator(sandbox: Sandbox, options: OperatorOptions = {}): SandboxOperator {
  const { payloadBytes = 1_000_000, platform = 'None' } = options;
  const client = createClient(loadKubeconfig(sandbox.kubeconfig));
  const lines: string[] = [];
  const log = createLog(line => void lines.push(line), systemClock);
  const payload = sandboxPayload(payloadBytes, platform);
  const settings = operatorSettings(sandbox.namespace);
  const ending = new AbortController();
  const { connect, resolver } = sandbox;
  const metrics = new MemoryMetrics();
  const parts = { client, settings, connect, resolver, payload, clock: systemClock, log, metrics, random: Math.random };
  let failure: unknown;
  const running = runOperator(parts, ending.signal).catch((error: unknown) => {
    failure = error;
  });
  const instances = async () => (await client.list(windowsInstances, { namespace: sandbox.namespace })).items;
  const stop = async () => {
    ending.abort(new Error('the test is over'));
    await running;
    await client.close();
  };
  return {
    version,
    client,
    lines,
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

function shown({ metadata, status }: InstanceObject): unknown {
  const { phase, step, conditions = [] } = status ?? {};
  return { name: metadata.name, phase, step, conditions: conditions.map(({ reason, message }) => [reason, message]) };
}
