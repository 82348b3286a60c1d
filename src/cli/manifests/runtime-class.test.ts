import { expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { recordedTerminal } from '../../../test/kit/status-views.ts';
import { main } from '../main.ts';
import { runtimeClassProgram } from './runtime-class.ts';

async function run(...words: string[]): Promise<{ code: number; out: string; err: string }> {
  const recorded = recordedTerminal();
  const program = {
    name: 'runtimeclass',
    summary: '',
    run: (rest: readonly string[]) => runtimeClassProgram(rest, recorded),
  };
  const terminal = { ...recorded, stdin: () => Promise.resolve(''), runtime: '' };
  const code = await main(['runtimeclass', ...words], terminal, [program]);
  return { code, out: recorded.text(), err: recorded.errors() };
}
const builds = (yaml: string) =>
  parseAllDocuments(yaml).map(document => {
    const { metadata, scheduling } = document.toJS() as {
      metadata: { name: string };
      scheduling: { nodeSelector: Record<string, string> };
    };
    return [metadata.name, scheduling.nodeSelector['node.kubernetes.io/windows-build']];
  });

const [old, middle, latest] = [
  ['windows2019', '10.0.17763'],
  ['windows2022', '10.0.20348'],
  ['windows2025', '10.0.26100'],
];
const selections: [words: string[], want: (string[] | undefined)[]][] = [
  [[], [old, middle, latest]],
  [['--release', '2022'], [middle]],
  [
    ['--release', '2025', '2019'],
    [old, latest],
  ],
  [['--build', '10.0.20348'], [middle]],
  [['--build', '26100'], [latest]],
  [['--build', '10.0.20348.2700', '--release', '2022'], [middle]],
];
for (const [words, want] of selections) {
  test(`"${words.join(' ')}" prints ${want.map(each => each?.[0]).join(', ')}`, async () => {
    const { code, out } = await run(...words);
    expect([code, builds(out)]).toEqual([0, want]);
  });
}

test('a class has the runtime of the hosts, and what its pods need to be scheduled there', async () => {
  const { out } = await run('--release', '2022', '-o', 'json');
  expect(JSON.parse(out)).toEqual({
    apiVersion: 'node.k8s.io/v1',
    kind: 'RuntimeClass',
    metadata: { name: 'windows2022' },
    handler: 'runhcs-wcow-process',
    scheduling: {
      nodeSelector: {
        'kubernetes.io/os': 'windows',
        'kubernetes.io/arch': 'amd64',
        'node.kubernetes.io/windows-build': '10.0.20348',
      },
      tolerations: [{ key: 'os', operator: 'Equal', value: 'Windows', effect: 'NoSchedule' }],
    },
  });
});

test('several classes are one list in JSON', async () => {
  const { out } = await run('-o', 'json');
  expect(JSON.parse(out)).toMatchObject({ kind: 'List', items: [{}, {}, {}] });
});

const refused: [words: string[], message: RegExp][] = [
  [['--release', '2016'], /--release is "2016", not 2019, 2022 or 2025/],
  [['--build', '25398'], /--build is "25398", not a build that hosts can run: 10\.0\.17763 \(2019\), 10\.0\.20348/],
  [['--build', '20348; rm'], /not a build/],
  [['--apply', '--kubeconfig', '/nowhere'], /kubeconfig \/nowhere cannot be read/],
];
for (const [words, message] of refused) {
  test(`"${words.join(' ')}" is refused`, async () => {
    const { code, err, out } = await run(...words);
    expect([code > 0, out]).toEqual([true, '']);
    expect(err).toMatch(message);
    expect(err).toMatch(/\n {2}-> /);
  });
}
