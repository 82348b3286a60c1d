import { expect, test } from 'vitest';
import { windowsInstances } from '#cluster/windows-instance-resource.ts';
import type { Watch } from '#kube/controller/watches.ts';
import { type Pod, pods } from '#kube/resources.ts';
import type { Grants } from '#node/rollout/grants.ts';
import { type JoinLab, namespace } from '../../../test/kit/lifecycle/join-lab.ts';
import {
  annotate,
  joinedLab,
  refusingEvictions,
  removalRequest,
  untilGone,
} from '../../../test/kit/lifecycle/removal-lab.ts';
import { newerParts, untilInService, upgraded, upgradeLab } from '../../../test/kit/lifecycle/upgrade-lab.ts';
import { unlimitedGrants } from '../../../test/kit/unlimited-grants.ts';
import { until } from '../../../test/kit/until.ts';

const noWatch: Watch = { synced: Promise.resolve(), start: () => () => undefined, relist: () => [] };

/** Parts of an operator whose evictions are refused while `drain.isBlocked`. */
async function blockedDrain(lab: JoinLab) {
  const drain = { isBlocked: true, ended: 0 };
  const grants: Grants = { ...unlimitedGrants, end: async () => void (drain.ended += 1) };
  await lab.client.create<Pod>(pods, {
    metadata: { name: 'web', namespace },
    spec: { nodeName: 'win-5', terminationGracePeriodSeconds: 0, containers: [{ name: 'web', image: 'web' }] },
  });
  const client = refusingEvictions(lab.client, () => drain.isBlocked);
  return { drain, parts: { rollout: { grants, watchTurns: () => noWatch }, client } };
}

async function pause(lab: JoinLab, paused: boolean): Promise<void> {
  await lab.client.patch(windowsInstances, 'win-5', { type: 'merge', body: { spec: { paused } } }, { namespace });
}

async function untilDrained(lab: JoinLab): Promise<void> {
  await lab.statusWhen(({ step }) => step === 'drain');
  await until(async () => (await lab.node())?.spec?.unschedulable === true);
}

test('an upgrade that is paused during its drain puts its node back into service, and goes on when it is resumed', async () => {
  const { lab, host } = await upgradeLab();
  const { drain, parts } = await blockedDrain(lab);
  lab.start({ ...newerParts, ...parts });
  await untilDrained(lab);
  await pause(lab, true);
  await lab.statusWhen(({ phase }) => phase === 'Paused');
  await untilInService(lab);
  await until(() => drain.ended > 0);
  expect(host.verbs()).not.toContain('activate');
  drain.isBlocked = false;
  await pause(lab, false);
  await upgraded(lab);
});

test('a grant whose end failed, when the Node of a paused host was in service again, is ended by the next attempt', async () => {
  const { lab } = await upgradeLab();
  const { drain, parts } = await blockedDrain(lab);
  const failingOnce: Grants = {
    ...unlimitedGrants,
    end: async () => {
      drain.ended += 1;
      await untilInService(lab);
      if (drain.ended === 1) throw new Error('the API server does not answer');
    },
  };
  lab.start({ ...newerParts, ...parts, rollout: { ...parts.rollout, grants: failingOnce } });
  await untilDrained(lab);
  drain.ended = 0;
  await pause(lab, true);
  await until(() => drain.ended > 1);
});

test('a removal that is paused during its drain puts its node back into service, and goes on when it is resumed', async () => {
  const { lab, operator, host } = await joinedLab();
  await operator.stop();
  const { drain, parts } = await blockedDrain(lab);
  lab.start(parts);
  await annotate(lab, removalRequest);
  await untilDrained(lab);
  await pause(lab, true);
  await lab.statusWhen(({ phase }) => phase === 'Paused');
  await untilInService(lab);
  await until(() => drain.ended > 0);
  expect(host.verbs()).not.toContain('cleanup');
  drain.isBlocked = false;
  await pause(lab, false);
  await untilGone(lab);
});
