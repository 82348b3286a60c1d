import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { ModelHost } from '../../../test/kit/model-host.ts';
import { cachedScripts, scriptCacheFile } from './cached-scripts.ts';

const never = new AbortController().signal;

function scriptsOf(host: ModelHost, version = 'v1') {
  return cachedScripts(host.scripts, {
    files: host.files,
    version,
    bootId: () => host.system.bootId(),
  });
}

function hostWith(outputs: Record<string, string>): ModelHost {
  const host = new ModelHost();
  host.scriptOutputs = outputs;
  return host;
}

const runs = (host: ModelHost) => host.log.filter(call => call.startsWith('run '));
const ip = { 'ip.ps1': '10.0.0.5\r\n' };

test('runs a script once and gives its output for every request', async () => {
  const host = hostWith(ip);
  for (const _ of [1, 2, 3]) expect(await scriptsOf(host).run('ip.ps1', never, 'one line')).toBe('10.0.0.5\r\n');
  expect(runs(host)).toEqual(['run ip.ps1']);
});

test('runs a script without output once', async () => {
  const host = hostWith({ 'exclude.ps1': '' });
  for (const _ of [1, 2]) expect(await scriptsOf(host).run('exclude.ps1', never)).toBe('');
  expect(runs(host)).toHaveLength(1);
});

const inputs: [string, (host: ModelHost) => Promise<unknown>][] = [
  ['the text', host => scriptsOf(host).run('ip.ps1 -v', never)],
  ['the version', host => scriptsOf(host, 'v2').run('ip.ps1', never)],
  ['the boot', host => host.reboot().then(() => scriptsOf(host).run('ip.ps1', never))],
];
for (const [name, act] of inputs) {
  test(`runs again when ${name} has changed`, async () => {
    const host = hostWith({ ...ip, 'ip.ps1 -v': 'other' });
    await scriptsOf(host).run('ip.ps1', never);
    await act(host);
    expect(runs(host)).toHaveLength(2);
  });
}

test('does not go back to what an earlier version or boot has found', async () => {
  const host = hostWith(ip);
  for (const version of ['v1', 'v2', 'v1']) await scriptsOf(host, version).run('ip.ps1', never);
  expect(runs(host)).toHaveLength(3);
});

test('runs a script again that failed', async () => {
  const host = hostWith({});
  await expect(scriptsOf(host).run('ip.ps1', never)).rejects.toThrow('script failed');
  host.scriptOutputs = ip;
  expect(await scriptsOf(host).run('ip.ps1', never)).toBe('10.0.0.5\r\n');
});

const notOneLine: [string, string][] = [
  ['nothing', ''],
  ['blanks', ' \r\n'],
  ['two lines', '10.0.0.5\r\n10.0.0.6\r\n'],
];
for (const [name, output] of notOneLine) {
  test(`runs a script again that gave ${name} instead of one line`, async () => {
    const host = hostWith({ 'ip.ps1': output });
    for (const _ of [1, 2]) expect(await scriptsOf(host).run('ip.ps1', never, 'one line')).toBe(output);
    expect(runs(host)).toHaveLength(2);
  });
}

test('does not keep an endless output', async () => {
  const host = hostWith({ long: 'x'.repeat(20_000) });
  await scriptsOf(host).run('long', never);
  expect(host.fileTexts.has(scriptCacheFile)).toBe(false);
});

test('keeps outputs beside each other, but not without end', async () => {
  const texts = Array.from({ length: 101 }, (_, number) => `script ${number}`);
  const host = hostWith(Object.fromEntries(texts.map(text => [text, 'done'])));
  for (const text of [...texts, 'script 100', 'script 1']) await scriptsOf(host).run(text, never);
  expect(runs(host)).toHaveLength(101);
  await scriptsOf(host).run('script 0', never);
  expect(runs(host)).toHaveLength(102);
});

const unreadable = ['', 'no JSON', '[]', '{}', '{"bootId":"boot-1","version":"v1","outputs":[]}', 'null'];
test.each(unreadable)('ignores the cache %j', async text => {
  const host = hostWith(ip);
  host.fileTexts.set(scriptCacheFile, text);
  await scriptsOf(host).run('ip.ps1', never);
  expect(runs(host)).toHaveLength(1);
});

test('gives out no output that is no text', async () => {
  const host = hostWith(ip);
  await scriptsOf(host).run('ip.ps1', never);
  const spoilt = (host.fileTexts.get(scriptCacheFile) ?? '').replace(/"10\.0\.0\.5\\r\\n"/, '5');
  host.fileTexts.set(scriptCacheFile, spoilt);
  expect(await scriptsOf(host).run('ip.ps1', never)).toBe('10.0.0.5\r\n');
});

test('any text and output is found again', async () => {
  await fc.assert(
    fc.asyncProperty(fc.string(), fc.string(), async (text, output) => {
      const host = hostWith({ [text]: output });
      for (const _ of [1, 2]) expect(await scriptsOf(host).run(text, never)).toBe(output);
      expect(runs(host)).toHaveLength(1);
    }),
    { numRuns: 200 },
  );
});
