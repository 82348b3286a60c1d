import { expect, test } from 'vitest';
import { parseCommandLine } from '#base/command-line.ts';
import { type FlagName, operatorLine } from './flags.ts';

const parse = (line: string) => parseCommandLine(operatorLine, line.split(' ').filter(Boolean))?.values;

const rows: [line: string, name: FlagName, want: string][] = [
  ['', 'metrics-bind-address', '0.0.0.0:9182'],
  ['', 'health-probe-bind-address', '0.0.0.0:9183'],
  ['', 'payload-dir', '/payload'],
  ['', 'max-parallel-joins', '20'],
  ['', 'max-parallel-uploads', '5'],
  ['', 'kubelet-version', 'v1.36.2'],
  ['', 'token-lifetime', '1h'],
  ['', 'kubeconfig', ''],
  ['', 'namespace', ''],
  ['', 'debugLogging', 'false'],
  ['-metrics-bind-address=0', 'metrics-bind-address', '0'],
  ['-debugLogging', 'debugLogging', 'true'],
  ['--debugLogging --max-parallel-joins 3', 'max-parallel-joins', '3'],
];
for (const [line, name, want] of rows) {
  test(`reads ${name} ${want} from ${JSON.stringify(line)}`, () => expect(parse(line)?.[name]).toBe(want));
}

test('keeps the names of the Go operator', () => {
  const names = ['debugLogging', 'metrics-bind-address', 'kubeconfig'];
  expect(Object.keys(operatorLine.flags)).toEqual(expect.arrayContaining(names));
});
