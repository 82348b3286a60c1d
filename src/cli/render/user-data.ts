import { readFile } from 'node:fs/promises';
import { AppError } from '#base/errors.ts';
import { defaultNamespace, secretName } from '#contract/names.ts';
import { privateKeyFromSecret } from '#controllers/private-key/decide.ts';
import { parsePrivateKey } from '#host/keys/private-key.ts';
import { authorizedKey, checkStrength, parseAuthorizedKey, type PublicKey } from '#host/keys/public-key.ts';
import { attempt } from '#base/errors.ts';
import { userData, userDataSecret } from '#node/desired/user-data/user-data.ts';
import { type Command, type Options, textOption } from '../command.ts';
import { find, findSecretData, missing } from '../find.ts';
import type { Input } from '../input.ts';
import { asYaml } from '../output.ts';

export const renderUserData: Command = {
  name: 'user-data',
  summary: 'the script with which new Machines open themselves to the operator',
  example: 'wmco render user-data -f examples/cluster.yaml --public-key examples/id_ed25519.pub',
  reads: 'Infrastructure cluster, and Secret cloud-private-key unless --public-key is given',
  options: ['platform', 'publicKey', 'namespace'],
  async run(input, options) {
    const key = await publicKey(input, options);
    const platform = textOption(options, 'platform') ?? platformOf(input);
    const secret = userDataSecret(platform, authorizedKey(key));
    const text = userData(platform, authorizedKey(key));
    const weak = attempt(() => checkStrength(key));
    const files = { 'windows-user-data.yaml': asYaml(secret) };
    return { shown: { text, data: secret, files }, findings: weak.ok ? [] : [weak.error] };
  },
};

async function publicKey({ objects }: Input, options: Options): Promise<PublicKey> {
  const path = textOption(options, 'publicKey');
  if (path !== undefined) return parseAuthorizedKey(await readText(path));
  const namespace = textOption(options, 'namespace') ?? defaultNamespace;
  const data = findSecretData(objects, secretName.privateKey, namespace);
  return parsePrivateKey(privateKeyFromSecret(data, secretName.privateKey).reveal()).publicKey;
}

async function readText(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    throw new AppError('INPUT_UNREADABLE', `${path}: cannot be read`, {
      remedy: 'Give the path of a public key file.',
      cause: error,
    });
  }
}

function platformOf({ objects }: Input): string {
  const wanted = { kind: 'Infrastructure', name: 'cluster' };
  const infrastructure = find(objects, wanted);
  if (infrastructure === undefined) throw missing(wanted);
  return infrastructure.fields.object('status').object('platformStatus').requiredString('type');
}
