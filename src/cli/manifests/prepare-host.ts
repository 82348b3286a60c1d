import { commandHelp } from '#base/command-line.ts';
import { AppError, attempt } from '#base/errors.ts';
import { secretName } from '#contract/names.ts';
import { objectLabel, readObject } from '#contract/object.ts';
import { secretData } from '#contract/secret-data.ts';
import { parsePrivateKey } from '#host/keys/private-key.ts';
import { checkStrength, printPublicKey } from '#host/keys/public-key.ts';
import { secrets } from '#kube/resources.ts';
import { hostScript } from '#node/desired/user-data/host-script.ts';
import { privateKeyFromSecret } from '#node/inputs/private-key.ts';
import { apiRefused } from '../api-refused.ts';
import { prefixError, withErrorPrefix } from '../error-prefix.ts';
import { errorText } from '../output.ts';
import { readText } from '../read-text.ts';
import { oneLine, printable, safe } from '../safe-text.ts';
import { openClient } from '../status/connection.ts';
import type { ExitCode, LiveTerminal } from '../terminal.ts';
import { type GivenKey, readPublicKeyFile } from './public-key-file.ts';
import { prepareHostLine, type PrepareHostOptions, readPrepareHostOptions } from './prepare-host-options.ts';

interface FoundKey extends GivenKey {
  /** The file or Secret that contains it. */
  place: string;
}

/** Runs `wmco prepare-host`. */
export async function prepareHostProgram(words: readonly string[], terminal: LiveTerminal): Promise<ExitCode> {
  const options = readPrepareHostOptions(words, terminal.environment);
  if (options === undefined) {
    terminal.out(printable(commandHelp(prepareHostLine)));
    return 0;
  }
  const { key, comment, notes, place } = await findKey(options, terminal);
  const { capabilitySource } = options;
  const authorizedKey = [printPublicKey(key), comment].filter(part => part !== '').join(' ');
  const script = hostScript({ authorizedKey, capabilitySource });
  for (const note of notes) terminal.err(safe`note: ${oneLine(`${place}: ${note}`)}\n`);
  terminal.out(printable(script), 'data');
  const strength = attempt(() => checkStrength(key));
  if (strength.ok) return 0;
  terminal.err(safe`${errorText(prefixError(place, strength.error))}\n`);
  return 1;
}

async function findKey(options: PrepareHostOptions, terminal: LiveTerminal): Promise<FoundKey> {
  const { keyFile } = options;
  if (keyFile === undefined) return keyInCluster(options, terminal);
  const text = await readText(keyFile);
  return { ...withErrorPrefix(keyFile, () => readPublicKeyFile(text)), place: keyFile };
}

async function keyInCluster(options: PrepareHostOptions, terminal: LiveTerminal): Promise<FoundKey> {
  const { namespace } = options;
  const name = secretName.privateKey;
  const place = objectLabel('Secret', { name, namespace });
  const client = await openClient(options, terminal);
  try {
    const secret = await client.find(secrets, name, { namespace, signal: terminal.signal });
    if (secret === undefined) throw noSecret(place);
    const data = secretData(readObject({ apiVersion: 'v1', ...secret, kind: 'Secret' }));
    const pem = privateKeyFromSecret(data, place);
    return {
      key: withErrorPrefix(place, () => parsePrivateKey(pem.reveal()).publicKey),
      comment: 'windows-machine-config-operator',
      notes: [],
      place,
    };
  } catch (error) {
    throw apiRefused(error, { permission: `to read ${place}, or pass the public key with --key-file` });
  } finally {
    await client.close();
  }
}

function noSecret(place: string): AppError {
  return new AppError('PRIVATE_KEY_MISSING', `${place} does not exist`, {
    remedy: 'Create it as in docs/private-key.md, or pass the public key with --key-file.',
  });
}
