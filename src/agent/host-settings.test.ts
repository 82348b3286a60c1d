import { expect, test } from 'vitest';
import { file } from '#contract/paths.ts';
import { ModelHost } from '../../test/kit/model-host.ts';
import { rejectionOf } from '../../test/kit/outcome.ts';
import { type Certificate, printBundle, readImported } from './certificates/bundle.ts';
import { planEnvironment } from './environment/plan.ts';
import { applySettings, observeCertificates, observeEnvironment, ownedVariables, readBundle } from './host-settings.ts';
import { changeState, readState, stateFile } from './state.ts';

const der = (byte: number) => Uint8Array.of(0x30, 9, 0x30, 3, 0x02, 1, byte, 0x30, 0, 0x03, 0);
const text = (...bytes: number[]) => printBundle(bytes.map(byte => ({ der: der(byte), sha256: '' })));
const certificates = (...bytes: number[]): Certificate[] => readImported(text(...bytes));
const quiet = planEnvironment({ registry: {}, wanted: {}, watched: [], owned: [] });
const bootId = 'boot-1';

test('expects no certificates without a path, and needs the file with one', async () => {
  const host = new ModelHost();
  expect(await readBundle('', host.files)).toBeUndefined();
  const error = await rejectionOf(readBundle(file.caBundle, host.files));
  expect(error).toMatchObject({ code: 'INPUT_UNREADABLE', message: 'CA bundle C:\\k\\ca-bundle.crt does not exist' });
  expect(error?.remedy).toContain('operator');
});

test('reads an empty bundle as no certificate, which is not the same as no bundle', async () => {
  const host = new ModelHost();
  host.fileTexts.set(file.caBundle, '');
  expect(await readBundle(file.caBundle, host.files)).toEqual([]);
});

test('names the file of a damaged bundle', async () => {
  const host = new ModelHost();
  host.fileTexts.set(file.caBundle, '-----BEGIN CERTIFICATE-----\n');
  expect((await rejectionOf(readBundle(file.caBundle, host.files)))?.message).toContain(file.caBundle);
});

test('plans from the current registry', async () => {
  const host = new ModelHost();
  host.state.variables = { HTTP_PROXY: 'a' };
  const plan = await observeEnvironment({ wanted: {}, watched: ['HTTP_PROXY'], owned: undefined }, host.environment);
  expect(plan.removals).toEqual(['HTTP_PROXY']);
});

test('plans from the current store and record', async () => {
  const host = new ModelHost();
  host.addRoots(der(1), der(2));
  host.fileTexts.set(file.importedCerts, text(1));
  const plan = await observeCertificates(certificates(2, 3), host);
  expect(plan.add).toEqual(certificates(3));
  expect(plan.remove).toEqual(certificates(1).map(({ sha256 }) => sha256));
});

test('records before it changes anything, with the boot in which variables change', async () => {
  const host = new ModelHost();
  const plan = planEnvironment({ registry: {}, wanted: { A: '1' }, watched: [], owned: [] });
  host.before = call => {
    if (call === 'set A') throw new Error('killed');
  };
  await expect(applySettings(plan, undefined, bootId, host)).rejects.toThrow('killed');
  expect(await readState(host.files)).toMatchObject({
    variablesBoot: bootId,
    environment: [{ name: 'A', value: '1' }],
  });
});

test('keeps a variable on record until it has been reverted', async () => {
  const host = new ModelHost();
  host.state.variables = { A: '1' };
  const owned = [{ name: 'A', value: '1' }];
  const plan = planEnvironment({ registry: host.state.variables, wanted: {}, watched: [], owned });
  host.before = call => {
    if (call === 'unset A') throw new Error('killed');
  };
  await expect(applySettings(plan, undefined, bootId, host)).rejects.toThrow('killed');
  expect((await readState(host.files)).environment).toEqual(owned);
  host.before = () => undefined;
  await applySettings(plan, undefined, bootId, host);
  expect([host.state.variables, (await readState(host.files)).environment]).toEqual([{}, []]);
});

test('writes, restores and removes variables', async () => {
  const host = new ModelHost();
  host.state.variables = { A: '1', B: '2', C: '3' };
  const owned = [
    { name: 'A', value: '1' },
    { name: 'B', value: '2', previous: 'before' },
  ];
  const plan = planEnvironment({ registry: host.state.variables, wanted: { D: '4' }, watched: [], owned });
  await applySettings(plan, undefined, bootId, host);
  expect(host.state.variables).toEqual({ B: 'before', C: '3', D: '4' });
});

test('records certificates before it imports them', async () => {
  const host = new ModelHost();
  host.before = call => {
    if (call === 'add certificate') throw new Error('killed');
  };
  const plan = await observeCertificates(certificates(1), host);
  await expect(applySettings(quiet, plan, bootId, host)).rejects.toThrow('killed');
  host.before = () => undefined;
  expect(host.fileTexts.get(file.importedCerts)).toBe(text(1));
  await applySettings(quiet, await observeCertificates(undefined, host), bootId, host);
  expect([host.roots, host.fileTexts.has(file.importedCerts)]).toEqual([[], false]);
});

test('keeps a certificate on record until it has been removed', async () => {
  const host = new ModelHost();
  host.addRoots(der(1));
  host.fileTexts.set(file.importedCerts, text(1));
  host.before = call => {
    if (call === 'remove certificate') throw new Error('killed');
  };
  await expect(applySettings(quiet, await observeCertificates([], host), bootId, host)).rejects.toThrow('killed');
  expect(host.fileTexts.get(file.importedCerts)).toBe(text(1));
});

test('does not touch certificates when the bundle could not be read', async () => {
  const host = new ModelHost();
  host.fileTexts.set(file.importedCerts, text(1));
  await applySettings(quiet, undefined, bootId, host);
  expect(host.fileTexts.get(file.importedCerts)).toBe(text(1));
});

test('writes only the state without changes, and that once', async () => {
  const host = new ModelHost();
  for (const _ of [1, 2]) await applySettings(quiet, await observeCertificates([], host), bootId, host);
  expect(host.log).toEqual([`write ${stateFile}`]);
});

/** Takes back what is given from a host that has it. */
async function takeBack(host: ModelHost, variables: Record<string, string>, ...bytes: number[]): Promise<void> {
  Object.assign(host.state.variables, variables);
  host.addRoots(...bytes.map(der));
  host.fileTexts.set(file.importedCerts, text(...bytes));
  const owned = Object.entries(variables).map(([name, value]) => ({ name, value }));
  const plan = planEnvironment({ registry: host.state.variables, wanted: {}, watched: [], owned });
  await applySettings(plan, await observeCertificates(undefined, host), bootId, host);
}

test('remembers what it has reverted, from before it does so, and adds to it in the same boot', async () => {
  const host = new ModelHost();
  host.before = call => {
    if (call === 'unset A') throw new Error('killed');
  };
  const one = { bootId: 'boot-1', variables: [{ name: 'A', value: '1' }], certificates: [certificates(7)[0]?.sha256] };
  await expect(takeBack(host, { A: '1' }, 7)).rejects.toThrow('killed');
  expect((await readState(host.files)).takenBack).toEqual(one);
  host.before = () => undefined;
  host.state.certificates.clear();
  await takeBack(host, { a: '2', B: '3' }, 8);
  expect((await readState(host.files)).takenBack).toEqual({
    bootId: 'boot-1',
    variables: [
      { name: 'a', value: '2' },
      { name: 'B', value: '3' },
    ],
    certificates: certificates(7, 8).map(({ sha256 }) => sha256),
  });
});

test('does not add to what was reverted in another boot, and forgets that in the next boot', async () => {
  const host = new ModelHost();
  await changeState(host.files, { takenBack: { bootId: 'boot-0', variables: [], certificates: ['0a'] } });
  await takeBack(host, { A: '1' });
  await applySettings(quiet, undefined, bootId, host);
  expect((await readState(host.files)).takenBack).toMatchObject({ bootId: 'boot-1', certificates: [] });
  await applySettings(quiet, undefined, 'boot-2', host);
  expect((await readState(host.files)).takenBack).toBeUndefined();
});

test('owns variables that a power cut may have brought back', async () => {
  const host = new ModelHost();
  const [A, B, b] = [
    { name: 'A', value: '1' },
    { name: 'B', value: '2' },
    { name: 'b', value: 'newer' },
  ];
  await changeState(host.files, { takenBack: { bootId: 'boot-1', variables: [A, B], certificates: [] } });
  expect(ownedVariables(await readState(host.files), 'boot-2')).toBeUndefined();
  await changeState(host.files, { environment: [b] });
  const state = await readState(host.files);
  expect([ownedVariables(state, 'boot-1'), ownedVariables(state, 'boot-2')]).toEqual([[b], [b, A]]);
});

test('remembers the boot in which variables were changed until the next boot', async () => {
  const host = new ModelHost();
  const plan = planEnvironment({ registry: {}, wanted: { A: '1' }, watched: [], owned: [] });
  const boots: (string | undefined)[] = [];
  for (const [change, boot] of [
    [quiet, bootId],
    [plan, bootId],
    [quiet, bootId],
    [quiet, 'boot-2'],
  ] as const) {
    await applySettings(change, undefined, boot, host);
    boots.push((await readState(host.files)).variablesBoot);
  }
  expect(boots).toEqual([undefined, bootId, bootId, undefined]);
});
