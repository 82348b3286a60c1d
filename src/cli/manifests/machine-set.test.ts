import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { repositoryRoot } from '../../../test/kit/run-wmco.ts';
import { recordedTerminal } from '../../../test/kit/status-views.ts';
import { main } from '../main.ts';
import { machineSetProgram } from './machine-set.ts';

const examples = ['cluster.yaml', 'machinesets.yaml'].map(name => join(repositoryRoot, 'examples', name));
const [cluster = '', sets = ''] = examples;
const image = ['--image', 'ami-0123456789abcdef0'];

async function run(words: readonly string[], input = ''): Promise<{ code: number; out: string; err: string }> {
  const recorded = recordedTerminal();
  const terminal = { ...recorded, stdin: () => Promise.resolve(input), runtime: '' };
  const program = {
    name: 'machineset',
    summary: '',
    run: (rest: readonly string[]) => machineSetProgram(rest, { ...terminal, ask: undefined }),
  };
  const code = await main(['machineset', ...words], terminal, [program]);
  return { code, out: recorded.text(), err: recorded.errors() };
}

test('prints the set for the example, as YAML and as JSON', async () => {
  const { code, out, err } = await run(['-f', ...examples, ...image]);
  expect([code, err]).toEqual([0, '']);
  const set = parse(out) as Record<string, unknown>;
  expect(set).toMatchObject({ kind: 'MachineSet', metadata: { name: 'winc-7qk4d-windows-worker-eu-central-1a' } });
  expect(JSON.parse((await run(['-f', ...examples, ...image, '-o', 'json'])).out)).toEqual(set);
});

test('reads standard input, and lists', async () => {
  const { out } = await run(
    ['-f', '-', '--from', 'winc-7qk4d-worker-eu-central-1a', ...image],
    `${readFileSync(cluster, 'utf8')}---\n${readFileSync(sets, 'utf8')}`,
  );
  expect(out).toMatch(/^apiVersion: machine\.openshift\.io/);
});

test('notes go to standard error, so that the output can be applied', async () => {
  const { code, out, err } = await run(['-f', ...examples, ...image, '--instance-type', 'm5.large']);
  expect([code, err]).toEqual([0, expect.stringMatching(/^note: CPUs and memory .*\n$/)]);
  expect(out).not.toContain('note:');
});

test('an unreadable document is reported, and the others count', async () => {
  const { code, out, err } = await run(['-f', ...examples, '-', ...image], 'a: [');
  expect([code, out.startsWith('apiVersion')]).toEqual([1, true]);
  expect(err).toContain('INPUT_MALFORMED: standard input');
});

const refused: [words: string[], code: number, message: RegExp][] = [
  [
    ['-f', ...examples],
    1,
    /MACHINE_SET_UNCLEAR: a Linux MachineSet cannot tell the AMI .*\n {2}-> .*ec2 describe-images --region eu-central-1/,
  ],
  [
    ['-f', '-', ...image],
    1,
    /OBJECT_MISSING: Infrastructure cluster is not in the input\n {2}-> .*oc get infrastructure/,
  ],
  [['-f', ...examples, '--apply'], 2, /-f and --apply cannot be combined/],
  [['-f', ...examples, '--delete'], 2, /-f and --delete cannot be combined/],
  [['--apply', '--delete'], 2, /--apply and --delete cannot be combined/],
  [['--replicas', '-1'], 2, /--replicas is "-1", not a whole number from 0 to 1000/],
  [['--vcpu', '1e3'], 2, /--vcpu is "1e3", not a whole number/],
  [['--windows-version', '2016'], 2, /not 2019, 2022 or 2025/],
];
for (const [words, want, message] of refused) {
  test(`"${words.join(' ').replaceAll(`${repositoryRoot}/`, '')}" is refused`, async () => {
    const { code, out, err } = await run(words);
    expect([code, out]).toEqual([want, '']);
    expect(err).toMatch(message);
  });
}
