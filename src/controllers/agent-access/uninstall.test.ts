import { expect, onTestFinished, test } from 'vitest';
import { windowsInstances } from '#cluster/windows-instance-resource.ts';
import { nodeAnnotation } from '#contract/names.ts';
import type { WindowsInstanceStatus } from '#contract/windows-instance/resource.ts';
import type { Resource } from '#kube/resource.ts';
import { clusterRoleBindings, clusterRoles, nodes, roleBindings, roles } from '#kube/resources.ts';
import { fixedFacts } from '../../../test/kit/fixed-facts.ts';
import { settle } from '../../../test/kit/manual-clock.ts';
import { benchNamespace as namespace, benchVersion, sourceBench } from '../../../test/kit/source-bench.ts';
import { agentAccessController } from './controller.ts';

/** The controller with two configured hosts. */
const settings = { allowLastingTokens: false };

async function begin() {
  const bench = sourceBench();
  onTestFinished(() => bench[Symbol.asyncDispose]());
  const { api, parts } = bench;
  const state: { problem: string | undefined } = { problem: undefined };
  const installation = { problem: async () => state.problem };
  const putInstance = (name: string, status: WindowsInstanceStatus) =>
    api.put(windowsInstances, {
      metadata: { name, namespace },
      spec: { address: '10.0.0.5', username: 'Administrator' },
      status,
    });
  for (const name of ['win-1', 'win-2']) {
    putInstance(name, { host: { name, addresses: [] }, agent: { keyHash: 'a', installed: '2026-03-01T12:00:00Z' } });
    const annotations = { [nodeAnnotation.version]: benchVersion };
    api.put(nodes, { metadata: { name, uid: name, labels: { 'kubernetes.io/os': 'windows' }, annotations } });
  }
  await bench.start(
    agentAccessController({ ...parts, installation, facts: fixedFacts(), kind: 'openshift', settings }),
  );
  const kinds: readonly Resource[] = [roles, roleBindings, clusterRoles, clusterRoleBindings];
  const permissionsOf = (node: string) =>
    kinds.flatMap(kind => api.all(kind).filter(({ metadata }) => metadata.name?.endsWith(`:${node}`) ?? false)).length;
  const removeInstance = async () => {
    api.remove(windowsInstances, 'win-1', namespace);
    await settle();
  };
  return { ...bench, state, putInstance, permissionsOf, removeInstance };
}

test('permissions stay while the operator is being uninstalled, and are deleted otherwise', async () => {
  const { state, permissionsOf, removeInstance, clock } = await begin();
  const count = permissionsOf('win-1');
  expect(count).toBeGreaterThan(0);
  state.problem = 'CustomResourceDefinition windowsinstances is being deleted';
  await removeInstance();
  expect(permissionsOf('win-1')).toBe(count);
  state.problem = undefined;
  await clock.advance(60_000);
  expect([permissionsOf('win-1'), permissionsOf('win-2')]).toEqual([0, count]);
});

test('a Node without an instance keeps its permissions while some hosts are not recorded', async () => {
  const { permissionsOf, removeInstance, putInstance } = await begin();
  const count = permissionsOf('win-1');
  putInstance('new', {});
  await removeInstance();
  expect(permissionsOf('win-1')).toBe(count);
});
