import { expect, test } from 'vitest';
import { AppError } from '#base/errors.ts';
import { errorOf } from '../../../test/kit/outcome.ts';
import { BlockedError, Failures } from './failures.ts';

const typed = new AppError('SERVICE_NOT_SETTLED', 'service a did not run', { remedy: 'Look into its log.' });

function after(...failed: [name: string, error: unknown][]): Failures {
  const failures = new Failures();
  for (const [name, error] of failed) failures.add(name, error);
  return failures;
}

test('does not throw without failures', () => {
  expect(errorOf(() => after().throwIfAny())).toBeUndefined();
});

test('names every service with its reason in one error', () => {
  const error = errorOf(() => after(['a', new Error('1053')], ['b', new Error('waits for a')]).throwIfAny());
  expect(error).toMatchObject({
    code: 'SERVICES_INCOMPLETE',
    message: '2 service(s) failed: a (1053), b (waits for a)',
  });
  expect(error?.cause).toMatchObject({ errors: [{ message: '1053' }, { message: 'waits for a' }] });
});

test('keeps the first reason of a service, whatever its spelling', () => {
  expect(errorOf(() => after(['a', new Error('first')], ['A', new Error('second')]).throwIfAny())?.message).toBe(
    '1 service(s) failed: a (first)',
  );
});

test('finds a failed service in any spelling', () => {
  const failures = after(['Kubelet', new Error('x')]);
  expect([failures.has('kubelet'), failures.has('KUBELET'), failures.has('kube-proxy')]).toEqual([true, true, false]);
});

test('passes on the remedy of the first failure', () => {
  expect(errorOf(() => after(['a', typed], ['b', new Error('y')]).throwIfAny())?.remedy).toBe('Look into its log.');
  expect(errorOf(() => after(['b', new Error('y')], ['a', typed]).throwIfAny())?.remedy).toContain(
    'the agent retries within two minutes',
  );
});

const noSubnet = new AppError('HOST_NETWORK_MISSING', 'waiting for a pod subnet', { remedy: 'Check OVN.' });
const mixed: [about: string, failed: [string, unknown][], code: string, message: string][] = [
  ['a service that waits for the network', [['p', noSubnet]], 'SERVICES_WAITING', 'p is waiting for a pod subnet'],
  [
    'a service that waits, and one that needs it',
    [
      ['p', noSubnet],
      ['q', new BlockedError('waits for p')],
    ],
    'SERVICES_WAITING',
    'p is waiting for a pod subnet',
  ],
  [
    'a service that waits, and one that failed',
    [
      ['p', noSubnet],
      ['q', new Error('1053')],
    ],
    'SERVICES_INCOMPLETE',
    '2 service(s) failed: p (waiting for a pod subnet), q (1053)',
  ],
];
for (const [about, failed, code, message] of mixed) {
  test(`reports ${about} as ${code}`, () => {
    expect(errorOf(() => after(...failed).throwIfAny())).toMatchObject({ code, message });
  });
}

test('accepts any thrown value', () => {
  expect(errorOf(() => after(['a', 'just a text']).throwIfAny())?.message).toContain('a (just a text)');
});

test('the remedy is that of a service that failed, not of one that waits', () => {
  const waiting = new AppError('HOST_NETWORK_MISSING', 'waiting for the subnet', { remedy: 'Check OVN.' });
  const error = errorOf(() => after(['a', waiting], ['b', new BlockedError('waits for c')], ['c', typed]).throwIfAny());
  expect(error).toMatchObject({ code: 'SERVICES_INCOMPLETE', remedy: 'Look into its log.' });
});
