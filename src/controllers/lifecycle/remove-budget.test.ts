import { expect, test } from 'vitest';
import type { Watch } from '#kube/controller/watches.ts';
import { nodes } from '#kube/resources.ts';
import type { Grants } from '#node/rollout/grants.ts';
import type { JoinLab } from '../../../test/kit/lifecycle/join-lab.ts';
import { annotate, joinedLab, removalRequest, untilGone } from '../../../test/kit/lifecycle/removal-lab.ts';
import { unlimitedGrants } from '../../../test/kit/unlimited-grants.ts';
import { until } from '../../../test/kit/until.ts';

const noWatch: Watch = { synced: Promise.resolve(), start: () => () => undefined, relist: () => [] };

/** A joined host, and a budget that the test frees. */
async function budgetLab(isFree: boolean) {
  const budget = { isFree, isHeld: false, ended: 0 };
  const grants: Grants = {
    ...unlimitedGrants,
    take: async () => {
      budget.isHeld ||= budget.isFree;
      return budget.isHeld ? { isGranted: true } : { isGranted: false, why: 'win-9 is being removed' };
    },
    end: async () => {
      budget.isHeld = false;
      budget.ended += 1;
    },
  };
  const joined = await joinedLab({ rollout: { grants, watchTurns: () => noWatch } });
  // The end of the join may be reported a moment after the host is Ready.
  await until(() => budget.ended > 0);
  budget.ended = 0;
  return { ...joined, budget };
}

async function reportReady(lab: JoinLab, status: 'True' | 'False'): Promise<void> {
  const body = { status: { conditions: [{ type: 'Ready', status }] } };
  await lab.client.patch(nodes, 'win-5', { type: 'merge', body }, { subresource: 'status' });
}

test('a host that does not answer gives the grant back, as its Node is still in service', async () => {
  const { lab, host, budget } = await budgetLab(true);
  host.stopAnswering();
  await annotate(lab, removalRequest);
  await lab.failed('HOST_UNREACHABLE');
  await until(() => !budget.isHeld);
  expect((await lab.node())?.spec?.unschedulable).toBeUndefined();
  host.faults = {};
  await untilGone(lab);
});

test('a Node that was cordoned keeps its grant when the removal fails', async () => {
  const { lab, host, budget } = await budgetLab(true);
  const denied = { exitCode: 1, stdout: '', stderr: 'Access is denied.' };
  host.faults.exec = command => (command.includes(' cleanup') ? denied : undefined);
  await annotate(lab, removalRequest);
  await until(() => host.verbs().filter(verb => verb === 'cleanup').length > 1);
  expect(budget.ended).toBe(0);
  host.faults = {};
  await untilGone(lab);
  expect(budget.ended).toBe(1);
});

test('a Node that is ready again before it is cordoned waits for the budget', async () => {
  const { lab, host, budget } = await budgetLab(false);
  await reportReady(lab, 'False');
  host.faults.exec = async () => {
    // The Node is deleted before the last commands.
    await reportReady(lab, 'True').catch(() => undefined);
    return undefined;
  };
  const before = host.connectionCount;
  await annotate(lab, removalRequest);
  await until(() => host.connectionCount > before);
  const isWaiting = ({ conditions = [] }: { conditions?: readonly { reason?: string }[] }) =>
    conditions.some(({ reason }) => reason === 'WaitsForBudget');
  await lab.statusWhen(isWaiting);
  expect(host.verbs()).not.toContain('cleanup');
  expect((await lab.node())?.spec?.unschedulable).toBeUndefined();
  budget.isFree = true;
  await untilGone(lab);
  expect(await lab.node()).toBeUndefined();
});
