import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { ScriptedApi } from '../../../test/kit/scripted-api.ts';
import { sourceBench } from '../../../test/kit/source-bench.ts';
import { Informers } from '#kube/informer/informers.ts';
import { createRollout } from './rollout.ts';

test('informers that stop before anyone waits for the budget leave no unhandled rejection', async () => {
  const { parts } = sourceBench();
  const informers = new Informers({ client: new ScriptedApi(), clock: parts.clock });
  createRollout({ ...parts, informers });
  const unhandled: unknown[] = [];
  const note = (reason: unknown) => void unhandled.push(reason);
  process.on('unhandledRejection', note);
  await informers.stop();
  await nextTurn();
  process.off('unhandledRejection', note);
  expect(unhandled).toEqual([]);
});
