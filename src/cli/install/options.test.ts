import { expect, test } from 'vitest';
import { readInstallOptions } from './options.ts';

const read = (line: string) => readInstallOptions(line.split(' ').filter(Boolean), {});

const acts: [line: string, act: string][] = [
  ['', 'plan'],
  ['--dry-run', 'print'],
  ['--apply', 'apply'],
];
for (const [line, act] of acts) test(`"${line}" is ${act}`, () => expect(read(line)?.act).toBe(act));

test('everything can be given', () => {
  const line = '--apply --platform kubernetes --image r.io/o@sha256:00 --replicas 2 --no-wait --timeout 90s -n ns';
  expect(read(line)).toMatchObject({
    platform: 'kubernetes',
    image: 'r.io/o@sha256:00',
    replicas: 2,
    wait: false,
    timeoutMs: 90_000,
    namespace: 'ns',
  });
});

const refused: [line: string, message: RegExp][] = [
  ['--dry-run --apply', /cannot be combined/],
  ['--dry-run --timeout 1m', /--dry-run and --timeout cannot be combined/],
  ['--platform vsphere', /openshift or kubernetes/],
  ['--replicas 0', /a number from 1 to 5/],
  ['--image a$b', /an image reference/],
  ['--timeout 10', /a duration/],
  ['-n default', /one for the operator/],
  ['-n kube-system', /one for the operator/],
];
for (const [line, message] of refused) test(`"${line}" is refused`, () => expect(() => read(line)).toThrow(message));
