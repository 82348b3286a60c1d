import { expect, test } from 'vitest';
import { hnsNetwork, managedDescription } from '#contract/names.ts';
import { agentProgram, dir, file } from '#contract/paths.ts';
import { runIn, worldOf } from '../../../test/kit/agent-bench.ts';
import { ModelHost, overlayNetwork } from '../../../test/kit/model-host.ts';
import { recordedLog } from '../../../test/kit/recorded-log.ts';

const program = agentProgram('a'.repeat(64));
const run = (host: ModelHost, line: string) => runIn(worldOf(host, recordedLog(), { program }), line);
const json = async (host: ModelHost, verb: string) => JSON.parse((await run(host, `${verb} -o json`)).out) as unknown;

test('remove-networks prints the names that it removed', async () => {
  const host = new ModelHost();
  host.state.networks = [overlayNetwork()];
  expect(await run(host, 'remove-networks')).toEqual({ code: 0, out: `Removed: ${hnsNetwork.overlay}\n`, err: '' });
  expect((await run(host, 'remove-networks')).out).toBe('No networks of the operator were found.\n');
  expect(await json(host, 'remove-networks')).toEqual({ removed: [], left: [] });
});

test('remove-files prints a number, what is left, and what the operator removes', async () => {
  const host = new ModelHost();
  host.fileTexts.set(file.kubelet, 'x');
  host.before = call => {
    if (call === `remove ${file.kubelet}`) throw new Error('in use');
  };
  const { out } = await run(host, 'remove-files');
  expect(out).toBe(`Removed 0 files and folders.\nNot removed:\n  ${file.kubelet}: in use\n`);
  expect(await json(host, 'remove-files')).toEqual({
    removed: 0,
    left: [`${file.kubelet}: in use`],
    last: expect.arrayContaining([dir.agentNative, program, dir.agentPrograms]) as string[],
  });
});

test('lists at most fifty paths that are left', async () => {
  const host = new ModelHost();
  for (let number = 0; number < 60; number += 1) host.fileTexts.set(`${dir.cniState}\\${number}`, 'x');
  host.before = call => {
    if (call.startsWith(`remove ${dir.cniState}`)) throw new Error('in use');
  };
  const { left } = (await json(host, 'remove-files')) as { left: string[] };
  expect([left.length, left.at(-1)]).toEqual([51, 'and 10 more']);
});

test.each(['remove-networks', 'remove-files'])('%s fails before cleanup, with the remedy', async verb => {
  const host = new ModelHost();
  host.services.install('kubelet', { description: managedDescription('kubelet') });
  const { code, err } = await run(host, verb);
  expect(code).toBe(1);
  expect(err).toContain('error: CLEANUP_INCOMPLETE: the host still has service kubelet');
});
