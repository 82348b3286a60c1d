import { attempt } from '../../../src/base/errors.ts';
import type { WindowsInstance } from '../../../src/cluster/windows-instance-resource.ts';
import { findPinnedKey, forgetKey, knownKey } from '../../../src/node/host-keys/host-key-annotation.ts';
import { type HostKey, parseHostKey, trustHostKey } from '../../../src/host/host-key.ts';
import { printPublicKey } from '../../../src/host/keys/public-key.ts';
import type { Input, Operation } from '../row.ts';

export const ops: Record<string, Operation> = {
  connect: (input: Input) => {
    const found = attempt(() => pinnedKey(input));
    if (!found.ok) return { error: found.error, accepted: [], recordedKey: input.instance?.status?.hostKey ?? null };
    const { accepted, key } = offerAll(input, found.value);
    return { accepted, recordedKey: key === undefined ? null : printPublicKey(key) };
  },
  /** What happens to a key of an earlier operator once it is recorded. */
  migrate: (input: Input) => {
    const key = pinnedKey(input);
    return { recordedKey: key === undefined ? null : printPublicKey(key), ...remaining(input) };
  },
  remove: (input: Input) => remaining(input),
};

/** In order of precedence: spec, record, earlier operators. */
function pinnedKey(input: Input): HostKey | undefined {
  const { spec, status } = input.instance ?? {};
  const instance: WindowsInstance = { metadata: { name: 'row' }, spec: { address: input.address, ...spec }, status };
  const node = input.node ? { name: input.nodeName, annotations: input.node.annotations ?? {} } : undefined;
  return knownKey(instance) ?? findPinnedKey({ node, address: input.address, entries: input.configMap ?? {} });
}

/** One session with several attempts, each showing the next key. */
function offerAll(input: Input, pinned: HostKey | undefined): { accepted: boolean[]; key: HostKey | undefined } {
  let trusted = pinned;
  const accepted = (input.offeredKeys as string[]).map(line => {
    const trust = trustHostKey(trusted, parseHostKey(line.split(' ')[1] ?? ''), input.address);
    if (trust.accepted) trusted = trust.key;
    return trust.accepted;
  });
  return { accepted, key: trusted };
}

function remaining(input: Input): { configMapData: object } {
  const data = { ...input.configMap, ...forgetKey(input.address, input.configMap ?? {}) };
  return { configMapData: Object.fromEntries(Object.entries(data).filter(([, value]) => value !== null)) };
}
