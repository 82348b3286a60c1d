import { expect, onTestFinished, test } from 'vitest';
import { nodeAnnotation } from '#contract/names.ts';
import { type Node, nodes } from '#kube/resources.ts';
import { settle } from '../../../test/kit/manual-clock.ts';
import { refused } from '../../../test/kit/memory-api.ts';
import { sourceBench } from '../../../test/kit/source-bench.ts';
import { linuxNodesController } from './controller.ts';
import { hasStrayAnnotation } from './decide.ts';

const { pubKeyHash, version } = nodeAnnotation;
const nodeOf = (os: string, annotations: Record<string, string>, name = 'n'): Node => ({
  metadata: { name, uid: name, labels: os === '' ? {} : { 'kubernetes.io/os': os }, annotations },
});

const marks: [name: string, os: string, annotations: Record<string, string>, want: boolean][] = [
  ['a Linux node with the hash', 'linux', { [pubKeyHash]: 'x' }, true],
  ['a Linux node with an empty hash', 'linux', { [pubKeyHash]: '' }, true],
  ['a Linux node with other annotations', 'linux', { [version]: 'x' }, false],
  ['a Windows node with the hash', 'windows', { [pubKeyHash]: 'x' }, false],
  ['a node of nobody knows which system', '', { [pubKeyHash]: 'x' }, false],
];
for (const [name, os, annotations, want] of marks) {
  test(`${want ? 'finds' : 'finds no'} stray mark on ${name}`, () => {
    const { labels = {} } = nodeOf(os, annotations).metadata;
    expect(hasStrayAnnotation({ labels, annotations })).toBe(want);
  });
}

function begin(...given: Node[]) {
  const bench = sourceBench();
  onTestFinished(() => bench[Symbol.asyncDispose]());
  for (const node of given) bench.api.put(nodes, node);
  const controller = linuxNodesController(bench.parts);
  const annotations = (name: string) => bench.api.peek(nodes, name)?.metadata.annotations;
  return { ...bench, annotations, run: () => bench.start(controller) };
}

test('takes the mark from Linux nodes and nothing else from anybody', async () => {
  const { run, annotations, api } = begin(
    nodeOf('linux', { [pubKeyHash]: 'x', other: 'y' }, 'a'),
    nodeOf('windows', { [pubKeyHash]: 'x' }, 'b'),
  );
  await run();
  expect(annotations('a')).toEqual({ other: 'y' });
  expect(annotations('b')).toEqual({ [pubKeyHash]: 'x' });
  expect(api.calls).toHaveLength(1);
});

test('takes one that comes later, too', async () => {
  const { run, annotations, api } = begin();
  await run();
  api.put(nodes, nodeOf('linux', { [pubKeyHash]: 'x' }));
  await settle();
  expect(annotations('n')).toEqual({});
});

test('one node that fails holds up no other, and is retried', async () => {
  const { run, annotations, api, clock } = begin(
    nodeOf('linux', { [pubKeyHash]: 'x' }, 'bad'),
    nodeOf('linux', { [pubKeyHash]: 'x' }, 'good'),
  );
  let left = 1;
  api.before = ({ name }) => {
    if (name === 'bad' && left-- > 0) throw refused(500, 'InternalError');
  };
  await run();
  expect(annotations('good')).toEqual({});
  await clock.advance(10_000);
  expect(annotations('bad')).toEqual({});
});

test('is not troubled by a node that went a moment ago', async () => {
  const { run, api, log } = begin(nodeOf('linux', { [pubKeyHash]: 'x' }));
  api.before = () => {
    throw refused(404, 'NotFound');
  };
  await run();
  expect(log.messages('error')).toEqual([]);
});
