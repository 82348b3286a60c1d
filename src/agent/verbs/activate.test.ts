import { expect, test } from 'vitest';
import { parseActivation } from '#contract/activation.ts';
import { sha256 } from '#base/sha256.ts';
import { activationService } from '#contract/names.ts';
import { agentProgram } from '#contract/paths.ts';
import { runIn, worldOf } from '../../../test/kit/agent-bench.ts';
import { recordedLog } from '../../../test/kit/recorded-log.ts';
import { programs, SwapLab } from '../../../test/kit/swap-lab.ts';

const never = new AbortController().signal;

async function upgradable(agent = programs.v2) {
  const lab = await new SwapLab(agent).prepare();
  const world = worldOf(lab.host, recordedLog(), {
    program: agentProgram(sha256(agent)),
    asService: body => body({ signal: never, ready: () => undefined }),
  });
  const answer = async (line: string) => parseActivation((await runIn(world, `${line} -o json`)).out, 'win-1');
  return { lab, world, answer };
}

test('orders a swap, and shows how far it is in a form that the operator understands', async () => {
  const { lab, answer } = await upgradable();
  expect(await answer('activation')).toEqual({ state: 'idle', version: 'v1' });
  expect(await answer('activate --set next --desired-version v2')).toMatchObject({ state: 'running', version: 'v1' });
  await lab.settle();
  expect(await answer('activation')).toEqual({ state: 'done', version: 'v2' });
});

test('staging the next set forgets the outcome of an earlier swap, also when nothing is uploaded', async () => {
  const { lab, world, answer } = await upgradable(programs.broken);
  await lab.order();
  await lab.settle();
  expect(await answer('activation')).toMatchObject({ state: 'reverted' });
  const { next } = await lab.sets();
  const staged = await runIn(world, `stage --next --bundle C:\\k\\incoming\\x --sha256 ${next?.bundle}`);
  expect([staged.code, await answer('activation')]).toEqual([0, { state: 'idle', version: 'v1' }]);
});

test('as a service it ends when there is nothing to swap, and deletes itself', async () => {
  const { lab, world } = await upgradable();
  lab.host.services.install(activationService);
  expect(await runIn(world, 'activate --windows-service')).toMatchObject({ code: 0 });
  expect(lab.host.services.calls).toContain(`remove ${activationService}`);
});

test.each(['activate', 'activate --set next', 'activate --desired-version v2', 'activate --set other'])(
  'rejects %s',
  async line => {
    const { lab, world } = await upgradable();
    expect(await runIn(world, line)).toMatchObject({ code: 1, err: expect.stringContaining('--set') });
    expect(await lab.isSwapping()).toBe(false);
  },
);
