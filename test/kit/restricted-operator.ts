import { expect } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { windowsInstances } from '../../src/cluster/windows-instance-resource.ts';
import { operatorName } from '../../src/contract/names.ts';
import { file } from '../../src/contract/paths.ts';
import { isAlreadyExists, unless } from '../../src/kube/api-error.ts';
import { loadKubeconfig } from '../../src/kube/config/load-kubeconfig.ts';
import { MemoryMetrics } from '../../src/kube/controller/metrics.ts';
import { createClient } from '../../src/kube/http-client.ts';
import type { KubeResource, Resource } from '../../src/kube/resource.ts';
import * as kinds from '../../src/kube/resources.ts';
import { payloadFor } from '../../src/node/payload.ts';
import { runOperator } from '../../src/operator/operator.ts';
import { defaultSettings } from '../../src/operator/settings.ts';
import { simulatedPayload } from '../../src/sandbox/machines/programs/payload.ts';
import type { Sandbox } from '../../src/sandbox/sandbox.ts';
import { accountToken } from './account-token.ts';
import { installedRights } from './install-manifests.ts';
import { operatorVersion as version, tokenKubeconfig } from './operator-scene.ts';
import { type LogLine, recordedLog } from './recorded-log.ts';
import { checkSandbox, logOutput } from './secret-check.ts';

const byKind = new Map(
  Object.values(kinds)
    .filter((each): each is Resource => typeof each === 'object' && 'plural' in each)
    .map(resource => [resource.kind, resource]),
);

export interface Restricted {
  kind: Parameters<typeof installedRights>[0];
  /** Hosts and Machines of the sandbox. */
  count: number;
  /** Changes a manifest before it is applied. */
  change?: (manifest: KubeResource) => KubeResource;
}

/** Runs the operator with only the permissions of the manifests until all hosts are Ready; returns what it has logged. */
export async function joinWithManifestRights(
  sandbox: Sandbox,
  { kind, count, change = manifest => manifest }: Restricted,
): Promise<readonly LogLine[]> {
  const { namespace, connect, dialTcp, resolver } = sandbox;
  const admin = createClient(loadKubeconfig(sandbox.kubeconfig));
  for (const manifest of installedRights(kind)) {
    const resource = byKind.get(manifest.kind);
    if (resource === undefined) throw new Error(`unknown kind ${manifest.kind}`);
    await admin.create(resource, change(manifest as KubeResource)).catch(unless(isAlreadyExists));
  }
  const token = await accountToken(admin, namespace, operatorName);
  const client = createClient(loadKubeconfig(tokenKubeconfig(sandbox, token)));
  const paths = payloadFor('None').map(({ directory, name }) => `${directory}\\${name}`);
  const programs = paths.filter(path => path !== file.agent);
  const { log, lines } = recordedLog();
  const stop = new AbortController();
  const settings = defaultSettings({ namespace, version });
  const payload = simulatedPayload({ version, agent: file.agent, programs });
  const environment = { connect, dialTcp, resolver, clock: systemClock, log, metrics: new MemoryMetrics() };
  const parts = { client, leaseClient: client, settings, payload, ...environment, random: Math.random };
  const running = runOperator(parts, stop.signal);
  const ready = async () => {
    const { items } = await admin.list(windowsInstances, { namespace });
    return items.filter(({ status }) => status?.phase === 'Ready').length;
  };
  try {
    await expect.poll(ready, { timeout: 90_000, interval: 250 }).toBe(count);
  } finally {
    stop.abort();
    await running;
    await checkSandbox(sandbox, admin, logOutput('log of the operator', lines));
    await Promise.all([client.close(), admin.close()]);
  }
  return lines;
}
