import { expect, test } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { windowsInstances } from '../../src/cluster/windows-instance-resource.ts';
import { operatorName } from '../../src/contract/names.ts';
import { file } from '../../src/contract/paths.ts';
import { isAlreadyExists } from '../../src/kube/api-error.ts';
import { loadKubeconfig } from '../../src/kube/config/load-kubeconfig.ts';
import { MemoryMetrics } from '../../src/kube/controller/metrics.ts';
import { createClient } from '../../src/kube/http-client.ts';
import type { KubeResource, Resource } from '../../src/kube/resource.ts';
import * as kinds from '../../src/kube/resources.ts';
import { payloadFor } from '../../src/node/payload.ts';
import { runOperator } from '../../src/operator/operator.ts';
import { defaultSettings } from '../../src/operator/settings.ts';
import { simulatedPayload } from '../../src/sandbox/machines/programs/payload.ts';
import { startSandbox } from '../../src/sandbox/sandbox.ts';
import { accountToken } from '../kit/account-token.ts';
import { installedRights } from '../kit/install-manifests.ts';
import { operatorVersion as version, tokenKubeconfig } from '../kit/operator-scene.ts';
import { recordedLog } from '../kit/recorded-log.ts';
import { checkSandbox, logOutput } from '../kit/secret-check.ts';

const byKind = new Map(
  Object.values(kinds)
    .filter((each): each is Resource => typeof each === 'object' && 'plural' in each)
    .map(resource => [resource.kind, resource]),
);

const clusters = [
  ['openshift', { hosts: 2, machines: 1 }],
  ['kubernetes', { hosts: 3 }],
] as const;

test.each(clusters)('on %s hosts become nodes with only the permissions of the manifests', async (kind, size) => {
  await using sandbox = await startSandbox({ kind, ...size, speed: 10 });
  const { namespace } = sandbox;
  const admin = createClient(loadKubeconfig(sandbox.kubeconfig));
  for (const manifest of installedRights(kind)) {
    const resource = byKind.get(manifest.kind);
    if (resource === undefined) throw new Error(`unknown kind ${manifest.kind}`);
    await admin.create(resource, manifest as KubeResource).catch((error: unknown) => {
      if (!isAlreadyExists(error)) throw error;
    });
  }
  const token = await accountToken(admin, namespace, operatorName);
  const client = createClient(loadKubeconfig(tokenKubeconfig(sandbox, token)));
  const programs = payloadFor('None').map(({ directory, name }) => `${directory}\\${name}`);
  const payload = simulatedPayload({
    version,
    agent: file.agent,
    programs: programs.filter(path => path !== file.agent),
  });
  const { log, lines } = recordedLog();
  const stop = new AbortController();
  const running = runOperator(
    {
      client,
      leaseClient: client,
      settings: defaultSettings({ namespace, version }),
      connect: sandbox.connect,
      dialTcp: sandbox.dialTcp,
      resolver: sandbox.resolver,
      payload,
      clock: systemClock,
      log,
      metrics: new MemoryMetrics(),
      random: Math.random,
    },
    stop.signal,
  );
  const phases = async () =>
    (await admin.list(windowsInstances, { namespace })).items.map(({ status }) => status?.phase ?? 'none');
  try {
    await expect.poll(phases, { timeout: 90_000, interval: 250 }).toEqual(['Ready', 'Ready', 'Ready']);
  } finally {
    stop.abort();
    await running;
    await checkSandbox(sandbox, admin, logOutput('log of the operator', lines));
    await Promise.all([client.close(), admin.close()]);
  }
  const refusals = lines.filter(({ fields }) => (fields['error'] as { code?: unknown } | undefined)?.code === 403);
  expect(refusals.map(({ message, fields }) => [message, String(fields['error'])])).toEqual([]);
});
