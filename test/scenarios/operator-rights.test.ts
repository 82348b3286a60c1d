import { expect, test } from 'vitest';
import { secretName } from '../../src/contract/names.ts';
import type { KubeResource } from '../../src/kube/resource.ts';
import { startSandbox } from '../../src/sandbox/sandbox.ts';
import { joinWithManifestRights } from '../kit/restricted-operator.ts';

const clusters = [
  ['openshift', { hosts: 2, machines: 1 }],
  ['kubernetes', { hosts: 3 }],
] as const;

test.each(clusters)('on %s hosts become nodes with only the permissions of the manifests', async (kind, size) => {
  await using sandbox = await startSandbox({ kind, ...size, speed: 10 });
  const lines = await joinWithManifestRights(sandbox, { kind, count: 3 });
  const refusals = lines.filter(({ fields }) => (fields['error'] as { code?: unknown } | undefined)?.code === 403);
  expect(refusals.map(({ message, fields }) => [message, String(fields['error'])])).toEqual([]);
});

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

test('an operator with the rights of an earlier version goes on without stored keys', async () => {
  await using sandbox = await startSandbox({ kind: 'kubernetes', hosts: 2, speed: 10 });
  const lines = await joinWithManifestRights(sandbox, { kind: 'kubernetes', count: 2, change: withoutStoredKeys });
  const told = lines.filter(({ message }) => message.includes('former private keys are forgotten'));
  expect(told.map(({ level, fields }) => [level, fields['fieldSelector']])).toEqual([
    ['warn', `metadata.name=${secretName.privateKeys}`],
  ]);
});
