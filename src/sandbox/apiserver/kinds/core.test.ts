import { expect, test } from 'vitest';
import { created, now, objectOf, row } from '../../../../test/kit/kind-checks.ts';
import { endpoints, event, namespace, serviceAccount } from './core.ts';

test('makes a namespace active and labels it with its name', () => {
  expect(created(namespace, { spec: { finalizers: ['x'] }, status: { phase: 'y' } })).toEqual(
    objectOf(
      namespace,
      { spec: { finalizers: ['kubernetes'] }, status: { phase: 'Active' } },
      { labels: { 'kubernetes.io/metadata.name': 'a' } },
    ),
  );
});

const old = objectOf(namespace, { spec: { finalizers: ['kubernetes'] }, status: { phase: 'Active' } });
const next = objectOf(namespace, { spec: { finalizers: [] }, status: { phase: 'Other' } });
const parts: [string, object, object][] = [
  ['', { finalizers: ['kubernetes'] }, { phase: 'Active' }],
  ['status', { finalizers: ['kubernetes'] }, { phase: 'Other' }],
  ['finalize', { finalizers: [] }, { phase: 'Active' }],
];
test.each(parts)('changes by "%s" only what belongs there', (subresource, spec, status) => {
  expect(namespace.prepareUpdate(next, old, subresource)).toMatchObject({ spec, status });
});

test('is held by finalizers of both kinds, and waits as terminating', () => {
  expect(namespace.deletionBlockers(old)).toEqual(['kubernetes']);
  expect(namespace.deletionBlockers(objectOf(namespace, {}, { finalizers: ['a.b/c'] }))).toEqual(['a.b/c']);
  expect(namespace.markDeleted(old, 'now')).toMatchObject({ status: { phase: 'Terminating' } });
  expect(namespace.setsGracePeriod).toBe(false);
});

test('fills in the protocol of endpoints', () => {
  const subsets = [
    { addresses: [{ ip: '10.0.0.1' }], ports: [{ port: 1 }, { port: 2, protocol: 'UDP' }] },
    { addresses: [] },
  ];
  expect(created(endpoints, { subsets })['subsets']).toEqual([
    {
      addresses: [{ ip: '10.0.0.1' }],
      ports: [
        { protocol: 'TCP', port: 1 },
        { protocol: 'UDP', port: 2 },
      ],
    },
    { addresses: [] },
  ]);
  expect(created(endpoints, {})).not.toHaveProperty('subsets');
});

const addresses = (count: number) => Array.from({ length: count }, (_, index) => ({ ip: `10.0.0.${index}` }));
const shown: [string, unknown[], string][] = [
  ['none', [], '<none>'],
  ['addresses alone', [{ addresses: addresses(2) }], '10.0.0.0,10.0.0.1'],
  ['addresses with ports', [{ addresses: addresses(1), ports: [{ port: 1 }, { port: 2 }] }], '10.0.0.0:1,10.0.0.0:2'],
  ['many', [{ addresses: addresses(5), ports: [{ port: 1 }] }], '10.0.0.0:1,10.0.0.1:1,10.0.0.2:1 + 2 more...'],
];
test.each(shown)('shows endpoints: %s', (_, subsets, text) => {
  expect(row(endpoints, { subsets })).toEqual({ Name: 'a', Endpoints: text, Age: '60s' });
});

test('shows namespaces and accounts', () => {
  expect(row(namespace, { status: { phase: 'Active' } })).toEqual({ Name: 'a', Status: 'Active', Age: '60s' });
  expect(row(serviceAccount, { secrets: [{ name: 's' }] })).toEqual({ Name: 'a', Secrets: 1, Age: '60s' });
  expect(row(serviceAccount, {})).toMatchObject({ Secrets: 0 });
});

const namespaces: [own: string, named: string, wrong: boolean][] = [
  ['n', 'n', false],
  ['n', 'm', true],
  ['n', '', true],
  ['default', '', false],
  ['default', 'n', true],
];
test.each(namespaces)('an event in %s about an object in "%s"', (own, named, wrong) => {
  const object = objectOf(event, { involvedObject: { namespace: named } }, { namespace: own });
  expect(event.check(object, undefined, '').map(({ message }) => message)).toEqual(
    wrong ? [`Invalid value: "${named}": does not match event.namespace`] : [],
  );
});

test('fills in what every event has', () => {
  expect(created(event, { reason: 'R' })).toMatchObject({
    source: {},
    reportingComponent: '',
    reportingInstance: '',
    reason: 'R',
  });
  expect(created(event, { source: { component: 'c' } })).toMatchObject({ source: { component: 'c' } });
});

test('shows an event', () => {
  const content = {
    type: 'Warning',
    reason: 'Bad',
    message: ' it broke\n',
    count: 3,
    involvedObject: { kind: 'Node', name: 'win1', fieldPath: 'spec' },
    source: { component: 'wmco', host: 'h' },
    firstTimestamp: new Date(now - 600_000).toISOString(),
    lastTimestamp: new Date(now - 5000).toISOString(),
  };
  expect(row(event, content)).toEqual({
    'Last Seen': '5s',
    Type: 'Warning',
    Reason: 'Bad',
    Object: 'node/win1',
    Subobject: 'spec',
    Source: 'wmco, h',
    Message: 'it broke',
    'First Seen': '10m',
    Count: 3,
    Name: 'a',
  });
});

const times: [string, Record<string, unknown>, string, string][] = [
  ['no times', {}, '<unknown>', '<unknown>'],
  ['one time', { eventTime: new Date(now - 7000).toISOString() }, '7s', '7s'],
  ['a beginning', { firstTimestamp: new Date(now - 8000).toISOString() }, '8s', '8s'],
];
test.each(times)('shows an event with %s', (_, content, last, first) => {
  expect(row(event, content)).toMatchObject({ 'Last Seen': last, 'First Seen': first, Count: 1, Source: '' });
});
