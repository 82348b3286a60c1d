import { expect, test } from 'vitest';
import { FakeKoffi } from '../../../../test/kit/fake-koffi.ts';
import { MemoryRegistry } from '../../../../test/kit/memory-registry.ts';
import { createEnvironment, environmentKey, openAnnouncement } from './environment.ts';

function bench(values: Record<string, string | number> = {}) {
  const registry = new MemoryRegistry({ [environmentKey]: values });
  let announced = 0;
  const announce = async () => {
    announced += 1;
  };
  const environment = createEnvironment(registry, announce, { HTTP_PROXY: 'at-boot' });
  return { registry, environment, announced: () => announced };
}

test('keeps machine variables where Windows reads them at boot', () => {
  expect(environmentKey).toBe('SYSTEM\\CurrentControlSet\\Control\\Session Manager\\Environment');
});

test('gives all machine variables with text values, not expanded', async () => {
  const { environment } = bench({ Path: '%SystemRoot%\\system32', NUMBER: 2, HTTP_PROXY: 'http://p:1' });
  expect(await environment.machine()).toEqual({ Path: '%SystemRoot%\\system32', HTTP_PROXY: 'http://p:1' });
});

test('reports the variables the process was started with, not those of the machine', () => {
  expect(bench({ HTTP_PROXY: 'new' }).environment.process()).toEqual({ HTTP_PROXY: 'at-boot' });
});

test('sets a variable and announces it to open programs', async () => {
  const { environment, registry, announced } = bench({ Path: 'x' });
  await environment.setMachine('NO_PROXY', '.cluster.local,10.0.0.0/8');
  expect(registry.keys[environmentKey]).toEqual({ Path: 'x', NO_PROXY: '.cluster.local,10.0.0.0/8' });
  expect(announced()).toBe(1);
});

test('sets a variable to an empty value', async () => {
  const { environment, registry } = bench();
  await environment.setMachine('NO_PROXY', '');
  expect(registry.keys[environmentKey]).toEqual({ NO_PROXY: '' });
});

test('removes a variable and announces it; ignores a missing one', async () => {
  const { environment, registry, announced } = bench({ Path: 'x', NO_PROXY: 'y' });
  await environment.removeMachine('NO_PROXY');
  await environment.removeMachine('NO_PROXY');
  expect(registry.keys[environmentKey]).toEqual({ Path: 'x' });
  expect(announced()).toBe(2);
});

test.each(['', 'A=B', '=C:', 'A\0B'])('rejects %j as the name of a variable', async name => {
  const { environment, registry, announced } = bench({ Path: 'x' });
  const refusal = { code: 'FIELD_INVALID', message: expect.stringContaining(JSON.stringify(name)) as string };
  await expect(environment.setMachine(name, 'v')).rejects.toMatchObject(refusal);
  await expect(environment.removeMachine(name)).rejects.toMatchObject(refusal);
  expect(registry.keys[environmentKey]).toEqual({ Path: 'x' });
  expect(announced()).toBe(0);
});

test('rejects a value that Windows would truncate, without showing it', async () => {
  const { environment, registry } = bench();
  await expect(environment.setMachine('HTTP_PROXY', 'pass\0word')).rejects.toMatchObject({
    code: 'FIELD_INVALID',
    message: 'the value of variable "HTTP_PROXY" contains a NUL character',
    remedy: expect.stringMatching(/./) as string,
  });
  expect(registry.keys[environmentKey]).toEqual({});
});

test('announces a change to every window, without waiting long for any', async () => {
  const said: unknown[][] = [];
  const koffi = new FakeKoffi({ SendMessageTimeoutW: (...args: unknown[]) => said.push(args) });
  await openAnnouncement(koffi)();
  expect(said).toEqual([[0xffff, 0x1a, 0, 'Environment', 2, 1000, [0]]]);
});

test('ignores a failed announcement', async () => {
  const koffi = new FakeKoffi({ SendMessageTimeoutW: () => 0 });
  await expect(openAnnouncement(koffi)()).resolves.toBeUndefined();
});
