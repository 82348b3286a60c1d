import { attempt } from '#base/errors.ts';
import { OpenshiftObjects } from '#cluster/openshift-objects.ts';
import { defaultNamespace, secretName } from '#contract/names.ts';
import { privateKeyFromSecret } from '#node/inputs/private-key.ts';
import { parsePrivateKey } from '#host/keys/private-key.ts';
import { authorizedKey, checkStrength, parseAuthorizedKey, type PublicKey } from '#host/keys/public-key.ts';
import { userData, userDataSecret } from '#node/desired/user-data/user-data.ts';
import { type Command, type Options, textOption } from '../command.ts';
import { findSecret } from '../find.ts';
import type { Input } from '../input.ts';
import { yamlText } from '../safe-text.ts';
import { prefixError, withErrorPrefix } from '../error-prefix.ts';
import { readText } from '../read-text.ts';

export const renderUserData: Command = {
  name: 'user-data',
  summary: 'print the script that gives the operator SSH access to new Machines',
  example: 'wmco render user-data -f examples/cluster.yaml --public-key examples/id_ed25519.pub',
  reads: 'Infrastructure cluster, and Secret cloud-private-key unless --public-key is given',
  options: ['platform', 'publicKey', 'namespace'],
  needsNoInput: options => options['platform'] !== undefined && options['publicKey'] !== undefined,
  async run(input, options) {
    const { key, place } = await publicKey(input, options);
    const platform = textOption(options, 'platform') ?? new OpenshiftObjects(input.objects).platform();
    const secret = userDataSecret(platform, authorizedKey(key));
    const text = userData(platform, authorizedKey(key));
    const weak = attempt(() => checkStrength(key));
    const files = { 'windows-user-data.yaml': yamlText(secret) };
    return { output: { text, data: secret, files }, findings: weak.ok ? [] : [prefixError(place, weak.error)] };
  },
};

interface FoundKey {
  key: PublicKey;
  /** The file or Secret that contains it. */
  place: string;
}

async function publicKey({ objects }: Input, options: Options): Promise<FoundKey> {
  const path = textOption(options, 'publicKey');
  if (path !== undefined) {
    const line = await readText(path);
    return { key: withErrorPrefix(path, () => parseAuthorizedKey(line)), place: path };
  }
  const namespace = textOption(options, 'namespace') ?? defaultNamespace;
  const { data, label } = findSecret(objects, secretName.privateKey, namespace);
  const pem = privateKeyFromSecret(data, label);
  return { key: withErrorPrefix(label, () => parsePrivateKey(pem.reveal()).publicKey), place: label };
}
