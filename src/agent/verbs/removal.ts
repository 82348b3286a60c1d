import { removeFiles as removeOwnFiles } from '../removal/remove-files.ts';
import { removeNetworks as removeOwnNetworks } from '../removal/remove-networks.ts';
import type { Verb } from './verb.ts';

export const removeNetworks: Verb = {
  name: 'remove-networks',
  summary: 'remove the container networks and CNI state of the operator; run cleanup first',
  required: [],
  optional: [],
  changesHost: true,
  async run(_values, deps) {
    const outcome = await removeOwnNetworks(deps.host(), deps.signal);
    const { removed, left } = outcome;
    const text = removed.length === 0 ? 'No networks of the operator were found.' : `Removed: ${removed.join(', ')}`;
    return { text: [text, ...leftLines(left)].join('\n'), data: { removed, left: bounded(left) } };
  },
};

export const removeFiles: Verb = {
  name: 'remove-files',
  summary: 'remove the files and folders of the operator, and nothing else; run cleanup first',
  required: [],
  optional: [],
  changesHost: true,
  async run(_values, deps) {
    const { removed, left, last } = await removeOwnFiles(deps.program, deps.host(), deps.signal);
    const text = [`Removed ${removed} files and folders.`, ...leftLines(left)].join('\n');
    return { text, data: { removed, left: bounded(left), last } };
  },
};

const maxLeft = 50;

/** The operator shows the list in an event and in the status. */
function bounded(left: readonly string[]): string[] {
  const more = left.length > maxLeft ? [`and ${left.length - maxLeft} more`] : [];
  return [...left.slice(0, maxLeft), ...more];
}

function leftLines(left: readonly string[]): string[] {
  return left.length === 0 ? [] : ['Not removed:', ...bounded(left).map(line => `  ${line}`)];
}
