import { expect, onTestFinished, test } from 'vitest';
import { type WindowsInstance, windowsInstances } from '#cluster/windows-instance-resource.ts';
import { nodeAnnotation } from '#contract/names.ts';
import type { WindowsInstanceStatus } from '#contract/windows-instance/resource.ts';
import * as kinds from '#kube/resources.ts';
import { fixedFacts } from '../../../test/kit/fixed-facts.ts';
import { settle } from '../../../test/kit/manual-clock.ts';
import { benchNamespace as namespace, sourceBench } from '../../../test/kit/source-bench.ts';
import { agentAccessController } from './controller.ts';

/** With a services ConfigMap of the Go operator. */
function begin(settings = { allowLastingTokens: false }) {
  const bench = sourceBench();
  onTestFinished(() => bench[Symbol.asyncDispose]());
  const metadata = { name: 'windows-services-go', namespace };
  bench.api.put(kinds.configMaps, { metadata, data: { services: '[]', files: '[]' } });
  const controller = agentAccessController({ ...bench.parts, facts: fixedFacts(), kind: 'openshift', settings });
  return { ...bench, run: () => bench.start(controller) };
}

const agent = { keyHash: 'a', installed: '2026-03-01T12:00:00Z' };
const at = (version: string) => ({ [nodeAnnotation.version]: version });
const windowsNode = (name: string, annotations: Record<string, string> = {}) => ({
  metadata: { name, uid: `uid-${name}`, labels: { 'kubernetes.io/os': 'windows' }, annotations },
});
const instanceOf = (node: string, status: WindowsInstanceStatus): WindowsInstance => ({
  metadata: { name: `instance-${node}`, namespace },
  spec: { address: '10.0.0.5', username: 'Administrator' },
  status: { host: { name: node, addresses: [] }, ...status },
});
function join({ api }: Pick<ReturnType<typeof begin>, 'api'>, name: string, status: WindowsInstanceStatus = { agent }) {
  api.put(windowsInstances, instanceOf(name, status));
  api.put(kinds.nodes, windowsNode(name));
}

const lastingToken = (type = 'kubernetes.io/service-account-token') => ({
  metadata: {
    name: 'windows-instance-config-daemon',
    namespace,
    annotations: { 'kubernetes.io/service-account.name': 'windows-instance-config-daemon' },
  },
  type,
});
const hasLastingToken = ({ api }: Pick<ReturnType<typeof begin>, 'api'>) =>
  api.peek(kinds.secrets, 'windows-instance-config-daemon', namespace) !== undefined;

test('the token that agents of the Go operator share is deleted once the last of them is replaced', async () => {
  const bench = begin();
  join(bench, 'win-1', { version: 'go' });
  join(bench, 'win-2', { version: 'go' });
  bench.api.put(kinds.secrets, lastingToken());
  await bench.run();
  bench.api.put(windowsInstances, instanceOf('win-1', { version: 'go', agent }));
  await settle();
  expect(hasLastingToken(bench)).toBe(true);
  bench.api.put(windowsInstances, instanceOf('win-2', { version: 'go', agent }));
  await settle();
  expect(hasLastingToken(bench)).toBe(false);
  // One that somebody creates again, too.
  bench.api.put(kinds.secrets, lastingToken());
  await settle();
  expect(hasLastingToken(bench)).toBe(false);
});

const keepers: [name: string, prepare: (bench: ReturnType<typeof begin>) => void][] = [
  [
    'a Node of the Go operator has no instance, though all instances have their Nodes',
    bench => {
      join(bench, 'win-1');
      bench.api.put(kinds.nodes, windowsNode('win-2', at('go')));
    },
  ],
  ['a user has made a Secret of this name', ({ api }) => api.put(kinds.secrets, lastingToken('Opaque'))],
  [
    'the operator is being uninstalled',
    ({ uninstall }) => {
      uninstall.problem = 'Namespace wmco is being deleted';
    },
  ],
];
for (const [name, prepare] of keepers) {
  test(`the token that agents of the Go operator share stays while ${name}`, async () => {
    const bench = begin();
    bench.api.put(kinds.secrets, lastingToken());
    prepare(bench);
    await bench.run();
    expect(hasLastingToken(bench)).toBe(true);
  });
}

test('the token stays where agents of this operator may use it', async () => {
  const bench = begin({ allowLastingTokens: true });
  bench.api.put(kinds.secrets, lastingToken());
  await bench.run();
  expect(hasLastingToken(bench)).toBe(true);
});
