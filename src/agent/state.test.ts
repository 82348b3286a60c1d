import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { ModelHost } from '../../test/kit/model-host.ts';
import {
  type AgentState,
  changeState,
  mayBeBack,
  recordChangedFiles,
  parseState,
  readState,
  stateFile,
} from './state.ts';

const none: AgentState = {
  environment: undefined,
  stoppedServices: [],
  swappedServices: [],
  serviceEnvironment: [],
  variablesBoot: undefined,
  lastBoot: undefined,
  takenBack: undefined,
  changedFiles: [],
  defenderExclusions: [],
};
const full: AgentState = {
  environment: [
    { name: 'HTTP_PROXY', value: 'a', previous: 'b', was: 'c' },
    { name: 'NO_PROXY', value: '' },
  ],
  stoppedServices: ['antivirus'],
  swappedServices: ['csi-proxy'],
  serviceEnvironment: [{ service: 'kubelet', variables: [{ name: 'HTTP_PROXY', value: 'a', was: 'c' }] }],
  variablesBoot: 'boot-1',
  lastBoot: 'boot-1',
  takenBack: { bootId: 'boot-1', variables: [{ name: 'HTTPS_PROXY', value: 'd' }], certificates: ['0a'] },
  changedFiles: ['C:\\k\\kubelet.conf'],
  defenderExclusions: [{ path: 'C:\\k\\containerd\\containerd.exe', done: true }],
};

const unreadable: [name: string, text: string][] = [
  ['nothing', ''],
  ['half a file', JSON.stringify(full).slice(0, 40)],
  ['no JSON', 'hello'],
  ['a list', '[]'],
  ['null', 'null'],
  ['an environment of another kind', '{"environment": "x"}'],
  ['a variable without a value', '{"environment": [{"name": "A"}]}'],
  ['a variable that is a text', '{"environment": ["A"]}'],
  ['services that are numbers', '{"stoppedServices": [1]}'],
  ['variables of no service', '{"serviceEnvironment": [{"variables": []}]}'],
  ['settings taken back in no boot', '{"takenBack": {"variables": [], "certificates": []}}'],
  ['changed files that are one text', '{"changedFiles": "C:\\\\k"}'],
  ['an exclusion without a path', '{"defenderExclusions": [{"done": true}]}'],
];
for (const [name, text] of unreadable)
  test(`treats ${name} as a missing record`, () => expect(parseState(text)).toEqual(none));

const readable: [name: string, text: string, want: Partial<AgentState>][] = [
  ['everything', JSON.stringify(full), full],
  ['an empty object', '{}', none],
  ['an empty environment, which is not an unknown one', '{"environment": []}', { environment: [] }],
  ['members of a later version', '{"later": 1, "stoppedServices": ["x"]}', { stoppedServices: ['x'] }],
];
for (const [name, text, want] of readable)
  test(`reads ${name}`, () => expect(parseState(text)).toEqual({ ...none, ...want }));

test('expects settings back only in another boot than the one in which they were reverted', () => {
  const nothing = { variables: [], certificates: [] };
  expect([mayBeBack(none, 'boot-1'), mayBeBack(full, 'boot-1')]).toEqual([nothing, nothing]);
  expect(mayBeBack(full, 'boot-2')).toMatchObject({ certificates: ['0a'], variables: [{ name: 'HTTPS_PROXY' }] });
});

test('has no record on a host without the file', async () => {
  expect(await readState(new ModelHost().files)).toEqual(none);
});

test('changes one member and keeps the others', async () => {
  const host = new ModelHost();
  await changeState(host.files, full);
  await changeState(host.files, { stoppedServices: [] });
  expect(await readState(host.files)).toEqual({ ...full, stoppedServices: [] });
});

test('restricts the record to administrators, because variables may hold passwords', async () => {
  const { files } = new ModelHost();
  await changeState(files, full);
  expect(files.accessOf(stateFile)).toBe('secret');
});

test('removes a field that is set to undefined', async () => {
  const host = new ModelHost();
  await changeState(host.files, full);
  await changeState(host.files, { variablesBoot: undefined, environment: undefined });
  expect(await readState(host.files)).toEqual({ ...full, variablesBoot: undefined, environment: undefined });
});

test('writes the file only when something changes', async () => {
  const host = new ModelHost();
  await changeState(host.files, full);
  await changeState(host.files, { stoppedServices: ['antivirus'] });
  await changeState(host.files, {});
  expect(host.log).toEqual([`write ${stateFile}`]);
});

test('records each changed file once', async () => {
  const host = new ModelHost();
  await recordChangedFiles(['a', 'b'], host.files);
  await recordChangedFiles(['b', 'c'], host.files);
  expect((await readState(host.files)).changedFiles).toEqual(['a', 'b', 'c']);
});

test('does not record the kubeconfig that the kubelet joined with', async () => {
  const host = new ModelHost();
  await recordChangedFiles(['C:\\K\\Bootstrap-Kubeconfig'], host.files);
  expect(host.log).toEqual([]);
});

test('lies in the folder that the operator removes with everything else', () => {
  expect(stateFile).toBe('C:\\k\\wicd-state.json');
});

test('reads what it has written', async () => {
  const text = fc.string();
  const variable = fc.record(
    { name: text, value: text, previous: text, was: text },
    { requiredKeys: ['name', 'value'] },
  );
  const state = fc.record({
    environment: fc.option(fc.array(variable), { nil: undefined }),
    stoppedServices: fc.array(text),
    swappedServices: fc.array(text),
    serviceEnvironment: fc.array(fc.record({ service: text, variables: fc.array(variable) })),
    variablesBoot: fc.option(text, { nil: undefined }),
    changedFiles: fc.array(text),
    defenderExclusions: fc.array(fc.record({ path: text, done: fc.boolean() })),
  });
  await fc.assert(
    fc.asyncProperty(state, async given => {
      const host = new ModelHost();
      await changeState(host.files, given);
      expect(await readState(host.files)).toEqual(given);
    }),
    { numRuns: 300 },
  );
});

test('reads any text without an error', () => {
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.json()), text => {
      expect(parseState(text)).toHaveProperty('stoppedServices');
    }),
    { numRuns: 2000 },
  );
});
