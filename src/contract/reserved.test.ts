import { expect, test } from 'vitest';
import { noReservations, type Reserved, reservedProblem } from './reserved.ts';

const reserved: Reserved = {
  networks: ['172.30.0.0/16', '10.128.0.0/14'],
  addresses: ['10.0.0.2'],
  names: ['api-int.example.com', 'API.example.com'],
  domains: ['apps.example.com'],
};

const good = ['win-1', 'win-1.corp.example.com', '10.0.0.5', 'svc-1', 'kubernetes-1', 'fd00::5', 'win.corp.local'];
for (const text of good) test(`lets a host be ${text}`, () => expect(reservedProblem(text, reserved)).toBeUndefined());

const bad: [string, RegExp][] = [
  ['*.example.com', /wildcard/],
  ['kubernetes', /API server/],
  ['kubernetes.default.svc', /API server/],
  ['openshift.default', /API server/],
  ['10.1', /parsed as an address/],
  ['0x7f000001', /parsed as an address/],
  ['win.0x7f', /parsed as an address/],
  ['Api-Int.example.com.', /API server/],
  ['api.example.com', /API server/],
  ['prometheus.monitoring.svc', /service/],
  ['x.y.svc.cluster.local', /service/],
  ['x.y.svc.other.domain', /service/],
  ['x.cluster.local', /service/],
  ['localhost', /service/],
  ['console.apps.example.com', /domain apps\.example\.com/],
  ['apps.example.com', /domain/],
  ['172.30.0.1', /network 172\.30\.0\.0\/16/],
  ['10.131.255.255', /network/],
  ['10.0.0.2', /address of the cluster/],
  ['127.0.0.1', /cannot be/],
  ['0.0.0.0', /cannot be/],
  ['169.254.169.254', /cannot be/],
  ['224.0.0.1', /cannot be/],
  ['255.255.255.255', /cannot be/],
  ['::1', /cannot be/],
  ['fe80::1', /cannot be/],
];
for (const [text, want] of bad) test(`reserves ${text}`, () => expect(reservedProblem(text, reserved)).toMatch(want));

test('reserves names of services and the API server in any cluster', () => {
  expect(reservedProblem('kubernetes.default.svc', noReservations)).toBeDefined();
  expect(reservedProblem('10.0.0.2', noReservations)).toBeUndefined();
});
