import { expect, test } from 'vitest';
import { created, objectOf, problems, row } from '../../../../test/kit/kind-checks.ts';
import { Store } from '../store.ts';
import { service } from './service.ts';

const port = (more: object = {}) => ({ port: 80, ...more });

const filled: [string, Record<string, unknown>, Record<string, unknown>][] = [
  [
    'a plain one',
    { ports: [port()] },
    {
      type: 'ClusterIP',
      sessionAffinity: 'None',
      clusterIP: '172.30.0.1',
      clusterIPs: ['172.30.0.1'],
      ports: [{ protocol: 'TCP', port: 80, targetPort: 80 }],
    },
  ],
  [
    'one that says it all',
    {
      type: 'NodePort',
      sessionAffinity: 'ClientIP',
      ports: [port({ protocol: 'UDP', targetPort: 'web', nodePort: 30_001 })],
    },
    {
      type: 'NodePort',
      sessionAffinity: 'ClientIP',
      externalTrafficPolicy: 'Cluster',
      ports: [{ protocol: 'UDP', port: 80, targetPort: 'web', nodePort: 30_001 }],
    },
  ],
  ['one without an address', { clusterIP: 'None' }, { clusterIP: 'None', clusterIPs: ['None'] }],
  [
    'one with an address',
    { clusterIP: '172.30.9.9', ports: [port()] },
    { clusterIP: '172.30.9.9', clusterIPs: ['172.30.9.9'] },
  ],
];
test.each(filled)('fills in %s', (_, spec, wanted) => {
  expect(created(service, { spec })).toMatchObject({ spec: wanted, status: { loadBalancer: {} } });
});

test('gives a name outside no address', () => {
  const { spec } = created(service, { spec: { type: 'ExternalName', externalName: 'example.com' } });
  expect(spec).toEqual({ type: 'ExternalName', sessionAffinity: 'None', externalName: 'example.com' });
});

test('gives every Service an address of its own', () => {
  const store = new Store();
  const addresses = Array.from({ length: 300 }, (_, index) => {
    const made = created(service, { spec: { ports: [port()] } }, { store });
    store.write('services', { ...made, metadata: { name: `s${index}`, namespace: 'n' } });
    return (made['spec'] as { clusterIP: string }).clusterIP;
  });
  expect(new Set(addresses).size).toBe(300);
  expect(addresses.at(-1)).toBe('172.30.1.44');
});

test('reuses the address of a deleted Service', () => {
  const store = new Store();
  const make = () => created(service, { spec: { ports: [port()] } }, { store });
  store.write('services', { ...make(), metadata: { name: 's', namespace: 'n' } });
  store.remove('services', { name: 's', namespace: 'n' });
  expect(make()).toMatchObject({ spec: { clusterIP: '172.30.0.1' } });
});

const old = objectOf(service, { spec: { clusterIP: '172.30.0.5', ports: [port()] }, status: { loadBalancer: {} } });
test('keeps the address and the status of a Service', () => {
  const next = objectOf(service, { spec: { ports: [port({ port: 81 })] }, status: { x: 1 } });
  expect(service.prepareUpdate(next, old, '')).toMatchObject({
    spec: { clusterIP: '172.30.0.5', clusterIPs: ['172.30.0.5'], ports: [{ port: 81, targetPort: 81 }] },
    status: { loadBalancer: {} },
  });
  expect(service.prepareUpdate(next, old, 'status')).toMatchObject({
    spec: { ports: [{ port: 80 }] },
    status: { x: 1 },
  });
});

const judged: [string, Record<string, unknown>, string[]][] = [
  ['a port', { ports: [port()] }, []],
  ['no ports', {}, ['spec.ports: Required value']],
  ['no ports and no address', { clusterIP: 'None' }, []],
  ['no ports outside', { type: 'ExternalName' }, []],
  [
    'port nought',
    { ports: [port({ port: 0 })] },
    ['spec.ports[0].port: Invalid value: 0: must be between 1 and 65535, inclusive'],
  ],
  [
    'a port too high',
    { ports: [port(), port({ port: 65_536 })] },
    ['spec.ports[1].port: Invalid value: 65536: must be between 1 and 65535, inclusive'],
  ],
];
test.each(judged)('judges a Service with %s', (_, spec, wanted) => expect(problems(service, { spec })).toEqual(wanted));

test('never changes an address', () => {
  const spec = { clusterIP: '172.30.0.6', ports: [port()] };
  expect(problems(service, { spec }, { spec })).toEqual([]);
  expect(problems(service, { spec }, { spec: { ports: [port()] } })).toEqual([]);
  expect(problems(service, { spec }, { spec: { clusterIP: '172.30.0.5' } })).toEqual([
    'spec.clusterIPs[0]: Invalid value: ["172.30.0.6"]: may not change once set',
  ]);
});

const shown: [string, Record<string, unknown>, Record<string, unknown>][] = [
  [
    'nothing',
    {},
    { Type: '', 'Cluster-IP': '<none>', 'External-IP': '<none>', 'Port(s)': '<none>', Selector: '<none>' },
  ],
  [
    'ports and selector',
    {
      spec: {
        type: 'NodePort',
        clusterIP: '1.2.3.4',
        selector: { a: 'b' },
        ports: [
          { port: 80, protocol: 'TCP', nodePort: 30_001 },
          { port: 53, protocol: 'UDP' },
        ],
      },
    },
    { Type: 'NodePort', 'Cluster-IP': '1.2.3.4', 'Port(s)': '80:30001/TCP,53/UDP', Selector: 'a=b' },
  ],
  ['a name outside', { spec: { type: 'ExternalName', externalName: 'example.com' } }, { 'External-IP': 'example.com' }],
  ['a load balancer to come', { spec: { type: 'LoadBalancer' } }, { 'External-IP': '<pending>' }],
  [
    'a load balancer',
    {
      spec: { type: 'LoadBalancer', externalIPs: ['9.9.9.9'] },
      status: { loadBalancer: { ingress: [{ ip: '8.8.8.8' }, { hostname: 'lb' }] } },
    },
    { 'External-IP': '8.8.8.8,lb,9.9.9.9' },
  ],
];
test.each(shown)('shows %s', (_, content, wanted) => expect(row(service, content)).toMatchObject(wanted));
