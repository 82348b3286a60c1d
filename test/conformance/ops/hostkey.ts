import { attempt } from '../../../src/base/errors.ts';
import {
  findPinnedKey,
  forgetKey,
  type HostKeyChanges,
  type HostKeyPlaces,
  moveKeyToNode,
  rememberKey,
} from '../../../src/controllers/host-keys/decide.ts';
import { type HostKey, parseHostKey, trustHostKey } from '../../../src/host/host-key.ts';
import type { Input, Operation } from '../row.ts';

export const ops: Record<string, Operation> = {
  connect: (input: Input) => {
    const found = attempt(() => findPinnedKey(places(input)));
    if (!found.ok) return { error: found.error, accepted: [], ...storage(input) };
    const { accepted, newKey } = offerAll(input, found.value);
    const stores = input.persist && input.namespace !== '' && newKey !== undefined;
    return { accepted, ...storage(input, stores ? rememberKey(places(input), newKey) : undefined) };
  },
  migrate: (input: Input) => storage(input, moveKeyToNode(places(input))),
  remove: (input: Input) => storage(input, forgetKey(input.address, input.configMap ?? {})),
};

function places(input: Input): HostKeyPlaces {
  const node = input.node ? { name: input.nodeName, annotations: input.node.annotations ?? {} } : undefined;
  return { node, address: input.address, entries: input.configMap ?? {} };
}

/** One session with several attempts, each showing the next key. */
function offerAll(input: Input, pinned: HostKey | undefined): { accepted: boolean[]; newKey: HostKey | undefined } {
  let trusted = pinned;
  const accepted = (input.offeredKeys as string[]).map(line => {
    const trust = trustHostKey(trusted, parseHostKey(line.split(' ')[1] ?? ''), input.address);
    if (trust.accepted) trusted = trust.key;
    return trust.accepted;
  });
  return { accepted, newKey: pinned === undefined ? trusted : undefined };
}

/** The stores after the changes; a ConfigMap that did not exist comes into being with its first entry. */
function storage(input: Input, changes: HostKeyChanges = { annotations: {}, entries: {} }): object {
  const data = Object.entries({ ...input.configMap, ...changes.entries }).filter(([, value]) => value !== null);
  return {
    nodeAnnotations: input.node ? { ...input.node.annotations, ...changes.annotations } : undefined,
    configMapData: input.configMap || data.length > 0 ? Object.fromEntries(data) : undefined,
  };
}
