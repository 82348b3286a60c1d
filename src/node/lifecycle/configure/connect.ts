import { sameData } from '#base/compare.ts';
import { AppError } from '#base/errors.ts';
import { ports } from '#contract/names.ts';
import type { InstanceKey } from '#contract/windows-instance/resource.ts';
import type { HostConnection, HostTarget } from '#host/host.ts';
import { HostKeyChangedError } from '#host/host-key.ts';
import type { PrivateKey } from '#host/keys/private-key.ts';
import { describeKey, fingerprint, printPublicKey, type PublicKey, publicKeyHash } from '#host/keys/public-key.ts';
import { ipv4Of } from '#host/resolver.ts';
import type { HostJourney } from '../host-journey.ts';
import { keyAccepted } from '../instance-status.ts';
import type { Step } from '../step.ts';
import type { ConfigureJourney } from './journey.ts';
import { checkCluster, checkConnection } from './remedies.ts';

export const connect: Step<HostJourney> = {
  name: 'connect',
  description: 'resolves the name, connects by SSH with the operator’s key, checks the host key or pins the first one',
  usualMs: 30_000,
  limitMs: 90_000,
  remedy: checkConnection,
  run: async (journey, { signal }) => void (await journey.host.connect(signal)),
};

export const acquireSlot = slotStep(
  'queued',
  'waits for a free slot when the maximum number of hosts is being configured',
);

export const acquireSlotAgain = slotStep(
  'queued after reboot',
  'waits for a free slot again, because a host that reboots holds none',
);

function slotStep(name: string, description: string): Step<ConfigureJourney> {
  return {
    name,
    description,
    limitMs: 2 * 3_600_000,
    remedy: checkCluster,
    isDone: ({ slot }) => slot !== undefined,
    async run(journey, { signal, note }) {
      const { joins } = journey.deps.slots;
      note(`${joins.taken} hosts are being configured, ${joins.waiting} are ahead in the queue`);
      journey.slot = await joins.take(signal);
    },
  };
}

/** Connects to the host and records its host key before the connection is used. */
export async function openHost(journey: HostJourney, signal: AbortSignal): Promise<HostConnection> {
  const { instance, deps, address, username } = journey;
  const { port } = instance.spec;
  journey.ipv4 ??= await resolve(journey);
  const privateKeys = await deps.inputs.loadKeys(instance, signal);
  const current = deps.inputs.keyProblem?.(instance) === undefined ? privateKeys[0] : undefined;
  // The key seen on this journey stays, even if the stored one changes.
  const pinnedKey = journey.hostKey ?? (await deps.hostKeys.find(instance, journey.node, signal));
  const target = targetAt(journey.ipv4, port, { address, username, privateKeys, pinnedKey });
  const connection = await deps.connect(target, { signal }).catch((error: unknown) => {
    throw error instanceof HostKeyChangedError ? withRemedy(error, journey) : error;
  });
  try {
    const { hostKey, acceptedKey } = connection.facts;
    const accepted = privateKeys.find(({ publicKey }) => publicKeyHash(publicKey) === publicKeyHash(acceptedKey));
    // Before it is recorded, so that no record names a key that is lost.
    if (accepted !== undefined) await deps.inputs.keepKey?.(accepted, signal);
    const text = printPublicKey(hostKey);
    const key = acceptedKeyRecord(acceptedKey, current, journey);
    if (journey.record.known.hostKey !== text || !sameData(journey.record.known.key, key))
      // The host may have learned the key since, and another journey is the first to see that.
      await journey.record.save({ hostKey: text, key }, key.pending === undefined ? keyAccepted(instance) : []);
    journey.hostKey = hostKey;
    journey.keys = { accepted: acceptedKey, offered: privateKeys, current };
    journey.record.ipv4 = journey.ipv4;
    return connection;
  } catch (error) {
    await connection.close();
    throw error;
  }
}

/** A host that accepts the current key waits for none. */
function acceptedKeyRecord(
  accepted: PublicKey,
  current: PrivateKey | undefined,
  { record, deps }: HostJourney,
): InstanceKey {
  const { key: known } = record.known;
  const hash = publicKeyHash(accepted);
  const isCurrent = current !== undefined && publicKeyHash(current.publicKey) === hash;
  const isReplaced = isCurrent && known !== undefined && deps.inputs.authorizesKeys === true;
  const all = [...(known?.former ?? []), ...(isReplaced ? [known.hash] : [])];
  const former = [...new Set(all)].filter(each => each !== hash).slice(-maxFormer);
  return {
    hash,
    fingerprint: describeKey(accepted),
    ...(former.length > 0 && { former }),
    ...(!isCurrent && known?.pending && { pending: known.pending }),
  };
}

/** More rotations are not made before a host could be reached once. */
const maxFormer = 3;

/** Dials the recorded address, even if the name resolves to another one later. */
export function targetAt(
  ipv4: string,
  port: number | undefined,
  host: Omit<HostTarget, 'port' | 'dialAt'>,
): HostTarget {
  return {
    ...host,
    ...(port !== undefined && { port }),
    ...(ipv4 !== host.address && { dialAt: { address: ipv4, port: port ?? ports.ssh } }),
  };
}

/** The SSH client does not know the instance, which the remedy needs. */
function withRemedy(error: HostKeyChangedError, { instance }: HostJourney): AppError {
  const { name, namespace } = instance.metadata;
  const spec = JSON.stringify({ spec: { hostKey: printPublicKey(error.offered) } });
  return new AppError(error.code, error.message, {
    remedy:
      `If the host was reinstalled, compare ${fingerprint(error.offered)} with the output of \`ssh-keygen -lf ${keyFile(error.offered)}\` on its console, then run ` +
      `\`kubectl patch windowsinstance ${name} -n ${namespace} --type merge -p '${spec}'\`; otherwise find out which host answers at its address.`,
    cause: error,
  });
}

/** Where sshd on Windows keeps a host key of this type. */
function keyFile({ type }: PublicKey): string {
  const name = type === 'ssh-rsa' ? 'rsa' : type === 'ssh-ed25519' ? 'ed25519' : 'ecdsa';
  return `C:\\ProgramData\\ssh\\ssh_host_${name}_key.pub`;
}

async function resolve({ deps, address }: HostJourney): Promise<string> {
  const found = await ipv4Of(address, deps.resolver);
  if (found !== undefined) return found;
  throw new AppError('INSTANCE_ADDRESS_UNRESOLVED', `${address}: the name has no IPv4 address`, {
    remedy: 'Correct the name, or add a DNS record that the cluster can resolve.',
  });
}
