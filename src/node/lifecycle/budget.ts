import { byteOrder } from '#base/compare.ts';
import { AppError, shown } from '#base/errors.ts';
import type { NodeView } from '#contract/node.ts';
import { isUpgrading } from '#contract/node-marks.ts';

/** How many Windows nodes may be out of service at a time: so many, or so many in a hundred. */
export type MaxUnavailable = { nodes: number } | { percent: number };

/** A whole number from 1, or a percentage from 1% to 100%. Zero is refused: nothing could ever be upgraded. */
export function parseMaxUnavailable(value: number | string): MaxUnavailable {
  const [, digits = '', sign = ''] = /^\s*(\d{1,6})(%?)\s*$/.exec(String(value)) ?? [];
  const number = Number(digits);
  if (digits !== '' && number >= 1) {
    if (sign === '') return { nodes: number };
    if (number <= 100) return { percent: number };
  }
  throw new AppError('BUDGET_INVALID', `maxUnavailable is ${shown(value)}`, {
    remedy: 'Give a whole number from 1, or a percentage from 1% to 100%.',
  });
}

/** The number of nodes for a cluster with so many Windows nodes; a percentage is rounded up, so it is never zero. */
export function allowedUnavailable(max: MaxUnavailable, nodeCount: number): number {
  return 'nodes' in max ? max.nodes : Math.max(1, Math.ceil((max.percent * nodeCount) / 100));
}

export type BudgetNode = Pick<NodeView, 'name' | 'ready' | 'unschedulable' | 'labels'>;

export interface DisruptionRequest {
  /** The node that is to be upgraded, rebooted, given a new key or removed. */
  candidate: string;
  /** All Windows nodes. */
  nodes: readonly BudgetNode[];
  maxUnavailable: MaxUnavailable;
  /** Nodes that were granted a disruption which has not ended yet; their Nodes may not show it so far. */
  reserved: ReadonlySet<string>;
}

export type DisruptionAnswer = { allowed: true } | { allowed: false; wait: string };

/**
 * Upgrades, reboots, rotations and removals draw on one budget. A node that is out of service already costs nothing
 * more, so it may go on: after a failure it is thus the same node that is tried again, and no other joins it.
 */
export function mayDisrupt({ candidate, nodes, maxUnavailable, reserved }: DisruptionRequest): DisruptionAnswer {
  const unavailable = new Map(nodes.flatMap(node => outOfService(node)));
  for (const name of reserved) if (!unavailable.has(name)) unavailable.set(name, 'in progress');
  const max = allowedUnavailable(maxUnavailable, nodes.length);
  if (unavailable.has(candidate) || unavailable.size < max) return { allowed: true };
  return {
    allowed: false,
    wait:
      `Node ${candidate} has to wait. Current number of unavailable nodes is (${unavailable.size}). ` +
      `Max number is (${max}). Unavailable: ${list(unavailable)}`,
  };
}

function outOfService(node: BudgetNode): [name: string, why: string][] {
  if (isUpgrading(node)) return [[node.name, 'upgrading']];
  if (!node.ready) return [[node.name, 'not ready']];
  return node.unschedulable ? [[node.name, 'cordoned']] : [];
}

const maxListed = 10;

function list(unavailable: ReadonlyMap<string, string>): string {
  const names = [...unavailable]
    .sort(([one], [other]) => byteOrder(one, other))
    .map(([name, why]) => `${name} (${why})`);
  const rest = names.length - maxListed;
  return rest > 0 ? `${names.slice(0, maxListed).join(', ')} and ${rest} more` : names.join(', ');
}
