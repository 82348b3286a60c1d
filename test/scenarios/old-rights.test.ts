import { expect, test } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { windowsInstances } from '../../src/cluster/windows-instance-resource.ts';
import { operatorName, secretName } from '../../src/contract/names.ts';
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

/** As the rules were before keys were stored. */
function withoutStoredKeys(manifest: KubeResource): KubeResource {
  const { rules } = manifest as { rules?: { resourceNames?: string[] }[] };
  if (rules === undefined) return manifest;
  const left = rules.flatMap(rule => {
    const names = rule.resourceNames?.filter(name => name !== secretName.privateKeys);
    if (names === undefined) return [rule];
    return names.length === 0 ? [] : [{ ...rule, resourceNames: names }];
  });
  return { ...manifest, rules: left } as KubeResource;
}

test('an operator with the rights of an earlier version goes on without stored keys', {
  timeout: 120_000,
}, async () => {
  await using sandbox = await startSandbox({ kind: 'kubernetes', hosts: 2, speed: 10 });
  const { namespace } = sandbox;
  const admin = createClient(loadKubeconfig(sandbox.kubeconfig));
  for (const manifest of installedRights('kubernetes')) {
    const resource = byKind.get(manifest.kind);
    if (resource === undefined) throw new Error(`unknown kind ${manifest.kind}`);
    await admin.create(resource, withoutStoredKeys(manifest as KubeResource)).catch((error: unknown) => {
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
    await expect.poll(phases, { timeout: 90_000, interval: 250 }).toEqual(['Ready', 'Ready']);
  } finally {
    stop.abort();
    await running;
    await checkSandbox(sandbox, admin, logOutput('log of the operator', lines));
    await Promise.all([client.close(), admin.close()]);
  }
  const told = lines.filter(({ message }) => message.includes('former private keys are forgotten'));
  expect(told.map(({ level, fields }) => [level, fields['fieldSelector']])).toEqual([
    ['warn', `metadata.name=${secretName.privateKeys}`],
  ]);
});
