import type { ErrorCode } from '#base/error-codes.ts';
import { type AppError, isAppError } from '#base/errors.ts';
import { nodeAnnotation } from '#contract/names.ts';
import { describeKey, type PublicKey, publicKeyHash } from '#host/keys/public-key.ts';
import { sealUsername } from '#host/keys/username-seal.ts';
import { askAgent } from '../agent-call.ts';
import { uploadAgent } from '../configure/agent-program.ts';
import { connect } from '../configure/connect.ts';
import { checkCluster, checkCommand } from '../configure/remedies.ts';
import { runSteps, type Step, type StepRun, type StepTurn } from '../step.ts';
import type { RekeyJourney } from './journey.ts';

/** The agent reads and writes one small file. */
const authorizeMs = 60_000;

/** Without the host: a Node names the key that the operator has for it, whether or not its host has learned that. */
const markKey: Step<RekeyJourney> = {
  name: 'mark key',
  description: 'writes the hash of the current key and the user name, encrypted with it, to the Node',
  usualMs: 15_000,
  limitMs: 2 * 60_000,
  remedy: checkCluster,
  async run(journey, { signal }) {
    const { joinedNode: node, username, deps } = journey;
    const { publicKey, pem } = await journey.current(signal);
    const { pubKeyHash, username: sealed } = nodeAnnotation;
    const hash = publicKeyHash(publicKey);
    if (node.annotations[pubKeyHash] === hash && (node.annotations[sealed] ?? '') !== '') return;
    await deps.nodes.annotate(
      node.name,
      { [pubKeyHash]: hash, [sealed]: sealUsername(username, pem.reveal()) },
      signal,
    );
  },
};

const connectWithKey: Step<RekeyJourney> = {
  ...connect,
  isDone: ({ isCurrent, former }) => isCurrent && former.length === 0,
};

const authorizeKey: Step<RekeyJourney> = {
  name: 'authorize key',
  description: 'by the setting --authorize-keys, adds the current key to the host, and then removes the former one',
  usualMs: 60_000,
  limitMs: 70 * 60_000,
  remedy: checkCommand,
  isDone: ({ deps, isCurrent, former }) => deps.inputs.authorizesKeys !== true || (isCurrent && former.length === 0),
  async run(journey, turn) {
    journey.agent = await journey.deps.payload.agent();
    await uploadAgent.run(journey, turn);
    if (!journey.isCurrent) {
      const current = await journey.current(turn.signal);
      const { publicKey } = current;
      await journey.deps.inputs.keepKey?.(current, turn.signal);
      await journey.expect(current);
      journey.problem = await problemOf(() => authorize(journey, { add: blobOf(publicKey) }, turn));
      if (journey.problem !== undefined) return;
      await journey.host.close();
      // Records which key the host accepts now, and that the former one has to go.
      await journey.host.connect(turn.signal);
    }
    if (journey.isCurrent) await removeFormerKeys(journey, turn);
  },
};

/** The host accepts the current key by now. A former one that cannot be removed is reported, once. */
async function removeFormerKeys(journey: RekeyJourney, turn: StepTurn): Promise<void> {
  const { former, keys, record } = journey;
  for (const hash of former) {
    const known = keys?.offered.find(({ publicKey }) => publicKeyHash(publicKey) === hash);
    if (known === undefined) {
      journey.deps.log.warn('A former key is not known any more, and stays authorized on the host', {
        address: journey.address,
        hash,
      });
      continue;
    }
    const { publicKey } = known;
    const problem = await problemOf(() => authorize(journey, { remove: blobOf(publicKey) }, turn));
    if (problem !== undefined) journey.leftovers.push({ key: describeKey(publicKey), problem });
  }
  const { former: _removed, ...key } = record.known.key ?? { hash: '' };
  await record.save({ key });
}

const checkKey: Step<RekeyJourney> = {
  name: 'check key',
  description: 'ends, or waits until the host accepts the current key; the former one is used meanwhile',
  usualMs: 15_000,
  limitMs: 2 * 60_000,
  remedy: checkCluster,
  async run(journey, { signal }) {
    if (journey.isCurrent) return journey.endWait();
    const current = await journey.current(signal);
    // The host may accept only this one soon, even if the administrator replaces it once more.
    await journey.deps.inputs.keepKey?.(current, signal);
    await journey.postpone(current);
  },
};

/**
 * All steps of `rekey`.
 * @public for docs
 */
export const rekeySteps: readonly Step<RekeyJourney>[] = [markKey, connectWithKey, authorizeKey, checkKey];

/** Has a host accept the current key of the operator, or waits for an administrator who adds it there. */
export async function rekey(journey: RekeyJourney, run: StepRun): Promise<void> {
  await journey.current(run.signal);
  await runSteps(rekeySteps, journey, run);
}

/** What the host says about its file of keys is no reason to try it again and again; a lost connection is. */
async function problemOf(act: () => Promise<void>): Promise<AppError | undefined> {
  try {
    await act();
    return undefined;
  } catch (error) {
    if (isAppError(error) && finalCodes.includes(error.code)) return error;
    throw error;
  }
}

const finalCodes: readonly ErrorCode[] = ['AUTHORIZED_KEY_LAST', 'AUTHORIZED_KEYS_UNUSABLE', 'COMMAND_WORD_INVALID'];

async function authorize(
  { host, address, commands }: RekeyJourney,
  change: { add?: string; remove?: string },
  { signal, note }: StepTurn,
): Promise<void> {
  const command = commands.authorizeKey(change);
  await askAgent({ host, address, command, signal, note, timeoutMs: authorizeMs });
}

function blobOf({ blob }: PublicKey): string {
  return blob.toBase64({ alphabet: 'base64url', omitPadding: true });
}
