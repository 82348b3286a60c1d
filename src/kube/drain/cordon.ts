import type { CallOptions, Client } from '../client.ts';
import { changeObject } from '../patch/patch-helper.ts';
import { nodes } from '../resources.ts';

/** Kubelets write to their Nodes all the time, so the one that sees a conflict is often we. */
const attempts = 10;

/** Keeps new pods away from a Node. Tells whether somebody had done so before: then it is not ours to undo. */
export async function cordon(
  client: Pick<Client, 'get' | 'patch'>,
  node: string,
  options: CallOptions = {},
): Promise<{ already: boolean }> {
  const { before } = await setUnschedulable(client, node, true, options);
  return { already: before.spec?.unschedulable === true };
}

/** Lets new pods come again. Tells whether they could before. */
export async function uncordon(
  client: Pick<Client, 'get' | 'patch'>,
  node: string,
  options: CallOptions = {},
): Promise<{ already: boolean }> {
  const { before } = await setUnschedulable(client, node, false, options);
  return { already: before.spec?.unschedulable !== true };
}

function setUnschedulable(
  client: Pick<Client, 'get' | 'patch'>,
  node: string,
  isWanted: boolean,
  options: CallOptions,
) {
  return changeObject(
    client,
    nodes,
    {
      key: { namespace: '', name: node },
      change: current => {
        const { unschedulable = false, ...spec } = current.spec ?? {};
        if (unschedulable === isWanted) return current;
        return { ...current, spec: isWanted ? { ...spec, unschedulable: true } : spec };
      },
    },
    { ...options, attempts },
  );
}
